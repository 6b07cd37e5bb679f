use std::env;
use std::path::PathBuf;

use cuda_builder::CudaBuilder;

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    CudaBuilder::new("../kernels").copy_to(out.join("kernels.ptx")).build().unwrap_or_else(|error| panic!("{error}"));
}

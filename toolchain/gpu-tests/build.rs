use warpsmith_build::Builder;

fn main() {
    // With this the tests' `module!` has the compiled kernels.
    let built = Builder::new("../warpsmith/tests/kernels/mod.rs").cfg("compiled_kernels", true).build();
    let outcome = built.unwrap_or_else(|error| panic!("{error}"));
    outcome.write_module().expect("the build script's folder is writable");
}

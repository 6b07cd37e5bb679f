use warpsmith::prelude::*;
pub struct Kernels(warpsmith::Module);
impl Kernels {
    pub fn module(&self) -> &warpsmith::Module {
        &self.0
    }
}
#[kernel] //~ `Kernels` was not declared by `warpsmith::module!()`
pub fn k() {}

//! Where the methods that launch kernels are: on what `module!` declares.

use crate::Module;

/// What [`module!`](crate::module!) declares.
///
/// # Safety
/// The images of the module were compiled from the source in which the type's kernels are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` was not declared by `warpsmith::module!()`",
    note = "`#[kernel]` adds methods to the type `Kernels` in scope: declare it by `warpsmith::module!()`, or import it from the \
            module that does"
)]
pub unsafe trait Declared {
    /// Returns the loaded module.
    fn declared(&self) -> &Module;
}

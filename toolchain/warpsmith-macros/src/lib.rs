//! The macros of `warpsmith`, which re-exports and documents them.

use proc_macro::TokenStream;

mod derive;
mod kernel;
mod print;
mod shared;
mod test;

/// Makes a function a kernel: an entry on the device, and a method of `Kernels` on the host that launches it.
///
/// ```
/// use warpsmith::prelude::*;
///
/// warpsmith::module!(cpu);
///
/// #[kernel]
/// pub fn scale(by: f32, y: &mut Slots<f32>) {
///     let i = thread::index();
///     if let Some(y) = y.get_mut(i) {
///         *y *= by;
///     }
/// }
///
/// fn main() -> warpsmith::Result {
///     let device = Device::cpu();
///     let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
///     let mut y = stream.upload(&[1.0, 2.0])?;
///     kernels.scale(&stream, Grid::covering(y.len()), (3.0, &mut y))?;
///     assert_eq!(stream.download(&y)?, [3.0, 6.0]);
///     Ok(())
/// }
/// ```
///
/// The type `Kernels` comes from `warpsmith::module!()` and must be in scope: "cannot find type `Kernels`" means that it is not.
/// The parameters may have the types that `warpsmith::param` lists, under any name. A kernel returns nothing. Its name is neither
/// `load` nor `module`, which are methods of `Kernels`.
///
/// A kernel with type or const parameters is compiled for what the attribute names, in the order of its parameters:
/// `#[kernel(f32, f64)]` for one, `#[kernel((f32, 16), (f64, 8))]` for two. The host then says which: `kernels.scale::<f64>(..)`.
/// A type in the parameters must be plain data (`DeviceCopy`); one that only says what to do need not be. An associated type in
/// them is written with its trait, `<T as Trait>::Item`.
///
/// An `unsafe fn` becomes an unsafe method.
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(arguments.into(), item.into()).unwrap_or_else(|e| e.into_compile_error()).into()
}

/// Makes a function of a `&Device` three tests: on the CPU in order, on the CPU with threads in other orders, and on every GPU.
///
/// ```
/// # use warpsmith::prelude::*;
/// # warpsmith::module!(cpu);
/// #[warpsmith::test]
/// fn buffers_come_back(device: &Device) -> warpsmith::Result {
///     let stream = device.stream()?;
///     let x = stream.upload(&[1, 2, 3])?;
///     assert_eq!(stream.download(&x)?, [1, 2, 3]);
///     Ok(())
/// }
/// ```
///
/// The tests are `buffers_come_back::cpu`, `::cpu_shuffled` and `::gpu`. Without a GPU the last one prints that it is ignored and
/// why, and passes; in a test program with the `main!` of the crate `warpsmith-test` it counts as ignored. With `WARPSMITH_REQUIRE_GPU=1` in the
/// environment it fails. `WARPSMITH_SEED` names one order of the shuffled ones.
///
/// The function returns nothing or a `Result`, whose error fails the test. `#[should_panic]` and `#[ignore]` hold for all three.
///
/// A function without parameters becomes one test, `::host`.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    test::expand(arguments.into(), item.into()).unwrap_or_else(|e| e.into_compile_error()).into()
}

/// Declares an array in the memory that the threads of a block share: `let tile = shared!([f32; 256]);`.
///
/// It is a `warpsmith::Shared`, the same for all threads of the block: of plain data, or an array of atomics
/// (`shared!([AtomicU32; 256])`). Names in the type are those of the enclosing module: types
/// and constants of the function itself are not visible.
#[proc_macro]
pub fn shared(tokens: TokenStream) -> TokenStream {
    shared::expand(tokens.into()).unwrap_or_else(|e| e.into_compile_error()).into()
}

/// Prints from a kernel: `print!("thread {} has {:.3}\n", thread::in_block(), x)`.
///
/// On a device the driver formats, when the host next waits; no text is made there, and no stack is needed but 8 bytes an argument.
/// Up to eight arguments: numbers, `bool` (as 0 or 1), `char`, pointers, `&CStr`. The braces may hold a variable's name, and after a
/// colon `<` or `>`, `+`, a width, a precision, and `x`, `X`, `o`, `e` or `E`. The text has at most 500 bytes. Floats without a
/// precision are printed with six significant digits. On the host it is Rust's own `print!`.
#[proc_macro]
pub fn print(tokens: TokenStream) -> TokenStream {
    print::expand(tokens.into()).unwrap_or_else(|e| e.into_compile_error()).into()
}

/// Implements `DeviceCopy` for a struct with `#[repr(C)]` or `#[repr(transparent)]`, if all its fields are plain data.
#[proc_macro_derive(DeviceCopy)]
pub fn device_copy(item: TokenStream) -> TokenStream {
    derive::expand(item.into()).unwrap_or_else(|e| e.into_compile_error()).into()
}

//! The macros of warpsmith's drop-ins for `cuda_std`, `cust` and `cust_core`. Use them through those crates.
//!
//! What needs an unstable feature is left to `macro_rules!` of `cuda_std`, which may use it: a crate of kernels then declares none.

use proc_macro::TokenStream;
use syn::{DeriveInput, Error, Ident, ItemFn, ItemStatic, parse_macro_input};

mod copy;
mod gpu_only;
mod kernel;
mod shared;

/// Makes an `unsafe fn` a kernel, which the host finds under its name. A slice is two parameters of a launch: pointer and length.
#[proc_macro_attribute]
pub fn kernel(hints: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as ItemFn);
    kernel::expand(hints.into(), &item).unwrap_or_else(Error::into_compile_error).into()
}

/// Marks a function that runs on a GPU alone. On the host a function with its signature panics.
#[proc_macro_attribute]
pub fn gpu_only(_: TokenStream, item: TokenStream) -> TokenStream {
    gpu_only::expand(parse_macro_input!(item as ItemFn)).into()
}

/// Keeps a `#[no_mangle]` function in the PTX, where such functions are anyway.
#[proc_macro_attribute]
pub fn externally_visible(_: TokenStream, item: TokenStream) -> TokenStream {
    item
}

/// Says in which memory a static is: `shared`, where it has no initial value, or `global`. One in `constant` memory is in global memory.
#[proc_macro_attribute]
pub fn address_space(space: TokenStream, item: TokenStream) -> TokenStream {
    let space = parse_macro_input!(space as Ident);
    let item = parse_macro_input!(item as ItemStatic);
    shared::expand(&space, &item).unwrap_or_else(Error::into_compile_error).into()
}

/// Derives `cust::memory::DeviceCopy` for a type whose fields all have it.
#[proc_macro_derive(DeviceCopy)]
pub fn device_copy(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    copy::expand(item, &quote::quote!(::cust::memory::DeviceCopy)).into()
}

/// Derives `cust_core::DeviceCopy` for a type whose fields all have it.
#[proc_macro_derive(DeviceCopyCore)]
pub fn device_copy_core(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    copy::expand(item, &quote::quote!(::cust_core::DeviceCopy)).into()
}

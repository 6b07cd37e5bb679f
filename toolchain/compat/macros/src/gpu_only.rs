//! `#[gpu_only]`: a function for kernels alone. On the host it panics, as in Rust-CUDA.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemFn;

pub fn expand(item: ItemFn) -> TokenStream {
    let ItemFn { attrs, vis, sig, block } = item;
    let mut host = sig.clone();
    host.abi = None;
    let text = format!("`{}` runs only on a GPU: call it from kernels", sig.ident);
    quote! {
        #[cfg(target_os = "cuda")]
        #(#attrs)*
        #vis #sig #block

        #[cfg(not(target_os = "cuda"))]
        #[allow(unused_variables)]
        #(#attrs)*
        #vis #host {
            ::core::panic!(#text)
        }
    }
}

//! `#[gpu_only]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemFn;

pub fn expand(item: ItemFn) -> TokenStream {
    let ItemFn { attrs, vis, sig, block } = item;
    let mut host = sig.clone();
    host.abi = None;
    let text = format!("`{}` runs on a GPU alone", sig.ident);
    quote! {
        #[cfg(target_os = "cuda")]
        #(#attrs)*
        #vis #sig #block

        #[cfg(not(target_os = "cuda"))]
        #[allow(unused_variables)]
        #(#attrs)*
        #vis #host {
            ::core::unimplemented!(#text)
        }
    }
}

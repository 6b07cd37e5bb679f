//! `#[test]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, ItemFn, Result};

pub fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let function: ItemFn = syn::parse2(item)?;
    if !arguments.is_empty() {
        return Err(Error::new_spanned(arguments, "`#[warpsmith::test]` takes no arguments"));
    }
    if function.sig.inputs.len() != 1 {
        return Err(Error::new_spanned(&function.sig, "a test has one parameter: `device: &Device`"));
    }
    let ident = &function.sig.ident;
    let (kept, passed): (Vec<_>, Vec<_>) = function
        .attrs
        .iter()
        .partition(|a| !["should_panic", "ignore"].iter().any(|name| a.path().is_ident(name)));
    let (visibility, signature, block) = (&function.vis, &function.sig, &function.block);
    let cfgs: Vec<_> = kept.iter().filter(|a| a.path().is_ident("cfg")).collect();
    Ok(quote! {
        #[cfg(test)]
        #(#kept)*
        #visibility #signature #block

        #[cfg(test)]
        #(#cfgs)*
        mod #ident {
            #[::core::prelude::v1::test]
            #(#passed)*
            fn cpu() {
                ::warpsmith::testing::cpu(super::#ident);
            }

            #[::core::prelude::v1::test]
            #(#passed)*
            fn cpu_shuffled() {
                ::warpsmith::testing::cpu_shuffled(super::#ident);
            }

            #[::core::prelude::v1::test]
            #(#passed)*
            fn gpu() {
                ::warpsmith::testing::gpu(concat!(module_path!(), "::gpu"), super::#ident);
            }
        }
    })
}

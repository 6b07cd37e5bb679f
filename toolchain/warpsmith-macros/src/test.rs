//! `#[test]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Error, Expr, Ident, ItemFn, Meta, MetaNameValue, Result, parse_quote};

pub fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let function: ItemFn = syn::parse2(item)?;
    if !arguments.is_empty() {
        return Err(Error::new_spanned(arguments, "`#[warpsmith::test]` takes no arguments"));
    }
    let kinds: &[&str] = match function.sig.inputs.len() {
        0 => &["host"],
        1 => &["cpu", "cpu_shuffled", "gpu"],
        _ => {
            let message = "a test has one parameter, `device: &Device`, or none";
            return Err(Error::new_spanned(&function.sig, message));
        }
    };
    let ident = &function.sig.ident;
    let (kept, passed): (Vec<_>, Vec<_>) = function
        .attrs
        .iter()
        .partition(|a| !["should_panic", "ignore"].iter().any(|name| a.path().is_ident(name)));
    let (visibility, signature, block) = (&function.vis, &function.sig, &function.block);
    let cfgs: Vec<_> = kept.iter().filter(|a| a.path().is_ident("cfg")).collect();
    let ignores: Vec<_> = passed.iter().filter(|a| a.path().is_ident("ignore")).collect();
    let is_ignored = !ignores.is_empty();
    let panics = match passed.iter().find(|a| a.path().is_ident("should_panic")) {
        Some(attribute) => {
            let expected = expected_panic(attribute)?;
            quote!(::core::option::Option::Some(#expected))
        }
        None => quote!(::core::option::Option::None),
    };
    let tests = kinds.iter().map(|kind| {
        let is_for_gpu = *kind == "gpu";
        let kind = Ident::new(kind, ident.span());
        // The first is libtest's. Without libtest, `#[test]` removes its function, and the `main` of warpsmith-test finds what was
        // registered.
        quote! {
            #[::core::prelude::v1::test]
            #(#ignores)*
            fn #kind() {
                let name = concat!(module_path!(), "::", stringify!(#kind));
                ::warpsmith::testing::report(name, ::warpsmith::testing::#kind(super::#ident, #panics));
            }

            ::warpsmith::testing::inventory::submit! {
                ::warpsmith::testing::Registered {
                    path: concat!(module_path!(), "::", stringify!(#kind)),
                    is_for_gpu: #is_for_gpu,
                    is_ignored: #is_ignored,
                    run: || ::warpsmith::testing::#kind(super::#ident, #panics),
                }
            }
        }
    });
    Ok(quote! {
        #[cfg(test)]
        #(#kept)*
        #visibility #signature #block

        #[cfg(test)]
        #(#cfgs)*
        mod #ident {
            #(#tests)*
        }
    })
}

/// Returns what a panic must contain by `#[should_panic]`, `= "text"` or `(expected = "text")`; nothing for any panic.
fn expected_panic(attribute: &Attribute) -> Result<Expr> {
    match &attribute.meta {
        Meta::Path(_) => Ok(parse_quote!("")),
        Meta::NameValue(pair) => Ok(pair.value.clone()),
        Meta::List(list) => Ok(list.parse_args::<MetaNameValue>()?.value),
    }
}

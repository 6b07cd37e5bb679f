//! `#[test]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Error, Expr, ExprLit, Ident, ItemFn, Lit, LitStr, Meta, Result};

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
    let is_ignored = passed.iter().any(|a| a.path().is_ident("ignore"));
    let panics = match passed.iter().find(|a| a.path().is_ident("should_panic")) {
        Some(attribute) => {
            let expected = expected_panic(attribute)?;
            quote!(::core::option::Option::Some(#expected))
        }
        None => quote!(::core::option::Option::None),
    };
    let tests = kinds.iter().map(|kind| {
        let kind = Ident::new(kind, ident.span());
        // The first is libtest's. Without libtest, `#[test]` removes its function, and `main` finds what was registered.
        quote! {
            #[::core::prelude::v1::test]
            #(#passed)*
            fn #kind() {
                ::warpsmith::testing::#kind(concat!(module_path!(), "::", stringify!(#kind)), super::#ident);
            }

            ::warpsmith::__register_test! { #kind, super::#ident, #is_ignored, #panics }
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

/// Returns the text that a panic must contain by `#[should_panic]`, `= "text"` or `(expected = "text")`; empty for any.
fn expected_panic(attribute: &Attribute) -> Result<LitStr> {
    let value = match &attribute.meta {
        Meta::Path(path) => {
            return Ok(LitStr::new(
                "",
                path.get_ident().map_or_else(proc_macro2::Span::call_site, Ident::span),
            ));
        }
        Meta::NameValue(pair) => pair.value.clone(),
        Meta::List(list) => list.parse_args::<syn::MetaNameValue>()?.value,
    };
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(text),
        other => Err(Error::new_spanned(other, "what the panic says is a string")),
    }
}

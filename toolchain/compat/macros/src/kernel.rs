//! `#[kernel]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Error, FnArg, GenericParam, ItemFn, Lifetime, MetaNameValue, Result, ReturnType, Token, Type,
    TypeReference,
};

pub fn expand(hints: TokenStream, item: &ItemFn) -> Result<TokenStream> {
    // Nothing is made of the hints about dimensions; what is no hint is a mistake.
    let hints = Punctuated::<MetaNameValue, Token![,]>::parse_terminated.parse2(hints)?;
    if let Some(wrong) = hints.iter().find(|h| !h.path.is_ident("grid_dim") && !h.path.is_ident("block_dim"))
    {
        return Err(Error::new(wrong.span(), "the hints are `grid_dim` and `block_dim`"));
    }
    check(item)?;
    let mut types = Vec::new();
    for input in &item.sig.inputs {
        match input {
            FnArg::Typed(typed) => types.push(without_lifetimes(&typed.ty)),
            FnArg::Receiver(this) => {
                return Err(Error::new(this.span(), "a kernel is a function, not a method"));
            }
        }
    }
    let mut sig = item.sig.clone();
    sig.abi = None;
    let attributes: Vec<&Attribute> = item.attrs.iter().filter(|a| !names_the_symbol(a)).collect();
    let (vis, block, name) = (&item.vis, &item.block, &item.sig.ident);
    let export = name.to_string();
    let parameters = types.iter().enumerate().map(|(i, of)| {
        let (first, second) = (format_ident!("first{i}"), format_ident!("second{i}"));
        quote_spanned!(of.span()=> (#first #second #of))
    });
    Ok(quote! {
        #[inline(always)]
        #[allow(clippy::too_many_arguments)]
        #(#attributes)*
        #vis #sig #block

        #[cfg(target_os = "cuda")]
        const _: () = {
            ::cuda_std::__entry! { #export, #name, #(#parameters)* }
        };
    })
}

fn check(item: &ItemFn) -> Result<()> {
    let sig = &item.sig;
    if sig.unsafety.is_none() {
        return Err(Error::new(
            sig.fn_token.span(),
            "a kernel is an `unsafe fn`: nothing checks what a launch passes",
        ));
    }
    if let ReturnType::Type(_, returned) = &sig.output
        && !matches!(&**returned, Type::Tuple(tuple) if tuple.elems.is_empty())
    {
        return Err(Error::new(returned.span(), "a kernel returns nothing: write results through a pointer"));
    }
    if let Some(parameter) = sig.generics.params.iter().find(|p| !matches!(p, GenericParam::Lifetime(_))) {
        return Err(Error::new(
            parameter.span(),
            "a kernel has no type parameters: write one kernel for each type",
        ));
    }
    if let Some(asyncness) = sig.asyncness {
        return Err(Error::new(asyncness.span(), "a kernel cannot be async"));
    }
    Ok(())
}

/// Returns whether an attribute gives the function a symbol, which only the entry has.
fn names_the_symbol(attribute: &Attribute) -> bool {
    let is = |text: &str| ["no_mangle", "export_name"].iter().any(|name| text.contains(name));
    let path = attribute.path();
    path.is_ident("no_mangle")
        || path.is_ident("export_name")
        || path.is_ident("unsafe") && is(&quote!(#attribute).to_string())
}

/// Gives every reference the lifetime `'static`: a constant decides by the type how it is passed, and constants know no others.
fn without_lifetimes(of: &Type) -> Type {
    struct Static;
    impl VisitMut for Static {
        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            *lifetime = Lifetime::new("'static", lifetime.span());
        }
        fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
            let span = reference.and_token.span();
            reference.lifetime.get_or_insert_with(|| Lifetime::new("'static", span));
            visit_mut::visit_type_reference_mut(self, reference);
        }
    }
    let mut of = of.clone();
    Static.visit_type_mut(&mut of);
    of
}

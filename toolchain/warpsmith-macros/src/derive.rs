//! `#[derive(DeviceCopy)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Error, Result};

pub fn expand(item: TokenStream) -> Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let Data::Struct(data) = &item.data else {
        return Err(Error::new(
            item.ident.span(),
            "only structs are `DeviceCopy`: an enum has bytes that are no value of it",
        ));
    };
    let mut is_fixed = false;
    for attribute in item.attrs.iter().filter(|a| a.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            is_fixed |= meta.path.is_ident("C") || meta.path.is_ident("transparent");
            if meta.input.peek(syn::token::Paren) {
                let inner;
                syn::parenthesized!(inner in meta.input);
                inner.parse::<TokenStream>()?;
            }
            Ok(())
        })?;
    }
    if !is_fixed {
        let text = "host and device must agree about the layout: add `#[repr(C)]`";
        return Err(Error::new(item.ident.span(), text));
    }
    let mut generics = item.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(syn::parse_quote!(::warpsmith::DeviceCopy));
    }
    let ident = &item.ident;
    let (parameters, names, clause) = generics.split_for_impl();
    let fields = data.fields.iter().enumerate().map(|(i, field)| {
        let name = field.ident.as_ref().map_or(i.to_string(), |name| name.to_string());
        let of = &field.ty;
        quote_spanned!(of.span()=> (#name, <#of as ::warpsmith::DeviceCopy>::SHAPE))
    });
    let name = ident.to_string();
    let checks = data.fields.iter().map(|field| {
        let of = &field.ty;
        quote_spanned!(of.span()=> is_plain::<#of>();)
    });
    Ok(quote! {
        // SAFETY: the fields are plain data, which is checked below.
        unsafe impl #parameters ::warpsmith::DeviceCopy for #ident #names #clause {
            const SHAPE: ::warpsmith::shape::Shape = ::warpsmith::shape::Shape::structure(#name, &[#(#fields),*]);
        }
        const _: () = {
            fn is_plain<T: ::warpsmith::DeviceCopy>() {}
            #[allow(dead_code)]
            fn fields #parameters () #clause {
                #(#checks)*
            }
        };
    })
}

//! `#[derive(DeviceCopy)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Fields, parse_quote};

pub fn expand(mut item: DeriveInput, of: &TokenStream) -> TokenStream {
    for parameter in item.generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(#of));
    }
    let fields: Vec<&Fields> = match &item.data {
        Data::Struct(data) => vec![&data.fields],
        Data::Enum(data) => data.variants.iter().map(|variant| &variant.fields).collect(),
        Data::Union(_) => Vec::new(),
    };
    let mut types: Vec<_> = fields.into_iter().flatten().map(|field| &field.ty).collect();
    if let Data::Union(data) = &item.data {
        types.extend(data.fields.named.iter().map(|field| &field.ty));
    }
    let name = &item.ident;
    let (parameters, arguments, clause) = item.generics.split_for_impl();
    quote! {
        // SAFETY: the function below does not compile if a field cannot be copied to a device.
        unsafe impl #parameters #of for #name #arguments #clause {}
        const _: () = {
            fn must_be_device_copy<T: #of>() {}
            #[allow(dead_code)]
            fn fields #parameters () #clause {
                #(must_be_device_copy::<#types>();)*
            }
        };
    }
}

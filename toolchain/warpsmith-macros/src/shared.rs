//! `shared!`.

use std::sync::atomic::{AtomicU32, Ordering};

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Result, Type};

/// Each array has a name of its own in PTX: the crate's, and a number.
static COUNT: AtomicU32 = AtomicU32::new(0);

pub fn expand(tokens: TokenStream) -> Result<TokenStream> {
    let of: Type = syn::parse2(tokens)?;
    let crate_name = std::env::var("CARGO_CRATE_NAME").unwrap_or_default();
    let crate_name: String = crate_name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let name = format!("warpsmith_shared_{crate_name}_{}", COUNT.fetch_add(1, Ordering::Relaxed));
    Ok(quote!(::warpsmith::__shared!(#of, #name)))
}

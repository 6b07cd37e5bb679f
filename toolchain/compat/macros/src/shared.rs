//! `#[address_space(..)]`.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Error, Ident, ItemStatic, Result};

pub fn expand(space: &Ident, item: &ItemStatic) -> Result<TokenStream> {
    match space.to_string().as_str() {
        "shared" => Ok(shared(item)),
        // What the host could write in constant memory, it can write in global memory as well.
        "global" | "constant" => Ok(quote!(#item)),
        other => Err(Error::new(
            space.span(),
            format!("no static can be in `{other}` memory: use `shared`, `constant` or `global`"),
        )),
    }
}

/// On the device the static becomes a constant that dereferences to its memory: rustc knows nothing of shared memory, only of the
/// address.
fn shared(item: &ItemStatic) -> TokenStream {
    let ItemStatic { attrs, vis, ident, ty, .. } = item;
    let symbol = symbol(&ident.to_string());
    let tag = format_ident!("__Shared_{symbol}");
    quote! {
        #[cfg(target_os = "cuda")]
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #vis struct #tag;
        #[cfg(target_os = "cuda")]
        ::cuda_std::__shared_symbol!(#tag, #ty, #symbol);
        #[cfg(target_os = "cuda")]
        #[allow(dead_code)]
        #(#attrs)*
        #vis const #ident: ::cuda_std::shared::Static<#tag> = ::cuda_std::shared::Static::NEW;

        #[cfg(not(target_os = "cuda"))]
        #item
    }
}

/// Returns a name in PTX that no other static has, in this crate and in others.
fn symbol(name: &str) -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let mut hasher = DefaultHasher::new();
    for variable in ["CARGO_PKG_NAME", "CARGO_PKG_VERSION", "CARGO_CRATE_NAME"] {
        env::var(variable).unwrap_or_default().hash(&mut hasher);
    }
    COUNT.fetch_add(1, Ordering::Relaxed).hash(&mut hasher);
    format!("{name}_{:016x}", hasher.finish())
}

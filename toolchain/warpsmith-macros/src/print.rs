//! `print!`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, LitStr, Result, Token};

struct Print {
    text: LitStr,
    arguments: Vec<Expr>,
}

impl Parse for Print {
    fn parse(input: ParseStream) -> Result<Self> {
        let text: LitStr = input.parse()?;
        let mut arguments = Vec::new();
        if input.parse::<Option<Token![,]>>()?.is_some() {
            arguments.extend(Punctuated::<Expr, Token![,]>::parse_terminated(input)?);
        }
        Ok(Print { text, arguments })
    }
}

pub fn expand(tokens: TokenStream) -> Result<TokenStream> {
    let Print { text, arguments } = syn::parse2(tokens.clone())?;
    let (mut pieces, mut all, mut given) = (Vec::new(), Vec::new(), arguments.into_iter());
    let (value, mut plain) = (text.value(), String::new());
    let mut rest = value.as_str();
    let wrong = |why: &str| Error::new(text.span(), why);
    while let Some(at) = rest.find(['{', '}']) {
        plain.push_str(&rest[..at]);
        let brace = &rest[at..at + 1];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            plain.push_str(brace);
            rest = after;
            continue;
        }
        if brace == "}" {
            return Err(wrong("a `}` without its `{`: write `}}` for the character"));
        }
        let end =
            rest.find('}').ok_or_else(|| wrong("a `{` without its `}`: write `{{` for the character"))?;
        let (inside, after) = (&rest[..end], &rest[end + 1..]);
        rest = after;
        let (name, format) = inside.split_once(':').unwrap_or((inside, ""));
        let argument = match name.trim() {
            "" => given.next().ok_or_else(|| wrong("more `{}` than arguments"))?,
            name => {
                let ident = syn::parse_str::<syn::Ident>(name)
                    .map_err(|_| wrong("in the braces may stand the name of a variable, but no number"))?;
                let ident = syn::Ident::new(&ident.to_string(), text.span());
                syn::parse_quote!(#ident)
            }
        };
        let (flags, letter) = flags(format).ok_or_else(|| {
            wrong("a kernel's print! knows a width, a precision, and `x`, `X`, `o`, `e` and `E`")
        })?;
        if !plain.is_empty() {
            pieces.push(quote!(::warpsmith::print::Piece::Text(#plain)));
            plain.clear();
        }
        pieces.push(quote!(::warpsmith::print::Piece::Argument(#flags, #letter)));
        all.push(argument);
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        pieces.push(quote!(::warpsmith::print::Piece::Text(#plain)));
    }
    if let Some(extra) = given.next() {
        return Err(Error::new_spanned(extra, "an argument without its `{}`"));
    }
    if all.len() > 8 {
        return Err(wrong("a kernel prints at most eight values at once"));
    }
    Ok(quote! {{
        #[cfg(target_os = "cuda")]
        {
            struct Pieces;
            impl ::warpsmith::print::Pieces for Pieces {
                const PIECES: &'static [::warpsmith::print::Piece] = &[#(#pieces),*];
            }
            ::warpsmith::print::__print::<Pieces, _>((#(#all,)*));
        }
        #[cfg(not(target_os = "cuda"))]
        {
            ::warpsmith::__print_host!(#tokens);
        }
    }})
}

/// Turns what stands after the colon into flags of C and a letter.
fn flags(format: &str) -> Option<(String, u8)> {
    let format = format.trim();
    let (format, letter) = match format.chars().last() {
        Some(c @ ('x' | 'X' | 'o' | 'e' | 'E')) => (&format[..format.len() - 1], c as u8),
        _ => (format, 0),
    };
    let (format, left) = match format.strip_prefix('<') {
        Some(format) => (format, "-"),
        None => (format.strip_prefix('>').unwrap_or(format), ""),
    };
    let is_known = format.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '+');
    is_known.then(|| (format!("{left}{format}"), letter))
}

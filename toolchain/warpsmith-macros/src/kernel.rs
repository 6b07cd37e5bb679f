//! `#[kernel]`.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Error, FnArg, GenericArgument, GenericParam, Generics, Ident, ItemFn, Lifetime, Result, ReturnType,
    Token, Type, TypePath, WherePredicate, parse_quote,
};

/// The most parameters of a kernel: a launch's arguments are a tuple.
const MOST: usize = 32;
/// The methods that `Kernels` has of its own.
const TAKEN: [&str; 2] = ["load", "module"];

/// What one instance puts in the place of the parameters of a generic kernel.
struct Instance(Vec<GenericArgument>);

impl Parse for Instance {
    fn parse(input: ParseStream) -> Result<Self> {
        if input.peek(syn::token::Paren) {
            let inner;
            syn::parenthesized!(inner in input);
            let all = Punctuated::<GenericArgument, Token![,]>::parse_terminated(&inner)?;
            return Ok(Instance(all.into_iter().collect()));
        }
        Ok(Instance(vec![input.parse()?]))
    }
}

pub fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let function: ItemFn = syn::parse2(item)?;
    let instances = Punctuated::<Instance, Token![,]>::parse_terminated.parse2(arguments)?;
    check(&function, instances.iter())?;
    let types = types(&function)?;
    for parameter in function.sig.generics.type_params() {
        if let Some(span) = search(types.iter().copied(), &parameter.ident).associated {
            let name = &parameter.ident;
            let text = format!(
                "name the trait, as in `<{name} as Trait>::Item`: on the device `{name}` is one type"
            );
            return Err(Error::new(span, text));
        }
    }
    let entries = match instances.is_empty() {
        true => entry(&function, &types, None),
        false => instances.iter().map(|instance| entry(&function, &types, Some(instance))).collect(),
    };
    let method = method(&function, &types, &instances);
    let (host, named) = (quote!(::warpsmith::__host! { #method }), named(&function, &instances));
    Ok(quote! {
        #[inline(always)]
        #[allow(clippy::too_many_arguments)]
        #function
        #entries
        #named
        #host
    })
}

fn parameters(function: &ItemFn) -> impl Iterator<Item = &GenericParam> {
    function.sig.generics.params.iter().filter(|p| !matches!(p, GenericParam::Lifetime(_)))
}

fn check<'a>(function: &ItemFn, instances: impl Iterator<Item = &'a Instance>) -> Result<()> {
    let sig = &function.sig;
    if let ReturnType::Type(_, returned) = &sig.output
        && !matches!(&**returned, Type::Tuple(tuple) if tuple.elems.is_empty())
    {
        return Err(Error::new(
            returned.span(),
            "a kernel returns nothing: write results to a `&mut Slots<T>`",
        ));
    }
    let wrong = [
        (sig.asyncness.as_ref().map(|t| t.span()), "a kernel cannot be async"),
        (sig.abi.as_ref().map(|t| t.span()), "a kernel has no ABI of its own: `#[kernel]` gives it one"),
        (sig.variadic.as_ref().map(|t| t.span()), "a kernel has a fixed number of parameters"),
        (sig.receiver().map(|t| t.span()), "a kernel is a function, not a method"),
    ];
    for (span, why) in wrong {
        if let Some(span) = span {
            return Err(Error::new(span, why));
        }
    }
    let name = sig.ident.to_string();
    if TAKEN.contains(&name.trim_start_matches("r#")) {
        let text = format!("`Kernels` has a method `{name}` of its own: give the kernel another name");
        return Err(Error::new(sig.ident.span(), text));
    }
    if !name.is_ascii() {
        let text = "PTX knows only ASCII letters: give the kernel a name of those";
        return Err(Error::new(sig.ident.span(), text));
    }
    if sig.inputs.len() > MOST {
        return Err(Error::new(
            sig.inputs.span(),
            format!("a kernel has at most {MOST} parameters: put some into a struct"),
        ));
    }
    let wanted = parameters(function).count();
    let mut count = 0;
    for instance in instances {
        count += 1;
        if instance.0.len() != wanted {
            let span = instance.0.first().map_or(Span::call_site(), |argument| argument.span());
            let text = match wanted {
                0 => "this kernel has no type parameters: write `#[kernel]`".to_string(),
                1 => "this kernel has 1 type parameter: write one type for each instance".to_string(),
                n => format!(
                    "this kernel has {n} type parameters: write `({})` for each instance",
                    vec![".."; n].join(", ")
                ),
            };
            return Err(Error::new(span, text));
        }
    }
    if wanted > 0 && count == 0 {
        let text = "a generic kernel is compiled for the types that its attribute names: write `#[kernel(f32, f64)]`";
        return Err(Error::new(sig.generics.params.span(), text));
    }
    Ok(())
}

fn types(function: &ItemFn) -> Result<Vec<&Type>> {
    let of = |input: &'_ FnArg| match input {
        FnArg::Typed(typed) if matches!(&*typed.ty, Type::ImplTrait(_)) => {
            let text = "a kernel's parameter has a type of its own: name a type parameter, and its instances in the attribute";
            Err(Error::new(typed.ty.span(), text))
        }
        FnArg::Typed(typed) => match &*typed.ty {
            Type::Reference(of) if of.lifetime.as_ref().is_some_and(|l| l.ident == "static") => {
                let text = "a kernel's arguments live no longer than its launch: leave out `'static`";
                Err(Error::new(of.lifetime.span(), text))
            }
            _ => Ok(()),
        },
        FnArg::Receiver(receiver) => Err(Error::new(receiver.span(), "a kernel is a function, not a method")),
    };
    function.sig.inputs.iter().try_for_each(of)?;
    let typed = function.sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(&*typed.ty),
        FnArg::Receiver(_) => None,
    });
    Ok(typed.collect())
}

/// Returns the name on the device.
fn name(function: &ItemFn, instance: Option<&Instance>) -> String {
    let mut name = function.sig.ident.to_string().trim_start_matches("r#").to_string();
    for argument in instance.iter().flat_map(|instance| &instance.0) {
        let text = quote!(#argument).to_string();
        let clean: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        name.push('_');
        name.push_str(&clean);
    }
    name
}

/// The entry on the device. The types of an instance are aliases within it, so that the signature stays as it was written.
fn entry(function: &ItemFn, types: &[&Type], instance: Option<&Instance>) -> TokenStream {
    let (ident, export) = (&function.sig.ident, name(function, instance));
    let lifetimes: Vec<_> =
        function.sig.generics.params.iter().filter(|p| matches!(p, GenericParam::Lifetime(_))).collect();
    let generics = if lifetimes.is_empty() { quote!() } else { quote!(<#(#lifetimes),*>) };
    let given: Vec<_> = instance.iter().flat_map(|instance| &instance.0).collect();
    let aliases = parameters(function).zip(&given).map(|(parameter, given)| match parameter {
        GenericParam::Const(constant) => {
            let (name, of) = (&constant.ident, &constant.ty);
            quote!(#[allow(dead_code, non_upper_case_globals)] const #name: #of = #given;)
        }
        GenericParam::Type(of) => {
            let name = &of.ident;
            quote!(#[allow(dead_code, non_camel_case_types)] type #name = #given;)
        }
        GenericParam::Lifetime(_) => quote!(),
    });
    let callee = if given.is_empty() { quote!(#ident) } else { quote!(#ident::<#(#given),*>) };
    let (_, forever) = without_lifetimes(function, types);
    let signature = format!("warpsmith_signature_{export}");
    let parameters = types.iter().enumerate().map(|(i, of)| {
        let (first, second, held) = (local("first", i), local("second", i), local("held", i));
        quote!((#first #second #held #of))
    });
    quote! {
        #[cfg(target_os = "cuda")]
        const _: () = {
            #(#aliases)*
            ::warpsmith::__entry! { #export, #signature, [#(#forever),*], [#generics], #callee, #(#parameters)* }
        };
    }
}

/// Returns a name for a variable: it is none of those in the user's code, so that a kernel can have the same one.
fn local(name: &str, i: usize) -> Ident {
    format_ident!("{name}{i}", span = Span::mixed_site())
}

/// Makes lifetimes with names `'static`.
struct Forever(Vec<Lifetime>);

impl VisitMut for Forever {
    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if self.0.contains(lifetime) {
            *lifetime = Lifetime::new("'static", lifetime.span());
        }
    }
}

/// Returns generics and types of the parameters without lifetimes that have names.
///
/// A launch keeps the parameters after its method has returned, which nothing with such a lifetime may. Host and kernel borrow from
/// the tuple of arguments and from what a thread holds, whatever the lifetime in the parameter's type is.
fn without_lifetimes(function: &ItemFn, types: &[&Type]) -> (Generics, Vec<Type>) {
    let mut generics = function.sig.generics.clone();
    let mut forever = Forever(generics.lifetimes().map(|of| of.lifetime.clone()).collect());
    let others = generics.params.into_iter().filter(|of| !matches!(of, GenericParam::Lifetime(_)));
    generics.params = others.collect();
    if let Some(clause) = &mut generics.where_clause {
        let others = core::mem::take(&mut clause.predicates).into_iter();
        clause.predicates = others.filter(|of| !matches!(of, WherePredicate::Lifetime(_))).collect();
    }
    forever.visit_generics_mut(&mut generics);
    let mut types: Vec<Type> = types.iter().map(|&of| of.clone()).collect();
    types.iter_mut().for_each(|of| forever.visit_type_mut(of));
    (generics, types)
}

/// Finds a type parameter in types: itself, and what is written as `T::Item`.
struct Search<'a> {
    name: &'a Ident,
    is_found: bool,
    associated: Option<Span>,
}

impl VisitMut for Search<'_> {
    fn visit_type_path_mut(&mut self, of: &mut TypePath) {
        if of.qself.is_none() && of.path.segments.first().is_some_and(|first| first.ident == *self.name) {
            match of.path.segments.len() {
                1 => self.is_found = true,
                _ => self.associated = Some(of.span()),
            }
        }
        visit_mut::visit_path_mut(self, &mut of.path);
    }
}

fn search<'a>(types: impl IntoIterator<Item = &'a Type>, name: &'a Ident) -> Search<'a> {
    let mut search = Search { name, is_found: false, associated: None };
    types.into_iter().for_each(|of| search.visit_type_mut(&mut of.clone()));
    search
}

/// The method that launches it.
fn method(function: &ItemFn, types: &[&Type], instances: &Punctuated<Instance, Token![,]>) -> TokenStream {
    let (ident, visibility, safety) = (&function.sig.ident, &function.vis, &function.sig.unsafety);
    let documentation =
        function.attrs.iter().filter(|a| a.path().is_ident("doc") || a.path().is_ident("cfg"));
    let (mut generics, types) = without_lifetimes(function, types);
    let marker = marker(function);
    let names: Vec<TokenStream> = parameters(function).map(parameter_name).collect();
    let (kernel_name, callee) = match instances.is_empty() {
        true => {
            let name = name(function, None);
            (quote!(#name), quote!(#ident))
        }
        false => {
            for parameter in generics.type_params_mut() {
                // The kernel keeps a type that is no parameter's as well: it is part of its function.
                parameter.bounds.push(match search(&types, &parameter.ident).is_found {
                    true => parse_quote!(::warpsmith::DeviceCopy),
                    false => parse_quote!('static),
                });
            }
            generics
                .make_where_clause()
                .predicates
                .push(parse_quote!(#marker<#(#names),*>: ::warpsmith::Named));
            (quote!(<#marker<#(#names),*> as ::warpsmith::Named>::NAME), quote!(#ident::<#(#names),*>))
        }
    };
    let (parameters, _, clause) = generics.split_for_impl();
    let parameters_tokens = quote!(#parameters);
    let all: Vec<_> = (0..types.len()).collect();
    let [firsts, seconds, helds, values] = ["first", "second", "held", "value"]
        .map(|name| all.iter().map(|&i| local(name, i)).collect::<Vec<_>>());
    let [stream, grid, arguments, kernel, launch] =
        ["stream", "grid", "arguments", "kernel", "launch"].map(|name| Ident::new(name, Span::mixed_site()));
    // Errors are at the type, but the code is the macro's: in a crate that forbids `unsafe` it is not the user's.
    let at = |of: &Type| of.span().resolved_at(Span::call_site());
    let tuple = types.iter().map(|of| quote_spanned!(of.span()=> <#of as ::warpsmith::Param>::Argument<'_>));
    let lowered = types.iter().enumerate().map(|(i, of)| {
        let (first, second, value) = (&firsts[i], &seconds[i], &values[i]);
        quote_spanned! {at(of)=>
            let (#first, #second) = <#of as ::warpsmith::Param>::lower(#value, &mut #launch)?;
        }
    });
    let held = types.iter().enumerate().map(|(i, of)| {
        let (first, second, held) = (&firsts[i], &seconds[i], &helds[i]);
        quote_spanned! {at(of)=>
            // SAFETY: `lower` returned both for this launch, which keeps or borrows the argument.
            let mut #held = unsafe { <#of as ::warpsmith::Param>::hold(#first, #second) };
        }
    });
    let taken = types.iter().enumerate().map(|(i, of)| {
        let held = &helds[i];
        quote_spanned!(at(of)=> <#of as ::warpsmith::Param>::take(&mut #held))
    });
    let safety_section =
        safety.as_ref().map(|_| quote!(#[doc = "\n# Safety\nThat of the kernel, for every thread."]));
    quote! {
        impl Kernels {
            #(#documentation)*
            #[doc = "\n\nQueues a launch of the kernel.\n\n# Errors\nIf the grid is not possible on the device, a buffer is of another device, or the driver fails; on the CPU, if the kernel does."]
            #safety_section
            #[allow(unused_mut, unused_unsafe, clippy::too_many_arguments, clippy::type_complexity, clippy::undocumented_unsafe_blocks)]
            #visibility #safety fn #ident #parameters_tokens (
                &self,
                #stream: &::warpsmith::Stream,
                #grid: impl ::core::convert::Into<::warpsmith::Grid>,
                #arguments: (#(#tuple,)*),
            ) -> ::warpsmith::Result #clause {
                let (#(#values,)*) = #arguments;
                let #kernel: &'static str = #kernel_name;
                let mut #launch = ::warpsmith::Launch::new(
                    ::warpsmith::Declared::declared(self),
                    #stream,
                    #kernel,
                    ::core::convert::Into::into(#grid),
                )?;
                #launch.types(const { &::warpsmith::shape::Shape::list(&[#(<#types as ::warpsmith::Param>::SHAPE),*]) });
                #(#lowered)*
                #(
                    #launch.parameter(&#firsts);
                    #launch.parameter(&#seconds);
                )*
                // SAFETY: `Declared` promises that the images hold this kernel, whose parameters were lowered above.
                unsafe {
                    #launch.run(move || {
                        #(#held)*
                        // SAFETY: what is taken is held until the kernel returns; an unsafe kernel's promise is the caller's.
                        unsafe { #callee(#(#taken),*) }
                    })
                }
            }
        }
    }
}

fn marker(function: &ItemFn) -> syn::Ident {
    format_ident!("__{}_instance", function.sig.ident)
}

fn parameter_name(parameter: &GenericParam) -> TokenStream {
    match parameter {
        GenericParam::Type(of) => {
            let name = &of.ident;
            quote!(#name)
        }
        GenericParam::Const(of) => {
            let name = &of.ident;
            quote!(#name)
        }
        GenericParam::Lifetime(of) => quote!(#of),
    }
}

/// A type for each generic kernel, which has the names of its instances.
fn named(function: &ItemFn, instances: &Punctuated<Instance, Token![,]>) -> TokenStream {
    if instances.is_empty() {
        return quote!();
    }
    let (marker, visibility) = (marker(function), &function.vis);
    let bare: Vec<TokenStream> = parameters(function)
        .map(|parameter| match parameter {
            GenericParam::Const(of) => {
                let (name, of) = (&of.ident, &of.ty);
                quote!(const #name: #of)
            }
            other => parameter_name(other),
        })
        .collect();
    let types: Vec<TokenStream> =
        parameters(function).filter(|p| matches!(p, GenericParam::Type(_))).map(parameter_name).collect();
    let implementations = instances.iter().map(|instance| {
        let (given, name) = (&instance.0, name(function, Some(instance)));
        quote! {
            // SAFETY: the entry of this name is the instance for these types.
            unsafe impl ::warpsmith::Named for #marker<#(#given),*> {
                const NAME: &'static str = #name;
            }
        }
    });
    quote! {
        ::warpsmith::__host! {
            #[doc(hidden)]
            #[allow(non_camel_case_types)]
            #visibility struct #marker<#(#bare),*>(::core::marker::PhantomData<(#(#types,)*)>);
            #(#implementations)*
        }
    }
}

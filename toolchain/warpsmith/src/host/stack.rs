//! Whether the driver can tell how much stack a kernel needs.
//!
//! It gives each thread what the kernel and the functions that it calls by name need. Of what is called through a pointer (`dyn`,
//! `core::fmt`) and of recursion it knows nothing, and there a thread has as much as the limit of the context says.

use std::collections::{HashMap, HashSet};
use std::vec;
use std::vec::Vec;

/// A function of a text.
#[derive(Default)]
struct Function<'a> {
    calls: HashSet<&'a str>,
    /// Whether it calls through a pointer.
    is_indirect: bool,
}

/// Returns whether a kernel calls something through a pointer, or calls itself in the end.
pub(crate) fn is_unknown(text: &str, kernel: &str) -> bool {
    let functions = functions(text);
    // The functions on the way, each with those that are still to be looked at.
    let mut way: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut done = HashSet::new();
    let mut next = Some(kernel);
    loop {
        if let Some(name) = next.take() {
            if way.iter().any(|(caller, _)| *caller == name) {
                return true;
            }
            if let Some(function) = functions.get(name)
                && done.insert(name)
            {
                if function.is_indirect {
                    return true;
                }
                way.push((name, function.calls.iter().copied().collect()));
            }
        }
        match way.last_mut() {
            None => return false,
            Some((_, calls)) => match calls.pop() {
                Some(called) => next = Some(called),
                None => drop(way.pop()),
            },
        }
    }
}

fn functions(text: &str) -> HashMap<&str, Function<'_>> {
    let mut functions: HashMap<&str, Function<'_>> = HashMap::new();
    let mut name = "";
    // rustc writes a call in one line or in several: `call.uni (retval0), f, (param0);`
    let mut call: Option<Vec<&str>> = None;
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or("").trim();
        if let Some(head) = code.split_once(".entry").or_else(|| code.split_once(".func")) {
            if !code.starts_with(".extern") {
                name = word_after_parameters(head.1);
                functions.entry(name).or_default();
            }
            continue;
        }
        if code.starts_with("call") || code.contains(" call") && code.starts_with('@') {
            call = Some(vec![code]);
        } else if let Some(lines) = &mut call {
            lines.push(code);
        }
        if call.is_some() && code.ends_with(';') {
            let called = call.take().and_then(|lines| callee(&lines));
            let function = functions.entry(name).or_default();
            match called {
                Some(called) if !called.starts_with('%') => drop(function.calls.insert(called)),
                _ => function.is_indirect = true,
            }
        }
    }
    functions
}

/// Returns the name in `(.param .b32 result) f (`, or in ` f(`.
fn word_after_parameters(head: &str) -> &str {
    let head = head.trim_start();
    let head = match head.starts_with('(') {
        true => head.split_once(')').map_or("", |(_, rest)| rest).trim_start(),
        false => head,
    };
    head.split(|c: char| c == '(' || c.is_whitespace()).next().unwrap_or("")
}

/// Returns what is called: a name, or the register with its address.
fn callee<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let words = lines.iter().flat_map(|line| line.split(|c: char| c == ',' || c.is_whitespace()));
    let mut words = words.skip_while(|word| !word.starts_with("call")).skip(1);
    words.find(|word| !word.is_empty() && !word.starts_with('(')).map(|word| word.trim_end_matches(';'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
.extern .func  (.param .b32 func_retval0) vprintf
(
);
.func  (.param .b32 func_retval0) leaf(
\t.param .b32 leaf_param_0
)
{
\tret;
}
.func again(
)
{
\tcall.uni again, ();
\tret;
}
.func through_pointer()
{
\t{ // callseq 0, 0
\t.param .b64 param0;
\tprototype_0 : .callprototype (.param .b32 _) _ (.param .b64 _);
\tcall (retval0), 
\t%rd3, 
\t(
\tparam0
\t)
\t, prototype_0;
\t} // callseq 0
\tret;
}
.visible .entry known(
\t.param .u64 known_param_0
)
{
\tcall.uni (retval0), leaf, (param0);
\t@%p1 call.uni (retval0), vprintf, (param0, param1);
\tret;
}
.visible .entry recursive()
{
\tcall.uni (retval0), leaf, (param0);
\tcall again, ();
\tret;
}
.visible .entry indirect()
{
\t{ // callseq 1, 0
\tcall.uni 
\tthrough_pointer, 
\t(
\t);
\t} // callseq 1
\tret;
}
.visible .entry none()
{
\tret;
}
";

    #[test]
    fn what_the_driver_can_tell() {
        let unknown = |kernel| is_unknown(TEXT, kernel);
        assert!(!unknown("none"));
        assert!(!unknown("known"));
        assert!(unknown("recursive"));
        assert!(unknown("indirect"));
    }

    #[test]
    fn a_function_that_several_call_is_no_recursion() {
        let text = ".func a()\n{\n\tcall.uni c, ();\n}\n.func b()\n{\n\tcall.uni c, ();\n\tcall.uni a, ();\n}\n.func c()\n{\n}\n\
                    .visible .entry k()\n{\n\tcall.uni a, ();\n\tcall.uni b, ();\n}\n";
        assert!(!is_unknown(text, "k"));
        let text = text.replace(".func c()\n{\n}", ".func c()\n{\n\tcall.uni b, ();\n}");
        assert!(is_unknown(&text, "k"));
    }
}

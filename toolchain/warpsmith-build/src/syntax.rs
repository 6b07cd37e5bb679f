//! What several readers of PTX need to know of its lines.

/// Returns the name in `(.param .b32 result) name(` or `name(`, the text after `.func`.
pub fn function_name(rest: &str) -> &str {
    let rest = rest.trim_start();
    let rest = if rest.starts_with('(') { rest.split_once(')').map_or("", |(_, r)| r) } else { rest };
    rest.trim_start().split(|c: char| !(c.is_alphanumeric() || "_$%.".contains(c))).next().unwrap_or("")
}

/// Returns whether a line names a source file or a line of it.
pub fn is_of_lines(code: &str) -> bool {
    [".loc", ".file"].contains(&code.split_whitespace().next().unwrap_or(""))
}

//! The parameters of a kernel: what its text declares, against what a launch passes.
//!
//! The kernel's file is compiled twice. Where the two do not see the same source, because of a feature or another `cfg`, the driver
//! would read as many bytes as the kernel on the device takes, from arguments that are shorter, or take a float for an integer. So the
//! types are compared, as [`Shape`](crate::shape::Shape) describes them, and the sizes: those of kernels that were written without
//! `#[kernel]`, too.

use core::fmt;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// A parameter, as it lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub bytes: usize,
    pub align: usize,
}

impl Parameter {
    pub fn of<T>() -> Self {
        Parameter { bytes: size_of::<T>(), align: align_of::<T>() }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes aligned to {}", self.bytes, self.align)
    }
}

/// Returns the parameters that a text declares for a kernel; `None` if they cannot be read.
pub(crate) fn declared(text: &str, kernel: &str) -> Option<Vec<Parameter>> {
    let mut rest = text;
    loop {
        let (_, after) = rest.split_once(".entry")?;
        rest = after;
        // The whole name, and not one that begins with it.
        let Some(after) = after.trim_start().strip_prefix(kernel) else { continue };
        let after = after.trim_start();
        match after.strip_prefix('(') {
            Some(list) => {
                let (list, _) = list.split_once(')')?;
                let list = list.split(',').map(str::trim).filter(|one| !one.is_empty());
                return list.map(parameter).collect();
            }
            None if after.starts_with('{') => return Some(Vec::new()),
            None => {}
        }
    }
}

/// Returns the types of the parameters that a text names for its kernel; `None` if it names none.
pub(crate) fn types(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.trim_start().strip_prefix("// parameters:")).map(str::trim)
}

/// Says how the types of a kernel's parameters differ, if they do.
pub(crate) fn other_types(declared: &str, passed: &str) -> Option<String> {
    (declared != passed)
        .then(|| format!("its parameters on the device are ({declared}), and the host passes ({passed})"))
}

/// Reads one declaration, such as `.param .u64 .ptr .align 4 name` or `.param .align 4 .b8 name[16]`.
fn parameter(declaration: &str) -> Option<Parameter> {
    let mut words = declaration.split_whitespace();
    if words.next()? != ".param" {
        return None;
    }
    let (mut bytes, mut align, mut is_pointer) = (None, None, false);
    while let Some(word) = words.next() {
        match word.strip_prefix('.') {
            // The alignment of what a pointer points to is not its own.
            Some("ptr") => is_pointer = true,
            Some("align") => {
                let named = words.next()?.parse().ok()?;
                align = align.or((!is_pointer).then_some(named));
            }
            Some(kind) => {
                let bits =
                    kind.strip_prefix(['b', 'u', 's', 'f']).and_then(|bits| bits.parse::<usize>().ok());
                bytes = bytes.or(bits.map(|bits| bits / 8));
            }
            None => {
                let bytes = bytes?;
                let count = match word.split_once('[') {
                    Some((_, count)) => count.strip_suffix(']')?.parse().ok()?,
                    None => 1,
                };
                return Some(Parameter { bytes: bytes * count, align: align.unwrap_or(bytes) });
            }
        }
    }
    None
}

/// Says how the two differ, if they do.
pub(crate) fn difference(declared: &[Parameter], passed: &[Parameter]) -> Option<String> {
    if declared.len() != passed.len() {
        let (declared, passed) = (declared.len(), passed.len());
        return Some(format!("it takes {declared} parameters in PTX, and the launch passes {passed}"));
    }
    let mut pairs = declared.iter().zip(passed).enumerate();
    let (at, (declared, passed)) = pairs.find(|(_, (declared, passed))| declared != passed)?;
    let at = (at + 1).to_string();
    Some(format!("its parameter {at} in PTX has {declared}, and the launch passes {passed}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    const TEXT: &str = ".version 8.0
.visible .entry scale_f32_twice(
\t.param .f64 scale_f32_twice_param_0
)
{
}
.visible .entry scale_f32(
\t.param .f32 scale_f32_param_0,
\t.param .u64 .ptr .align 1 scale_f32_param_1,
\t.param .u64 scale_f32_param_2,
\t.param .align 4 .b8 scale_f32_param_3[16],
\t.param .u8 scale_f32_param_4,
\t.param .u64 .ptr .global .align 16 scale_f32_param_5
)
.maxntid 128
{
}
.visible .entry nothing()
{
}
";

    fn one(bytes: usize, align: usize) -> Parameter {
        Parameter { bytes, align }
    }

    #[test]
    fn a_text_says_what_its_kernels_take() {
        let expected = vec![one(4, 4), one(8, 8), one(8, 8), one(16, 4), one(1, 1), one(8, 8)];
        assert_eq!(declared(TEXT, "scale_f32"), Some(expected));
        assert_eq!(declared(TEXT, "scale_f32_twice"), Some(vec![one(8, 8)]));
        assert_eq!(declared(TEXT, "nothing"), Some(vec![]));
        assert_eq!(declared(TEXT, "scale"), None);
        assert_eq!(declared(".entry k(\n.param .texref t\n)", "k"), None);
    }

    #[test]
    fn a_text_names_the_types() {
        let text = TEXT.replace(
            "{\n}\n.visible .entry nothing",
            "{\n\t// parameters: f32, &[u8]\n}\n.visible .entry nothing",
        );
        assert_eq!(types(&text), Some("f32, &[u8]"));
        assert_eq!(types(TEXT), None);
        assert_eq!(other_types("f32, &[u8]", "f32, &[u8]"), None);
        let text = other_types("f32, &[u8]", "u32, &[u8]").unwrap();
        assert!(text.contains("(f32, &[u8])") && text.contains("(u32, &[u8])"), "{text}");
        assert_eq!(types("{\n\t// parameters: \n"), Some(""));
    }

    #[test]
    fn what_the_host_passes_is_compared() {
        #[allow(dead_code)]
        #[repr(C)]
        struct Body([f32; 4]);
        let (host, device) =
            ([Parameter::of::<f64>(), Parameter::of::<u64>()], [one(4, 4), Parameter::of::<u64>()]);
        assert_eq!(difference(&host, &host), None);
        assert_eq!(difference(&[one(16, 4)], &[Parameter::of::<Body>()]), None);
        let text = difference(&device, &host).unwrap();
        assert!(
            text.contains("parameter 1") && text.contains("4 bytes") && text.contains("8 bytes"),
            "{text}"
        );
        let text = difference(&device, &host[..1]).unwrap();
        assert!(text.contains("takes 2") && text.contains("passes 1"), "{text}");
        // The same number of bytes, and another type.
        assert!(difference(&[one(16, 4)], &[one(16, 8)]).is_some());
    }
}

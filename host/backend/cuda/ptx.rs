//! The embedded PTX as text: which kernels it holds, and one kernel's part of it.
//!
//! The driver compiles what it is given. Giving it only the kernels of a run, instead of all, is what keeps
//! start-up short.

const ENTRY: &str = ".visible .entry ";

/// The names of all kernels in a PTX text, in order.
pub fn entries(ptx: &str) -> impl Iterator<Item = &str> {
    ptx.lines().filter_map(|l| l.strip_prefix(ENTRY)?.split('(').next())
}

/// The text with one kernel only and everything that belongs to no kernel; `None` if it has no such kernel.
pub fn only(ptx: &str, name: &str) -> Option<String> {
    let mut text = String::new();
    let (mut inside_other, mut found) = (false, false);
    for line in ptx.lines() {
        if let Some(rest) = line.strip_prefix(ENTRY) {
            let wanted = rest.split('(').next() == Some(name);
            found |= wanted;
            inside_other = !wanted;
        }
        if !inside_other {
            text.push_str(line);
            text.push('\n');
        }
        if line == "}" {
            inside_other = false;
        }
    }
    found.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = ".version 7.0\n.extern .shared .b8 s[];\n.visible .entry a(\n\t.param .u64 p\n)\n{\n\tret;\n}\n\
                        .global .b8 table[4];\n.visible .entry ab()\n{\n\t{\n\tret;\n\t}\n}\n";

    #[test]
    fn one_kernel_keeps_what_is_common() {
        assert_eq!(entries(TEXT).collect::<Vec<_>>(), ["a", "ab"]);
        let a = only(TEXT, "a").unwrap();
        assert!(
            a.contains(".version") && a.contains("table") && a.contains(".entry a(") && !a.contains("ab(")
        );
        let ab = only(TEXT, "ab").unwrap();
        assert!(ab.contains(".entry ab()\n{\n\t{\n\tret;\n\t}\n}\n") && !ab.contains(".entry a("));
        assert_eq!(only(TEXT, "b"), None);
    }
}

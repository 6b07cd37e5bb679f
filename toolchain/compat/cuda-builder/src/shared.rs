//! Declares the variables in shared memory.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What precedes a variable's name, alignment and size in the comment that `cuda_std` leaves where it takes the address.
const MARK: &str = "//@shared ";

/// The last line of a PTX file's head.
const HEAD: &str = ".address_size 64\n";

/// Adds the declarations after the head. A variable whose address is taken in several places is declared once.
pub fn declare(ptx: &str) -> String {
    let variables: BTreeSet<&str> = ptx.lines().filter_map(|line| line.trim().strip_prefix(MARK)).collect();
    let mut declarations = String::new();
    for variable in variables {
        let mut parts = variable.split_whitespace();
        if let (Some(name), Some(align), Some(size)) = (parts.next(), parts.next(), parts.next()) {
            // Writing to a String cannot fail.
            let _ = writeln!(declarations, ".shared .align {align} .b8 {name}[{size}];");
        }
    }
    ptx.replacen(HEAD, &format!("{HEAD}{declarations}"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_declared_once() {
        let ptx = ".version 7.0\n.target sm_70\n.address_size 64\n\n\t//@shared A_1 4 64\n\t//@shared B 8 16\n//@shared A_1 4 64\n";
        let declared = declare(ptx);
        let head = ".address_size 64\n.shared .align 4 .b8 A_1[64];\n.shared .align 8 .b8 B[16];\n\n";
        assert!(declared.contains(head), "{declared}");
        assert_eq!(declare(".address_size 64\n"), ".address_size 64\n");
    }
}

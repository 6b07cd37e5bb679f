//! Writes certificates.

use std::io::{self, Write};

use super::parts::{Certificate, Node, Question};
use crate::Family;
use crate::duals::{Duals, UNIT_BITS};

impl Certificate {
    /// Writes the certificate as text, one record a line.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "antwarp certificate 1")?;
        writeln!(out, "instance {:016x}", self.fingerprint)?;
        writeln!(out, "nodes {}", self.tour.len())?;
        writeln!(out, "unit {}", 1_u64 << UNIT_BITS)?;
        writeln!(out, "cost {}", self.cost)?;
        write!(out, "tour")?;
        self.tour.iter().try_for_each(|node| write!(out, " {node}"))?;
        writeln!(out, "\nbound {}", self.bound)?;
        for (cut, right_side) in &self.cuts {
            write!(out, "{} {right_side}", name(cut.family()))?;
            for set in cut.sets() {
                write!(out, " |")?;
                write_set(out, set)?;
            }
            writeln!(out)?;
        }
        for node in &self.nodes {
            match node {
                Node::Reduce(by) => write_duals(out, "reduce", by)?,
                Node::Leaf(by) => write_duals(out, "leaf", by)?,
                Node::Branch(Question::Edge(a, b)) => writeln!(out, "edge {a} {b}")?,
                Node::Branch(Question::Set(set)) => {
                    write!(out, "set")?;
                    write_set(out, set)?;
                    writeln!(out)?;
                }
            }
        }
        writeln!(out, "end")
    }
}

/// Returns the word with which a cut's record begins.
pub fn name(family: Family) -> &'static str {
    match family {
        Family::Subtour => "subtour",
        Family::Comb => "comb",
        Family::Hypergraph => "hypergraph",
    }
}

/// Writes a sorted set; consecutive nodes as a range.
fn write_set(out: &mut dyn Write, set: &[u32]) -> io::Result<()> {
    for run in set.chunk_by(|&a, &b| a.checked_add(1) == Some(b)) {
        match run {
            [node] => write!(out, " {node}")?,
            [first, .., last] => write!(out, " {first}-{last}")?,
            [] => {}
        }
    }
    Ok(())
}

fn write_duals(out: &mut dyn Write, word: &str, by: &Duals) -> io::Result<()> {
    write!(out, "{word}")?;
    by.nodes.iter().try_for_each(|dual| write!(out, " {dual}"))?;
    for sparse in [&by.cuts, &by.branches] {
        write!(out, " |")?;
        sparse.iter().try_for_each(|(number, dual)| write!(out, " {number}:{dual}"))?;
    }
    writeln!(out)
}

//! Reads certificates.

use std::path::Path;

use antwarp_instance::source::{self, Room};
use antwarp_instance::{InstanceError, Result, Text};

use super::parts::{Certificate, Node, Question};
use crate::duals::{Duals, UNIT_BITS};
use crate::{Cut, Family};

/// Maximum number of bytes of a certificate.
const MOST: u64 = 1 << 33;

/// Reads a certificate from a file, which may be compressed by gzip.
///
/// # Errors
/// If the file cannot be read, has more than 8 GiB, or is no certificate, with the line.
pub fn read(path: &Path) -> Result<Certificate> {
    let bytes = source::load(path, |_| Room::bytes(MOST, "a certificate"))?;
    parse(&source::shown(path), &bytes)
}

/// Reads a certificate from the bytes of a file, which is named in errors.
///
/// What it proves is not checked here.
///
/// # Errors
/// If it is no certificate, with the line.
pub fn parse(file: &str, bytes: &[u8]) -> Result<Certificate> {
    let mut reader = Reader { text: Text { file, bytes }, at: 0, n: 0 };
    let first = reader.next("`antwarp certificate 1`")?;
    if first.word != "antwarp" || first.rest != "certificate 1" {
        return Err(reader.wrong(first.line, "this is no certificate of version 1"));
    }
    let instance = reader.expect("instance")?;
    let fingerprint = u64::from_str_radix(instance.rest, 16)
        .map_err(|_| reader.wrong(instance.rest, "this is no fingerprint: 16 hexadecimal digits"))?;
    let nodes = reader.expect("nodes")?;
    let n: usize = reader.number(nodes.rest)?;
    reader.n = n;
    let unit = reader.expect("unit")?;
    if reader.number::<u64>(unit.rest)? != 1 << UNIT_BITS {
        return Err(reader.wrong(unit.rest, &format!("the unit of version 1 is {}", 1 << UNIT_BITS)));
    }
    let cost = reader.expect("cost")?;
    let cost = reader.number(cost.rest)?;
    let tour = reader.expect("tour")?;
    let line = tour.line;
    let tour: Vec<u32> = reader.numbers(tour.rest)?;
    if tour.len() != n {
        return Err(reader.wrong(line, &format!("the tour has {} nodes, not {n}", tour.len())));
    }
    let bound = reader.expect("bound")?;
    let bound = reader.number(bound.rest)?;
    let (mut cuts, mut nodes) = (Vec::new(), Vec::new());
    loop {
        let record = reader.next("`end`")?;
        let node = match record.word {
            "subtour" | "comb" | "hypergraph" if nodes.is_empty() => {
                cuts.push(reader.cut(&record)?);
                continue;
            }
            "subtour" | "comb" | "hypergraph" => {
                return Err(reader.wrong(record.line, "cuts come before the tree"));
            }
            "reduce" => Node::Reduce(reader.duals(&record)?),
            "leaf" => Node::Leaf(reader.duals(&record)?),
            "edge" => match reader.numbers(record.rest)?[..] {
                [a, b] => Node::Branch(Question::Edge(a, b)),
                _ => return Err(reader.wrong(record.line, "an edge has two nodes")),
            },
            "set" => Node::Branch(Question::Set(reader.set(record.rest)?.into())),
            "end" if record.rest.is_empty() => break,
            _ => return Err(reader.wrong(record.word, "there is no such record")),
        };
        nodes.push(node);
    }
    match reader.next_record()? {
        None => Ok(Certificate { fingerprint, tour, cost, bound, cuts, nodes }),
        Some(record) => Err(reader.wrong(record.line, "the file continues after its end")),
    }
}

/// A line: its first word, and what follows.
struct Record<'a> {
    line: &'a str,
    word: &'a str,
    rest: &'a str,
}

struct Reader<'a> {
    text: Text<'a>,
    at: usize,
    /// The number of nodes, once it is known.
    n: usize,
}

impl<'a> Reader<'a> {
    /// Creates the error that a part of the text is wrong.
    fn wrong(&self, part: &str, problem: &str) -> InstanceError {
        let start = part.as_ptr() as usize - self.text.bytes.as_ptr() as usize;
        self.wrong_at(start, part.len(), problem)
    }

    fn wrong_at(&self, start: usize, length: usize, problem: &str) -> InstanceError {
        let help = "copy the certificate again, or write it again with `solve --certificate`";
        self.text.error(start, length, problem, help)
    }

    /// Returns the next line that is neither blank nor a comment.
    fn next_record(&mut self) -> Result<Option<Record<'a>>> {
        while self.at < self.text.bytes.len() {
            let rest = &self.text.bytes[self.at..];
            let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
            let start = self.at;
            self.at += length + 1;
            let line = std::str::from_utf8(&rest[..length])
                .map_err(|error| self.wrong_at(start + error.valid_up_to(), 1, "this is no text"))?
                .trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (word, rest) = line.split_at(line.find(' ').unwrap_or(line.len()));
            return Ok(Some(Record { line, word, rest: rest.trim_start() }));
        }
        Ok(None)
    }

    fn next(&mut self, what: &str) -> Result<Record<'a>> {
        let record = self.next_record()?;
        record.ok_or_else(|| {
            let problem = format!("the file is cut off: {what} is missing");
            self.wrong_at(self.text.bytes.trim_ascii_end().len(), 0, &problem)
        })
    }

    fn expect(&mut self, word: &str) -> Result<Record<'a>> {
        let record = self.next(&format!("`{word}`"))?;
        if record.word != word {
            return Err(self.wrong(record.word, &format!("`{word}` is missing before this")));
        }
        Ok(record)
    }

    fn number<T: std::str::FromStr>(&self, word: &str) -> Result<T> {
        word.parse().map_err(|_| self.wrong(word, "this is no whole number in range"))
    }

    fn numbers<T: std::str::FromStr>(&self, words: &str) -> Result<Vec<T>> {
        words.split_ascii_whitespace().map(|word| self.number(word)).collect()
    }

    /// Reads a set: ascending nodes, and ranges such as `3-7`.
    fn set(&self, words: &str) -> Result<Vec<u32>> {
        let mut set: Vec<u32> = Vec::new();
        for word in words.split_ascii_whitespace() {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            let (first, last) = (self.number(first)?, self.number(last)?);
            if first > last || set.last().is_some_and(|&before| before >= first) {
                return Err(self.wrong(word, "the nodes of a set are not in ascending order"));
            }
            // Also because a short range could stand for any number of nodes.
            if last as usize >= self.n {
                return Err(self.wrong(word, &format!("there are {} nodes, from 0 on", self.n)));
            }
            set.extend(first..=last);
        }
        Ok(set)
    }

    fn cut(&self, record: &Record<'a>) -> Result<(Cut, i64)> {
        let mut parts = record.rest.split('|');
        let right_side = self.number(parts.next().unwrap_or_default().trim())?;
        let mut sets = parts.map(|part| self.set(part)).collect::<Result<Vec<_>>>()?;
        if sets.is_empty() || record.word == "subtour" && sets.len() > 1 {
            return Err(self.wrong(record.line, "a subtour has one set, a comb a handle and teeth"));
        }
        if record.word == "hypergraph" {
            let cut = Cut::from_sets(Family::Hypergraph, sets, self.n);
            let cut = cut.map_err(|error| self.wrong(record.line, &error.to_string()))?;
            return Ok((cut, right_side));
        }
        let first = sets.remove(0);
        let cut = if record.word == "subtour" { Cut::subtour(first) } else { Cut::comb(first, sets) };
        Ok((cut, right_side))
    }

    fn duals(&self, record: &Record<'a>) -> Result<Duals> {
        let n = self.n;
        let parts: Vec<&str> = record.rest.split('|').collect();
        let [nodes, cuts, sets] = parts[..] else {
            return Err(self.wrong(record.line, "dual values have three parts: nodes | cuts | sets"));
        };
        let nodes = self.numbers(nodes)?;
        if nodes.len() != n {
            return Err(self.wrong(record.line, &format!("{} nodes have dual values, not {n}", nodes.len())));
        }
        Ok(Duals { nodes, cuts: self.sparse(cuts)?, branches: self.sparse(sets)? })
    }

    /// Reads numbers of cuts or sets with their dual values.
    fn sparse(&self, words: &str) -> Result<Vec<(usize, i64)>> {
        let dual = |word: &str| {
            let (number, dual) = word
                .split_once(':')
                .ok_or_else(|| self.wrong(word, "this is no number of a cut or set, colon and dual value"))?;
            Ok((self.number(number)?, self.number(dual)?))
        };
        words.split_ascii_whitespace().map(dual).collect()
    }
}

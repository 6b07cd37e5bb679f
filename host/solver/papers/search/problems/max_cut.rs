//! Maximum cut: put the nodes of a weighted graph on two sides, so that edges between the sides weigh as much as possible.

use std::path::Path;

use antwarp_core::papers::problem::Shape;

use super::of_words;
use crate::engine::Tables;
use crate::instance::{InstanceError, Result, Room, Text, generate, numbers};
use crate::memory;

/// Most nodes, and most edges.
const MOST_NODES: u32 = 1 << 24;
const MOST_EDGES: u32 = 1 << 30;

/// Limit of the sum of the absolute weights of a node's edges: twice as much fits 32 bits.
const WEIGHT_LIMIT: i64 = 1 << 30;

const LAYOUT: &str = "a graph is its numbers of nodes and of edges, and for each edge two different nodes, from 1, and a weight, \
    all whole numbers with blanks between them";

/// A weighted graph. A solution has one byte for each node: its side, 0 or 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaxCut {
    /// Its name: that of its file up to the first point, or how it was generated.
    pub name: String,
    /// Number of nodes, 1 to 2^24.
    pub nodes: u32,
    /// The edges: two nodes, numbered from 0, the smaller one first, and a weight; in ascending order, each pair of nodes
    /// at most once.
    pub edges: Vec<(u32, u32, i32)>,
}

impl MaxCut {
    /// Reads a graph from a file, which may be compressed by gzip, in the format of Rinaldi's generator rudy, which the
    /// G-set uses. Edges between the same two nodes become one, whose weight is their sum.
    ///
    /// # Errors
    /// If the file cannot be read or is not in this format, or if the graph or its weights are too large.
    pub fn open(path: &Path) -> Result<MaxCut> {
        let bytes = numbers::load(
            path,
            "give the path of a graph: nodes, edges, and two nodes and a weight an edge",
            |numbers| {
                let edges = numbers.get(1).copied().unwrap_or(0).min(u64::from(MOST_EDGES));
                // Each number of an edge has two bytes of text at least, and four in the graph.
                Room::numbers(3 * edges + 2, format!("a graph of {edges} edges")).in_memory(3 * edges * 6)
            },
        )?;
        parse(&path.to_string_lossy(), &crate::instance::source::stem(path), &bytes)
    }

    /// Generates a graph of edges of weight 1 between random pairs of `nodes` nodes, with `degree` edges at a node on
    /// average; duplicates are removed. A seed gives the same graph everywhere.
    ///
    /// # Errors
    /// If `nodes` is not 2 to 2^24, if `degree` is not below it, or if the graph is too large.
    pub fn random(nodes: u32, degree: u32, seed: u64) -> Result<MaxCut> {
        let name = format!("max-cut-{nodes}-{degree}-s{seed}");
        let count = u64::from(nodes) * u64::from(degree) / 2;
        if !(2..=MOST_NODES).contains(&nodes) || degree >= nodes || count > u64::from(MOST_EDGES) {
            let problem = format!("there is no graph of {nodes} nodes of degree {degree}");
            let help = format!(
                "ask for 2 to {MOST_NODES} nodes, for a smaller degree than that, and for 2^30 edges at most"
            );
            return Err(InstanceError::content(name, problem, help));
        }
        let needed = bytes_of_edges(count) + bytes_of_tables(nodes, count);
        memory::check(needed).map_err(|shortage| {
            InstanceError::content(&*name, format!("no room: {shortage}"), "ask for a smaller one")
        })?;
        let draws = generate::stream(*b"max-cut ", seed, 0).step(0);
        let edge = |i: u32| {
            let a = draws.below(2 * i, nodes);
            let b = (a + 1 + draws.below(2 * i + 1, nodes - 1)) % nodes;
            (a.min(b), a.max(b), 1)
        };
        let mut edges: Vec<_> = (0..count as u32).map(edge).collect();
        edges.sort_unstable();
        edges.dedup();
        Ok(MaxCut { name, nodes, edges })
    }

    /// Returns the weight of the edges between the sides.
    ///
    /// # Panics
    /// If the solution does not have one side for each node.
    pub fn cut(&self, sides: &[u8]) -> i64 {
        assert_eq!(sides.len(), self.nodes as usize, "one side a node");
        let cut = self.edges.iter().filter(|&&(a, b, _)| sides[a as usize] != sides[b as usize]);
        cut.map(|&(_, _, weight)| i64::from(weight)).sum()
    }
}

/// Returns the bytes of a graph's edges.
fn bytes_of_edges(edges: u64) -> u64 {
    edges * size_of::<(u32, u32, i32)>() as u64
}

/// Returns the bytes needed to lay out a graph: meanwhile there are four numbers for each node, and three copies of both
/// directions of an edge.
pub(super) fn bytes_of_tables(nodes: u32, edges: u64) -> u64 {
    16 * u64::from(nodes) + 3 * 16 * edges
}

/// Reads a graph from the bytes of a file; `file` is its name in errors.
///
/// # Errors
/// As [`MaxCut::open`], except for errors of reading.
pub fn parse(file: &str, name: &str, bytes: &[u8]) -> Result<MaxCut> {
    let text = Text { file, bytes };
    let mut words = numbers::words(text);
    let mut number = |what: &str, least: i64, most: i64| {
        let Some(word) = words.next() else {
            return Err(text.content(format!("the file ends where {what} should be"), LAYOUT));
        };
        let number = numbers::whole_number(text, word).filter(|number| (least..=most).contains(number));
        number.map(|number| (number, word)).ok_or_else(|| {
            let problem = format!("`{}` is not {what}, from {least} to {most}", text.show(word));
            text.error_at(word, problem, LAYOUT)
        })
    };
    let nodes = number("the number of nodes", 1, MOST_NODES.into())?.0;
    let count = number("the number of edges", 0, MOST_EDGES.into())?.0;
    let (mut edges, mut weights) = (Vec::new(), vec![0; nodes as usize]);
    for _ in 0..count {
        let [a, (b, at)] = [number("a node", 1, nodes)?, number("a node", 1, nodes)?];
        let (weight, heavy) = number("a weight", 1 - WEIGHT_LIMIT, WEIGHT_LIMIT - 1)?;
        let ends = [a.0, b].map(|node| node as u32 - 1);
        if ends[0] == ends[1] {
            return Err(text.error_at(at, format!("an edge leads from node {b} to itself"), LAYOUT));
        }
        for end in ends {
            weights[end as usize] += weight.abs();
            if weights[end as usize] >= WEIGHT_LIMIT {
                let problem = format!("the edges of node {} weigh {WEIGHT_LIMIT} or more", end + 1);
                return Err(text.error_at(heavy, problem, "divide all weights by a common factor"));
            }
        }
        edges.push((ends[0].min(ends[1]), ends[0].max(ends[1]), weight as i32));
    }
    if let Some(word) = words.next() {
        let problem = format!("`{}` stands behind the last of {count} edges", text.show(word));
        return Err(text.error_at(word, problem, LAYOUT));
    }
    edges.sort_unstable();
    edges.dedup_by(|next, kept| {
        let same = (next.0, next.1) == (kept.0, kept.1);
        kept.2 += if same { next.2 } else { 0 };
        same
    });
    Ok(MaxCut { name: name.to_owned(), nodes: nodes as u32, edges })
}

impl MaxCut {
    /// Returns the tables for [`antwarp_core::papers::problem::MaxCut`].
    pub fn tables(&self) -> Tables {
        let mut starts = vec![0u32; self.nodes as usize + 1];
        for &(a, b, _) in &self.edges {
            starts[a as usize + 1] += 1;
            starts[b as usize + 1] += 1;
        }
        for node in 1..starts.len() {
            starts[node] += starts[node - 1];
        }
        // The words of core's `Edge`: the other node, and the weight.
        let (mut next, mut edges) = (starts.clone(), vec![[0u32; 2]; 2 * self.edges.len()]);
        for &(a, b, weight) in &self.edges {
            for (from, to) in [(a, b), (b, a)] {
                let at = &mut next[from as usize];
                edges[*at as usize] = [to, weight as u32];
                *at += 1;
            }
        }
        let shape = Shape { sizes: [self.nodes, 0, 0, 0], ..Shape::default() };
        Tables::new(shape, &[&of_words(&starts), &of_words(edges.as_flattened())])
    }
}

//! What a certificate consists of.

use std::sync::Arc;

use crate::{Cut, Duals};

/// What divides the tours of a node of the tree into two parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Whether they use the edge between two nodes, in any order.
    Edge(u32, u32),
    /// Whether they cross the border of a set of nodes, sorted, twice; or at least four times, since the number is even.
    Set(Arc<[u32]>),
}

impl Question {
    /// Returns the two answers, in the order of the children.
    pub fn answers(&self) -> [Answer; 2] {
        match self {
            &Question::Edge(a, b) => [true, false].map(|used| Answer::Edge { a, b, used }),
            Question::Set(set) => [true, false].map(|two| Answer::Set { set: set.clone(), two }),
        }
    }
}

/// What the tours of a child have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// They all use the edge between `a` and `b`, or none of them does.
    Edge {
        /// One end.
        a: u32,
        /// The other end.
        b: u32,
        /// Whether they use it.
        used: bool,
    },
    /// They cross the border of a set exactly twice, or at least four times.
    Set {
        /// The nodes, sorted.
        set: Arc<[u32]>,
        /// Whether exactly twice.
        two: bool,
    },
}

/// A record of a tree in preorder: a node, or what comes before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Before a node: dual values by which edges are in none, or in all, of the tours below this node that would be better. All
    /// records of its subtree make use of that.
    Reduce(Duals),
    /// A node with two children, which follow: all of the first one's subtree, then all of the second one's.
    Branch(Question),
    /// A node without children, and the dual values that prove its bound.
    Leaf(Duals),
}

/// A proof that no tour costs less than `bound`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The [fingerprint](antwarp_instance::Instance::fingerprint) of the closed instance.
    pub fingerprint: u64,
    /// A tour of the closed instance.
    pub tour: Vec<u32>,
    /// The internal cost of the tour.
    pub cost: i64,
    /// No tour has a lower internal cost. If it is `cost`, the tour is the shortest one.
    pub bound: i64,
    /// The cuts, each with its right side.
    pub cuts: Vec<(Cut, i64)>,
    /// The tree in preorder.
    pub nodes: Vec<Node>,
}

/// A tree that is built in any order.
#[derive(Clone, Debug)]
pub struct Tree {
    places: Vec<Place>,
}

#[derive(Clone, Debug, Default)]
struct Place {
    reductions: Vec<Duals>,
    end: Option<End>,
}

#[derive(Clone, Debug)]
enum End {
    Divided(Question, [usize; 2]),
    Closed(Duals),
}

impl Tree {
    /// The number of the root of the tree.
    pub const ROOT: usize = 0;

    /// Begins with the root alone, which is open.
    pub fn new() -> Tree {
        Tree { places: vec![Place::default()] }
    }

    /// Excludes and fixes edges in the subtree of an open node by these dual values.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn reduce(&mut self, node: usize, by: Duals) {
        self.places[node].reductions.push(by);
    }

    /// Divides an open node. Returns its children's numbers, in the order of [`Question::answers`].
    ///
    /// # Panics
    /// If there is no such node.
    pub fn divide(&mut self, node: usize, question: Question) -> [usize; 2] {
        let first = self.places.len();
        self.places.resize(first + 2, Place::default());
        self.places[node].end = Some(End::Divided(question, [first, first + 1]));
        [first, first + 1]
    }

    /// Closes an open node by dual values that prove its bound.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn close(&mut self, node: usize, by: Duals) {
        self.places[node].end = Some(End::Closed(by));
    }

    /// Returns the tree in preorder; `None` if a node is still open.
    pub fn into_nodes(mut self) -> Option<Vec<Node>> {
        let mut nodes = Vec::with_capacity(self.places.len());
        let mut next = vec![Tree::ROOT];
        while let Some(at) = next.pop() {
            let Place { reductions, end } = std::mem::take(&mut self.places[at]);
            nodes.extend(reductions.into_iter().map(Node::Reduce));
            match end? {
                End::Divided(question, [first, second]) => {
                    nodes.push(Node::Branch(question));
                    next.extend([second, first]);
                }
                End::Closed(by) => nodes.push(Node::Leaf(by)),
            }
        }
        Some(nodes)
    }
}

impl Default for Tree {
    fn default() -> Tree {
        Tree::new()
    }
}

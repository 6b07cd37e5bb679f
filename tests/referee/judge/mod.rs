//! A judge of instances and tours. It reads files itself and computes with plain numbers, from the definitions alone: nothing here
//! is antwarp's.

pub mod metric;
pub mod proof;
pub mod shape;
pub mod tour;
pub mod tsplib;

use std::collections::HashMap;

tests! {
    dynamic_programming_finds_what_all_orders_have,
    what_is_no_tour_has_no_length,
}

/// How far it is from node to node.
#[derive(Clone, Debug)]
pub enum Weights {
    /// By a TSPLIB function of places.
    Places(String, Vec<[f64; 3]>),
    /// By a matrix, row by row.
    Matrix(Vec<Vec<i64>>),
}

/// An instance as its file says. Nodes are positions; the file's own numbers are `ids`.
#[derive(Clone, Debug)]
pub struct Instance {
    pub ids: Vec<i64>,
    pub weights: Weights,
    /// Edges that a tour has to use, by the file's own numbers.
    pub fixed: Vec<(i64, i64)>,
    /// Whether these have a direction.
    pub is_directed: bool,
}

impl Instance {
    /// Nodes that are numbered from 1.
    pub fn numbered(n: usize, weights: Weights) -> Instance {
        Instance { ids: (1..=n as i64).collect(), weights, fixed: Vec::new(), is_directed: false }
    }

    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// How far it is from a node to another one.
    pub fn weight(&self, from: usize, to: usize) -> i64 {
        match &self.weights {
            Weights::Places(metric, places) => metric::weight(metric, places[from], places[to]),
            Weights::Matrix(rows) => rows[from][to],
        }
    }

    pub fn is_symmetric(&self) -> bool {
        (0..self.len()).all(|i| (0..i).all(|j| self.weight(i, j) == self.weight(j, i)))
    }

    /// The position of each of the file's numbers.
    pub fn positions(&self) -> HashMap<i64, usize> {
        self.ids.iter().copied().zip(0..).collect()
    }

    /// The length of a closed tour, given by the file's own numbers, or why it is none.
    pub fn length(&self, tour: &[i64]) -> Result<i64, String> {
        let positions = self.positions();
        let mut visits = vec![0; self.len()];
        let mut way = Vec::new();
        for id in tour {
            let &at = positions.get(id).ok_or_else(|| format!("there is no node {id}"))?;
            visits[at] += 1;
            way.push(at);
        }
        if let Some(at) = visits.iter().position(|&count| count != 1) {
            return Err(format!("node {} is visited {} times", self.ids[at], visits[at]));
        }
        let n = way.len();
        let steps = |from: i64, to: i64| (0..n).any(|i| (tour[i], tour[(i + 1) % n]) == (from, to));
        match self.fixed.iter().find(|&&(a, b)| !steps(a, b) && (self.is_directed || !steps(b, a))) {
            Some(edge) => Err(format!("the fixed edge {edge:?} is not used")),
            // A single node has no edge to go.
            None if n == 1 => Ok(0),
            None => Ok((0..n).map(|i| self.weight(way[i], way[(i + 1) % n])).sum()),
        }
    }

    /// The length of a shortest tour, by dynamic programming over sets of nodes (Held and Karp 1962; Bellman 1962).
    pub fn optimum(&self) -> i64 {
        let n = self.len();
        if n == 1 {
            return 0;
        }
        assert!(n <= 16, "{n} nodes have too many sets");
        // The least length of a way from node 0 through all nodes of a set, node 0 among them, that ends at one of them.
        let mut least = vec![vec![i64::MAX; n]; 1 << n];
        least[1][0] = 0;
        for set in 1..1usize << n {
            for last in (0..n).filter(|&last| set >> last & 1 == 1) {
                let so_far = least[set][last];
                if so_far == i64::MAX {
                    continue;
                }
                for next in (0..n).filter(|&next| set >> next & 1 == 0) {
                    let best = &mut least[set | 1 << next][next];
                    *best = (*best).min(so_far + self.weight(last, next));
                }
            }
        }
        let all = least.pop().unwrap();
        (1..n).map(|last| all[last] + self.weight(last, 0)).min().unwrap()
    }
}

fn dynamic_programming_finds_what_all_orders_have() {
    fn shortest(judge: &Instance, tour: &mut Vec<i64>, at: usize) -> i64 {
        if at == tour.len() {
            return judge.length(tour).unwrap();
        }
        let tails = (at..tour.len()).map(|next| {
            tour.swap(at, next);
            let length = shortest(judge, tour, at + 1);
            tour.swap(at, next);
            length
        });
        tails.min().unwrap()
    }
    for seed in 0..50 {
        let mut draws = crate::draws::Draws::new(seed);
        let n = 2 + draws.below(6);
        let rows = (0..n).map(|_| (0..n).map(|_| draws.below(100) as i64).collect()).collect();
        let judge = Instance::numbered(n, Weights::Matrix(rows));
        assert_eq!(judge.optimum(), shortest(&judge, &mut judge.ids.clone(), 1), "{judge:?}");
    }
}

fn what_is_no_tour_has_no_length() {
    let rows = (0..4).map(|i| (0..4).map(|j| i * 10 + j).collect()).collect();
    let judge = Instance { fixed: vec![(2, 4)], ..Instance::numbered(4, Weights::Matrix(rows)) };
    assert_eq!(judge.length(&[1, 3, 2, 4]), Ok(2 + 21 + 13 + 30));
    assert!(judge.length(&[1, 2, 3, 4]).unwrap_err().contains("fixed edge (2, 4)"));
    assert!(judge.length(&[4, 2, 3, 1]).is_ok());
    let directed = Instance { is_directed: true, ..judge.clone() };
    assert!(directed.length(&[4, 2, 3, 1]).unwrap_err().contains("fixed edge (2, 4)"));
    assert!(judge.length(&[1, 2, 3]).unwrap_err().contains("node 4 is visited 0 times"));
    assert!(judge.length(&[1, 2, 3, 4, 2]).unwrap_err().contains("node 2 is visited 2 times"));
    assert!(judge.length(&[1, 2, 3, 5]).unwrap_err().contains("no node 5"));
}

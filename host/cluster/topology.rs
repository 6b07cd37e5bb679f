//! Which ranks a rank sends its tours to.

use serde::{Deserialize, Serialize};

/// Which ranks are neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Topology {
    /// The next rank.
    Ring,
    /// All others.
    #[default]
    All,
    /// The rank above and the two below.
    Tree,
}

impl Topology {
    /// Returns the ranks below `size` that a rank sends to, in ascending order and without the rank itself.
    pub fn neighbors(self, rank: u32, size: u32) -> Vec<u32> {
        let others =
            |ranks: Vec<u32>| ranks.into_iter().filter(|&other| other < size && other != rank).collect();
        match self {
            Topology::Ring => others(vec![(rank + 1) % size]),
            Topology::All => others((0..size).collect()),
            Topology::Tree => others([(rank.max(1) - 1) / 2, 2 * rank + 1, 2 * rank + 2].to_vec()),
        }
    }

    /// Returns its name, as on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Topology::Ring => "ring",
            Topology::All => "all",
            Topology::Tree => "tree",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_is_reached_from_every_other() {
        for topology in [Topology::Ring, Topology::All, Topology::Tree] {
            for size in 2..20 {
                for start in 0..size {
                    let (mut reached, mut at) = (vec![start], 0);
                    while at < reached.len() {
                        let next = topology.neighbors(reached[at], size);
                        assert!(!next.contains(&reached[at]));
                        let new: Vec<u32> = next.into_iter().filter(|rank| !reached.contains(rank)).collect();
                        reached.extend(new);
                        at += 1;
                    }
                    assert_eq!(reached.len() as u32, size, "{topology:?} from {start}");
                }
            }
        }
        assert_eq!(Topology::Ring.neighbors(3, 4), [0]);
        assert_eq!(Topology::All.neighbors(1, 4), [0, 2, 3]);
        assert_eq!(Topology::Tree.neighbors(0, 4), [1, 2]);
        assert_eq!(Topology::Tree.neighbors(1, 4), [0, 3]);
        assert_eq!(Topology::Tree.neighbors(3, 4), [1]);
    }
}

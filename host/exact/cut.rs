//! Cuts: inequalities that hold for every tour.

use std::sync::Arc;

use crate::atoms::{distances_of_atoms, shortest_tour};

/// What kind of inequality a cut is, which decides what its sets must be like and its right side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// One set of nodes, neither empty nor all of them: a tour crosses its border at least twice (Dantzig, Fulkerson and Johnson 1954).
    Subtour,
    /// A handle and an odd number of teeth, at least three, which are disjoint and each have nodes inside and outside of the handle: a
    /// tour crosses their borders at least 3 t + 1 times, with t the number of teeth (Grötschel and Padberg 1979). With teeth of two
    /// nodes it is a blossom.
    Comb,
    /// Any sets, each as often as it counts, that divide the nodes into at most 12 *atoms*: nodes of an atom are in the same sets. Between
    /// two atoms is the distance "how many sets have one of them". A tour visits all atoms, and the distances satisfy the triangle
    /// inequality, so its left side is at least the length of a shortest tour of the atoms. This is the right side, which dynamic
    /// programming finds (hypergraph inequalities: D. Applegate, R. Bixby, V. Chvátal, W. Cook, *TSP cuts which do not conform to the
    /// template paradigm*, 2001).
    Hypergraph,
}

impl Family {
    /// Returns how many of these cuts are of each family, in the order of families.
    pub(crate) fn count(cuts: &[Arc<Cut>]) -> [u64; 3] {
        let mut counts = [0; 3];
        cuts.iter().for_each(|cut| counts[cut.family as usize] += 1);
        counts
    }
}

/// An inequality `sum over the sets S of x(border of S) >= right side`. The border of a set is all edges with one end in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cut {
    family: Family,
    sets: Vec<Arc<[u32]>>,
    right_side: i64,
}

/// Why sets are not a cut of their family.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ShapeError(pub String);

impl Cut {
    /// Makes a subtour elimination inequality of a set of nodes, in any order. [`Cut::check_shape`] tells whether it is a cut.
    pub fn subtour(mut set: Vec<u32>) -> Cut {
        set.sort_unstable();
        Cut { family: Family::Subtour, sets: vec![set.into()], right_side: 2 }
    }

    /// Makes a comb of a handle and its teeth, in any order. [`Cut::check_shape`] tells whether it is a cut.
    pub fn comb(mut handle: Vec<u32>, mut teeth: Vec<Vec<u32>>) -> Cut {
        handle.sort_unstable();
        teeth.iter_mut().for_each(|tooth| tooth.sort_unstable());
        teeth.sort_unstable();
        let right_side = 3 * teeth.len() as i64 + 1;
        let teeth = teeth.into_iter().map(Into::into);
        let sets = [handle.into()].into_iter().chain(teeth).collect();
        Cut { family: Family::Comb, sets, right_side }
    }

    /// Makes a hypergraph inequality of sets of `n` nodes, each sorted and given as often as it counts.
    ///
    /// # Errors
    /// If there are more than 12 atoms, or if a set is not a proper set of nodes.
    pub fn hypergraph(mut sets: Vec<Arc<[u32]>>, n: usize) -> Result<Cut, ShapeError> {
        sets.sort_unstable();
        let right_side = Cut::shortest(&sets, n)?;
        let cut = Cut { family: Family::Hypergraph, sets, right_side };
        cut.check_sets(n)?;
        Ok(cut)
    }

    /// Returns the length of a shortest tour of the atoms of some sets.
    fn shortest(sets: &[Arc<[u32]>], n: usize) -> Result<i64, ShapeError> {
        match distances_of_atoms(sets, n) {
            Some((k, distances)) if k > 1 => Ok(shortest_tour(k, &distances).0),
            Some(_) => Err(ShapeError("the sets do not divide the nodes".into())),
            None => Err(ShapeError("the sets have more than 12 atoms".into())),
        }
    }

    /// Makes a cut of sets that somebody else gives, the handle of a comb first.
    ///
    /// # Errors
    /// If they are not a cut of this family on `n` nodes.
    pub fn from_sets(family: Family, mut sets: Vec<Vec<u32>>, n: usize) -> Result<Cut, ShapeError> {
        let cut = match family {
            Family::Subtour if sets.len() == 1 => Cut::subtour(sets.remove(0)),
            Family::Subtour => return Err(ShapeError(format!("a subtour has one set, not {}", sets.len()))),
            Family::Comb if sets.is_empty() => return Err(ShapeError("a comb has a handle".into())),
            Family::Comb => Cut::comb(sets.remove(0), sets),
            Family::Hypergraph => {
                sets.iter_mut().for_each(|set| set.sort_unstable());
                return Cut::hypergraph(sets.into_iter().map(Into::into).collect(), n);
            }
        };
        cut.check_shape(n)?;
        Ok(cut)
    }

    /// Returns the same inequality for an instance of `n` nodes, of which this one's are `nodes`: node i here is `nodes[i]` there.
    /// `None` if it has more than 12 atoms there, or its sets are not a cut of its family.
    pub fn moved(&self, nodes: &[u32], n: usize) -> Option<Cut> {
        let right_side = match self.family {
            // All other nodes are like one more, which is in no set.
            Family::Hypergraph if nodes.len() < n => Cut::shortest(&self.sets, nodes.len() + 1).ok()?,
            _ => {
                self.check_shape(nodes.len()).ok()?;
                self.right_side
            }
        };
        let mut sets: Vec<Vec<u32>> =
            self.sets.iter().map(|set| set.iter().map(|&node| nodes[node as usize]).collect()).collect();
        sets.iter_mut().for_each(|set| set.sort_unstable());
        let unordered = if self.family == Family::Comb { 1 } else { 0 };
        sets[unordered..].sort_unstable();
        let sets = sets.into_iter().map(Into::into).collect();
        Some(Cut { family: self.family, sets, right_side })
    }

    /// Returns the kind of the cut.
    pub fn family(&self) -> Family {
        self.family
    }

    /// Returns the sets, the handle of a comb first. Each is sorted.
    pub fn sets(&self) -> &[Arc<[u32]>] {
        &self.sets
    }

    /// Returns the right side: no tour has a smaller [left side](Cut::left_side_of_tour).
    pub fn right_side(&self) -> i64 {
        self.right_side
    }

    /// Returns how many of the sets have an edge in their border. A set that is given several times counts as often.
    pub fn coefficient(&self, a: u32, b: u32) -> i64 {
        let crosses = |set: &&Arc<[u32]>| set.binary_search(&a).is_ok() != set.binary_search(&b).is_ok();
        self.sets.iter().filter(crosses).count() as i64
    }

    /// Returns the left side for a closed tour of all nodes: how often it crosses the borders of the sets.
    pub fn left_side_of_tour(&self, tour: &[u32]) -> i64 {
        let most = tour.iter().copied().max().map_or(0, |node| node as usize + 1);
        let mut is_inside = vec![false; most];
        let mut sum = 0;
        for set in &self.sets {
            set.iter().for_each(|&node| is_inside[node as usize] = true);
            let mut before = tour.last().is_some_and(|&node| is_inside[node as usize]);
            for &node in tour {
                let inside = is_inside[node as usize];
                sum += i64::from(inside != before);
                before = inside;
            }
            set.iter().for_each(|&node| is_inside[node as usize] = false);
        }
        sum
    }

    /// Returns whether a closed tour of all nodes satisfies the cut, as all tours should.
    pub fn holds_for(&self, tour: &[u32]) -> bool {
        self.left_side_of_tour(tour) >= self.right_side
    }

    /// Checks that every tour of `n` nodes satisfies the cut, by the definition of its family.
    ///
    /// # Errors
    /// The first condition that the sets fail.
    pub fn check_shape(&self, n: usize) -> Result<(), ShapeError> {
        self.check_sets(n)?;
        let fail = |why: &str| Err(ShapeError(why.into()));
        match self.family {
            Family::Subtour if self.sets.len() == 1 => Ok(()),
            Family::Subtour => fail("a subtour has one set"),
            Family::Comb => {
                let Some((handle, teeth)) = self.sets.split_first() else {
                    return fail("a comb has a handle");
                };
                if teeth.len() < 3 || teeth.len().is_multiple_of(2) {
                    return fail("a comb has an odd number of teeth, three or more");
                }
                let mut is_in_tooth = vec![false; n];
                for tooth in teeth {
                    let inside = tooth.iter().filter(|node| handle.binary_search(node).is_ok()).count();
                    if inside == 0 || inside == tooth.len() {
                        return fail("a tooth has no node inside or none outside of the handle");
                    }
                    for &node in tooth.iter() {
                        if std::mem::replace(&mut is_in_tooth[node as usize], true) {
                            return fail("two teeth share a node");
                        }
                    }
                }
                Ok(())
            }
            Family::Hypergraph if Cut::shortest(&self.sets, n)? == self.right_side => Ok(()),
            Family::Hypergraph => fail("the right side is not the length of a shortest tour of the atoms"),
        }
    }

    /// Checks that each set is sorted and a proper part of `n` nodes.
    fn check_sets(&self, n: usize) -> Result<(), ShapeError> {
        let fail = |why: &str| Err(ShapeError(why.into()));
        for set in &self.sets {
            if set.is_empty() || set.len() >= n {
                return fail("a set is empty or has all nodes");
            }
            if set.windows(2).any(|two| two[0] >= two[1]) {
                return fail("a set has a node twice");
            }
            if set.last().is_some_and(|&last| last as usize >= n) {
                return fail("a set has a node that does not exist");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(sets: &[&[u32]]) -> Vec<Vec<u32>> {
        sets.iter().map(|set| set.to_vec()).collect()
    }

    #[test]
    fn the_right_side_of_a_comb_is_the_shortest_tour_of_its_atoms() {
        let comb = sets(&[&[0, 1, 2], &[0, 3, 8], &[1, 4], &[2, 5]]);
        let cut = Cut::from_sets(Family::Hypergraph, comb.clone(), 10).unwrap();
        assert_eq!(cut.right_side(), Cut::from_sets(Family::Comb, comb, 10).unwrap().right_side());
        assert_eq!(cut.coefficient(0, 1), 2);
        let twice = Cut::from_sets(Family::Hypergraph, sets(&[&[3, 1], &[1, 3]]), 10).unwrap();
        assert_eq!((twice.right_side(), twice.coefficient(1, 2)), (4, 2));
    }

    #[test]
    fn a_cut_of_some_nodes_holds_for_all() {
        // Every node is in a set, so the sets have one atom more among all nodes: those that are in none.
        let own = sets(&[&[0, 1], &[1, 2], &[3, 4], &[2, 3], &[0, 4]]);
        let cut = Cut::from_sets(Family::Hypergraph, own, 5).unwrap();
        let nodes = [7, 3, 9, 1, 5];
        let moved = cut.moved(&nodes, 11).unwrap();
        moved.check_shape(11).unwrap();
        assert!(moved.right_side() > cut.right_side());
        assert_eq!(moved.coefficient(7, 9), cut.coefficient(0, 2));
        let comb = sets(&[&[0, 1, 2], &[0, 3], &[1, 4], &[2, 5]]);
        let comb = Cut::from_sets(Family::Comb, comb, 7).unwrap();
        let moved = comb.moved(&[10, 8, 6, 4, 2, 0, 1], 11).unwrap();
        assert_eq!(
            moved,
            Cut::from_sets(Family::Comb, sets(&[&[6, 8, 10], &[4, 10], &[2, 8], &[0, 6]]), 11).unwrap()
        );
    }

    #[test]
    fn sets_of_another_shape_are_rejected() {
        let reject = |family, given: &[&[u32]], why: &str| {
            let error = Cut::from_sets(family, sets(given), 10).unwrap_err();
            assert!(error.0.contains(why), "{error}");
        };
        let all: Vec<u32> = (0..10).collect();
        reject(Family::Hypergraph, &[], "do not divide");
        reject(Family::Hypergraph, &[&all], "do not divide");
        reject(Family::Hypergraph, &[&all, &[1]], "all nodes");
        reject(Family::Hypergraph, &[&[1, 1]], "twice");
        reject(Family::Hypergraph, &[&[10]], "does not exist");
        reject(Family::Comb, &[&[0, 1], &[0, 2], &[1, 3]], "odd");
        reject(Family::Comb, &[&[0, 1, 2], &[0, 3], &[1, 4], &[2, 3]], "share");
        reject(Family::Subtour, &[&[0, 1], &[2]], "one set");
        let singles: Vec<Vec<u32>> = (0..12).map(|node| vec![node]).collect();
        let error = Cut::from_sets(Family::Hypergraph, singles, 13).unwrap_err();
        assert!(error.0.contains("more than 12"), "{error}");
    }
}

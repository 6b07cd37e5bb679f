//! Checks certificates.

use std::sync::{Arc, Mutex, PoisonError};

use antwarp_instance::{Instance, TourError, parallel};

use super::parts::{Answer, Certificate, Node, Question};
use super::reduced::{Branches, DualError, Edges, Reduced};
use crate::duals::{Duals, UNIT_BITS};
use crate::{Family, ShapeError};

/// Most branches between the root of a tree and a leaf.
const DEEPEST: usize = 10_000;
/// Fewest nodes of instances whose tours have no edge twice.
const FEW: usize = 3;

/// What a certificate proves, and by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The internal cost of the tour.
    pub cost: i64,
    /// No tour has a lower internal cost.
    pub bound: i64,
    /// The number of subtour elimination inequalities.
    pub subtours: usize,
    /// The number of combs.
    pub combs: usize,
    /// The number of hypergraph inequalities.
    pub hypergraphs: usize,
    /// The number of nodes of the tree.
    pub nodes: usize,
    /// How many of them are leaves.
    pub leaves: usize,
    /// The number of edges that are left at the root, fixed ones too; `None` if none was excluded.
    pub edges: Option<usize>,
    /// How many of these edges are fixed: every tour that would be better has them, or every tour.
    pub fixed: usize,
}

impl Verified {
    /// Returns whether the tour is proven to be a shortest one.
    pub fn is_optimal(&self) -> bool {
        self.bound == self.cost
    }
}

/// Why a certificate proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is for another instance.
    #[error(
        "it is for another instance: its fingerprint is {found:016x}, that of this instance {expected:016x}"
    )]
    OtherInstance {
        /// The fingerprint of the certificate.
        found: u64,
        /// That of the instance.
        expected: u64,
    },
    /// The instance is not closed.
    #[error("the instance is no closed form: its tours are paths, have fixed edges or directions")]
    NotClosed,
    /// Its tour is no tour.
    #[error(transparent)]
    Tour(#[from] TourError),
    /// Its tour uses an edge that does not exist, or does not use one that is fixed.
    #[error("the tour goes from node {0} to node {1}, which no tour can")]
    Step(u32, u32),
    /// Its tour has another cost.
    #[error("the tour costs {real}, not {stated}")]
    Cost {
        /// What the certificate says.
        stated: i64,
        /// What it costs.
        real: i64,
    },
    /// It claims more than can be true.
    #[error("the bound {bound} is above the cost of the tour, {cost}")]
    Bound {
        /// The bound.
        bound: i64,
        /// The cost of the tour.
        cost: i64,
    },
    /// Sets do not make a cut.
    #[error("cut {cut} does not hold for all tours: {why}")]
    Cut {
        /// Its number, from 0.
        cut: usize,
        /// Why.
        why: ShapeError,
    },
    /// A cut has a wrong right side.
    #[error("cut {cut} has the right side {stated}, which should be {right}")]
    RightSide {
        /// Its number, from 0.
        cut: usize,
        /// What the certificate says.
        stated: i64,
        /// What its family has.
        right: i64,
    },
    /// The tree ends before it has all leaves.
    #[error("the tree is not complete: a leaf is missing at its end")]
    MissingLeaf,
    /// The tree goes on after its last leaf.
    #[error("record {record} of the tree comes after its last leaf")]
    AfterTree {
        /// Its number, from 0.
        record: usize,
    },
    /// The tree is too deep.
    #[error("the tree has more than {DEEPEST} branches between its root and a leaf")]
    TooDeep,
    /// The tree branches on something that divides nothing.
    #[error("record {record} of the tree branches on no edge or set: {why}")]
    Question {
        /// Its number, from 0.
        record: usize,
        /// Why.
        why: ShapeError,
    },
    /// Dual values are wrong.
    #[error("record {record} of the tree: {why}")]
    Duals {
        /// Its number, from 0.
        record: usize,
        /// Why.
        why: DualError,
    },
    /// The bound of a leaf is not high enough.
    #[error("record {record} of the tree, a leaf, proves only a bound of {proven}, not {bound}")]
    Open {
        /// Its number, from 0.
        record: usize,
        /// The bound, rounded up to a whole cost.
        proven: i128,
        /// What it should be.
        bound: i64,
    },
}

/// Checks a certificate of a closed instance: whatever it says, the result is true.
///
/// Cuts and leaves are checked by all threads of the pool.
///
/// # Errors
/// The first reason why it proves nothing.
pub fn check(instance: &Instance, certificate: &Certificate) -> Result<Verified, Refusal> {
    check_closed(instance)?;
    let expected = instance.fingerprint();
    if certificate.fingerprint != expected {
        return Err(Refusal::OtherInstance { found: certificate.fingerprint, expected });
    }
    check_tour(instance, certificate)?;
    check_cuts(instance.len(), certificate)?;
    let seconds = second_children(&certificate.nodes)?;
    let families = |family| certificate.cuts.iter().filter(|(cut, _)| cut.family() == family).count();
    let is_branch = |node: &&Node| matches!(node, Node::Branch(_));
    let branches = certificate.nodes.iter().filter(is_branch).count();
    let mut verified = Verified {
        cost: certificate.cost,
        bound: certificate.bound,
        subtours: families(Family::Subtour),
        combs: families(Family::Comb),
        hypergraphs: families(Family::Hypergraph),
        nodes: 2 * branches + 1,
        leaves: branches + 1,
        edges: None,
        fixed: 0,
    };
    // Tours of fewer nodes have an edge twice, which linear programs do not know; but there is only one.
    if instance.len() >= FEW {
        let checker = Checker { instance, certificate, seconds: &seconds, failure: Mutex::new(None) };
        let edges = checker.check()?;
        verified.edges = edges.free.as_ref().map(|free| free.len() + edges.fixed.len());
        verified.fixed = edges.fixed.len();
    }
    Ok(verified)
}

fn check_closed(instance: &Instance) -> Result<(), Refusal> {
    let partner = |node: u32| instance.partners().map(|partners| partners[node as usize]);
    let is_partner = |&(a, b): &(u32, u32)| partner(a) == Some(b);
    let is_closed =
        instance.is_symmetric() && instance.ends().is_none() && instance.fixed_edges().iter().all(is_partner);
    if is_closed { Ok(()) } else { Err(Refusal::NotClosed) }
}

fn check_tour(instance: &Instance, certificate: &Certificate) -> Result<(), Refusal> {
    let &Certificate { ref tour, cost, bound, .. } = certificate;
    let real = instance.check_tour(tour)?;
    let mut steps = tour.iter().zip(tour.iter().cycle().skip(1));
    if let Some((&a, &b)) = steps.find(|&(&a, &b)| a != b && !instance.has_edge(a, b)) {
        return Err(Refusal::Step(a, b));
    }
    if let Some((a, b)) = instance.unused_fixed_edge(tour) {
        return Err(Refusal::Step(a, b));
    }
    if real != cost {
        return Err(Refusal::Cost { stated: cost, real });
    }
    if bound > cost { Err(Refusal::Bound { bound, cost }) } else { Ok(()) }
}

fn check_cuts(n: usize, certificate: &Certificate) -> Result<(), Refusal> {
    let problem = |number: usize| {
        let (cut, stated) = &certificate.cuts[number];
        let (stated, right) = (*stated, cut.right_side());
        match cut.check_shape(n) {
            Err(why) => Some(Refusal::Cut { cut: number, why }),
            Ok(()) => (stated != right).then_some(Refusal::RightSide { cut: number, stated, right }),
        }
    };
    let problems = parallel::collect_some(certificate.cuts.len(), &|| (), &|(), number| problem(number));
    problems.into_iter().next().map_or(Ok(()), Err)
}

/// Returns, for each branch, the record with which its second child's subtree begins; 0 for all other records.
fn second_children(nodes: &[Node]) -> Result<Vec<usize>, Refusal> {
    let mut seconds = vec![0; nodes.len()];
    // The branches around a record, and whether it is in the second child's subtree.
    let mut around: Vec<(usize, bool)> = Vec::new();
    let mut is_complete = false;
    for (record, node) in nodes.iter().enumerate() {
        if is_complete {
            return Err(Refusal::AfterTree { record });
        }
        match node {
            Node::Reduce(_) => {}
            Node::Branch(_) => around.push((record, false)),
            Node::Leaf(_) => {
                while around.pop_if(|(_, is_second)| *is_second).is_some() {}
                match around.last_mut() {
                    Some((branch, is_second)) => {
                        (seconds[*branch], *is_second) = (record + 1, true);
                    }
                    None => is_complete = true,
                }
            }
        }
        if around.len() > DEEPEST {
            return Err(Refusal::TooDeep);
        }
    }
    if is_complete { Ok(seconds) } else { Err(Refusal::MissingLeaf) }
}

struct Checker<'a> {
    instance: &'a Instance,
    certificate: &'a Certificate,
    seconds: &'a [usize],
    /// The first record that is wrong, and why.
    failure: Mutex<Option<(usize, Refusal)>>,
}

impl Checker<'_> {
    /// Checks the tree; returns the edges that are left at its root.
    fn check(self) -> Result<Edges, Refusal> {
        let nodes = &self.certificate.nodes;
        let mut edges = Edges::of(self.instance);
        let mut begin = 0;
        while let Node::Reduce(by) = &nodes[begin] {
            edges = self.reduce(begin, by, &edges, &[])?;
            begin += 1;
        }
        let edges = Arc::new(edges);
        rayon::scope(|scope| self.subtree(scope, begin, edges.clone(), Vec::new()));
        match self.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((_, refusal)) => Err(refusal),
            None => Ok(Arc::unwrap_or_clone(edges)),
        }
    }

    /// Checks the records from here to the first leaf, and leaves all second children on the way to any thread.
    fn subtree<'s>(
        &'s self,
        scope: &rayon::Scope<'s>,
        mut record: usize,
        mut edges: Arc<Edges>,
        mut path: Vec<Answer>,
    ) {
        loop {
            // An earlier record is wrong: that is what is reported.
            if self.failure().as_ref().is_some_and(|(first, _)| *first < record) {
                return;
            }
            let checked = match &self.certificate.nodes[record] {
                Node::Reduce(by) => self.reduce(record, by, &edges, &path).map(|left| edges = Arc::new(left)),
                Node::Branch(question) => self.check_question(record, question).map(|()| {
                    let second = self.seconds[record];
                    let [one, other] = question.answers();
                    let (edges, mut others) = (edges.clone(), path.clone());
                    others.push(other);
                    scope.spawn(move |scope| self.subtree(scope, second, edges, others));
                    path.push(one);
                }),
                Node::Leaf(by) => {
                    let checked = self.leaf(record, by, &edges, &path);
                    return checked.unwrap_or_else(|refusal| self.fail(record, refusal));
                }
            };
            if let Err(refusal) = checked {
                return self.fail(record, refusal);
            }
            record += 1;
        }
    }

    fn failure(&self) -> std::sync::MutexGuard<'_, Option<(usize, Refusal)>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, record: usize, refusal: Refusal) {
        let mut failure = self.failure();
        if failure.as_ref().is_none_or(|(first, _)| record < *first) {
            *failure = Some((record, refusal));
        }
    }

    /// Returns the highest bound, in units, of what is not proven.
    fn limit(&self) -> i128 {
        (i128::from(self.certificate.bound) - 1) << UNIT_BITS
    }

    fn reduced(&self, record: usize, by: &Duals, branches: &Branches<'_>) -> Result<Reduced<'_>, Refusal> {
        Reduced::new(self.instance, &self.certificate.cuts, branches, by)
            .map_err(|why| Refusal::Duals { record, why })
    }

    fn reduce(&self, record: usize, by: &Duals, edges: &Edges, path: &[Answer]) -> Result<Edges, Refusal> {
        let branches = Branches::of(path);
        Ok(self.reduced(record, by, &branches)?.left(edges, &branches, self.limit()))
    }

    fn leaf(&self, record: usize, by: &Duals, edges: &Edges, path: &[Answer]) -> Result<(), Refusal> {
        let branches = Branches::of(path);
        let proven = self.reduced(record, by, &branches)?.bound(edges, &branches);
        if proven > self.limit() {
            return Ok(());
        }
        let unit = 1 << UNIT_BITS;
        let proven = proven.div_euclid(unit) + i128::from(proven.rem_euclid(unit) > 0);
        Err(Refusal::Open { record, proven, bound: self.certificate.bound })
    }

    fn check_question(&self, record: usize, question: &Question) -> Result<(), Refusal> {
        let n = self.instance.len();
        let wrong = |why: &str| Err(Refusal::Question { record, why: ShapeError(why.into()) });
        match question {
            Question::Edge(a, b) if a == b => wrong("it joins a node with itself"),
            Question::Edge(a, b) if *a.max(b) as usize >= n => wrong("a node does not exist"),
            Question::Edge(..) => Ok(()),
            Question::Set(set) => crate::Cut::subtour(set.to_vec())
                .check_shape(n)
                .map_err(|why| Refusal::Question { record, why }),
        }
    }
}

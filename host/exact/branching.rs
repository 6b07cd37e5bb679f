//! Strong branching: the question that divides a node of the tree best.
//!
//! For a few candidates, some iterations of the dual simplex method show how much each answer raises the bound (Applegate and others
//! 2006, chapter 14).

use std::sync::Arc;

use antwarp_instance::Watch;

use crate::Cut;
use crate::certificate::Question;
use crate::master::{Master, State};
use crate::pricing::Edge;
use crate::simplex::{Limits, Result, Solver};

/// Most edges among the candidates, and most sets.
const EDGES: usize = 8;
const SETS: usize = 4;
/// Iterations for each answer.
const ITERATIONS: u32 = 60;
/// Values closer to a whole number than this are whole.
pub(crate) const WHOLE: f64 = 1e-5;

/// A question, and by how much each answer raises the bound: the first child's, then the second's.
pub(crate) type Asked = (Question, [f64; 2]);

/// Linear programs with which other threads probe candidates of this thread's node.
#[derive(Default)]
pub(crate) struct Spares<'a> {
    programs: Vec<Master<'a>>,
    seconds: f64,
}

impl<'a> Spares<'a> {
    /// Frees the programs: other threads may need the memory.
    pub fn clear(&mut self) {
        self.seconds += self.programs.drain(..).map(|program| program.work().0).sum::<f64>();
    }

    /// Returns the seconds that freed programs have spent in the library.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Returns the question about the last solution whose answers, above all the worse one, raise the bound the most; `None` if the
    /// solution is whole. Asks on this many threads, the calling one among them. Bounds above `cutoff - 1` count as that.
    ///
    /// # Errors
    /// If the library fails.
    pub fn question(
        &mut self,
        master: &mut Master<'a>,
        (solver, threads): (&dyn Solver, usize),
        cutoff: f64,
        watch: &Watch<'_>,
    ) -> Result<Option<Asked>> {
        let most = (cutoff - 1.0 - master.objective()).max(1.0);
        let enough = || watch.is_over();
        let limits = Limits { iterations: Some(ITERATIONS), objective: None, enough: &enough };
        let mut asked: Vec<Asked> = candidates(master).into_iter().map(|it| (it, [0.0; 2])).collect();
        let threads = threads.clamp(1, asked.len().div_ceil(2).max(1));
        let size = asked.len().div_ceil(threads);
        let (own, others) = asked.split_at_mut(size);
        if others.is_empty() {
            probe(master, own, (&limits, most))?;
        } else {
            let state = master.save()?;
            while self.programs.len() < threads - 1 {
                self.programs.push(Master::new(master.instance(), solver)?);
            }
            let probed = std::thread::scope(|scope| {
                let (state, limits) = (&state, &limits);
                let work = others.chunks_mut(size).zip(&mut self.programs);
                // If a thread cannot be started, its candidates are not probed and keep gains of 0.
                let threads = work.map_while(|(asked, spare)| {
                    let thread = std::thread::Builder::new().name("probe".into());
                    thread.spawn_scoped(scope, move || probe_as(spare, state, asked, (limits, most))).ok()
                });
                let threads: Vec<_> = threads.collect();
                let probed = probe(master, own, (limits, most));
                threads.into_iter().fold(probed, |probed, thread| {
                    probed.and(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                })
            });
            if probed.is_err() {
                self.clear();
            }
            probed?;
        }
        let score = |[one, other]: [f64; 2]| 10.0 * one.min(other) + one.max(other);
        // Of equal ones the first.
        Ok(asked.into_iter().rev().max_by(|a, b| score(a.1).total_cmp(&score(b.1))))
    }
}

/// Makes a program that of a node and probes.
fn probe_as(
    program: &mut Master<'_>,
    state: &State,
    asked: &mut [Asked],
    (limits, most): (&Limits<'_>, f64),
) -> Result<()> {
    program.load(state)?;
    program.solve(&Limits { iterations: None, ..*limits })?;
    probe(program, asked, (limits, most))
}

/// Finds out by how much each answer raises the bound.
fn probe(program: &mut Master<'_>, asked: &mut [Asked], (limits, most): (&Limits<'_>, f64)) -> Result<()> {
    for (question, gains) in asked {
        *gains = match question {
            &mut Question::Edge(a, b) => {
                let edge = Edge::of(program.instance(), a, b);
                let [unused, used] = program.probe_edge(edge, limits, most)?;
                [used, unused]
            }
            Question::Set(set) => program.probe_set(set, limits, most)?,
        };
    }
    Ok(())
}

/// Returns questions whose answer is most open: about edges with a value near 1/2, rather long ones, since more depends on these, and about
/// sets whose border has a value near 3.
fn candidates(master: &Master<'_>) -> Vec<Question> {
    let mut edges: Vec<(f64, Edge)> = master
        .edges()
        .iter()
        .zip(master.values())
        .filter(|&(_, &x)| x > WHOLE && x < 1.0 - WHOLE)
        .map(|(&edge, &x)| (-x.min(1.0 - x) * f64::from(edge.cost).sqrt(), edge))
        .collect();
    edges.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let edges = edges.into_iter().take(EDGES).map(|(_, edge)| Question::Edge(edge.a, edge.b));
    edges.chain(sets(master).into_iter().map(Question::Set)).collect()
}

/// Returns sets of cuts whose borders have a value near 3.
fn sets(master: &Master<'_>) -> Vec<Arc<[u32]>> {
    let (cuts, _) = master.active();
    let mut sets: Vec<&Arc<[u32]>> = cuts.iter().flat_map(|cut| cut.sets()).collect();
    sets.sort_unstable();
    sets.dedup();
    let value = |set: &Arc<[u32]>| master.left_side(&Cut::subtour(set.to_vec()));
    let valued = sets.into_iter().map(|set| ((value(set) - 3.0).abs(), set));
    let mut valued: Vec<_> = valued.filter(|(far, _)| *far < 0.8).collect();
    valued.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1)));
    valued.into_iter().take(SETS).map(|(_, set)| set.clone()).collect()
}

//! Chains of iterated local search on CPU threads: a tile is a team of one.

use std::sync::atomic::{AtomicU64, Ordering};

use antwarp_core::distance::Distances;
use antwarp_core::geometry::{self, Geometry, Grid, Numbered, Planar};
use antwarp_core::local_search::chain::{Accept, Rules};
use antwarp_core::local_search::chains::{self, ChainsState, NOBODY, survivor};
use antwarp_core::local_search::tile::{self, Entries, Layout, Nodes, Source, part};
use antwarp_core::local_search::{Or2opt, OrOpt, ThreeOpt, TwoOpt};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots};
use rayon::prelude::*;

use super::{Together, allocate};
use crate::engine::{BackendError, Chains, ChainsSpec, Enough, LocalSearch, Places, Problem, Round, Tiling};

/// Nodes of a tile: of larger ones a thread's caches hold less, in smaller ones there is too much border.
const TILE: std::ops::RangeInclusive<u32> = 500..=1000;
/// Tiles that there should be, where the instance is large enough, to give threads something to do.
const TILES: u32 = 16;

/// Nodes up to which distances by cosines are computed once and kept: more of them take longer than a short run.
const FEW: u32 = 2048;

/// One chain.
pub fn default_chains(n: u32) -> (u32, u32) {
    (n.div_ceil((n / TILES).clamp(*TILE.start(), *TILE.end())), 1)
}

/// Chains for `problem` on CPU threads.
pub fn chains<'p>(problem: &'p Problem, spec: &ChainsSpec) -> Result<Box<dyn Chains + 'p>, BackendError> {
    Ok(match problem.places() {
        Places::Grid { places, up } => {
            Box::new(CpuChains::new(problem, spec, Grid { up: *up }, places, Vec::new())?)
        }
        Places::Planar { places, metric } => {
            Box::new(CpuChains::new(problem, spec, Planar { metric: *metric }, places, Vec::new())?)
        }
        Places::Numbered(places) => {
            let (distances, matrix) = numbered(problem);
            Box::new(CpuChains::new(problem, spec, Numbered { distances }, places, matrix)?)
        }
    })
}

/// Distances of numbered nodes, and the matrix that they are looked up in where computing them anew would be slow.
pub(super) fn numbered(problem: &Problem) -> (Distances, Vec<i32>) {
    let mut distances = problem.distances();
    let is_slow = problem.metric().is_some_and(|m| !m.is_algebraic());
    let matrix = if is_slow && problem.n() <= FEW { problem.computed_matrix() } else { Vec::new() };
    if !matrix.is_empty() {
        (distances.matrix, distances.metric) = (matrix.as_ptr(), None);
    }
    (distances, matrix)
}

struct CpuChains<'p, G: Geometry> {
    problem: &'p Problem,
    spec: ChainsSpec,
    geometry: G,
    places: &'p [G::Place],
    /// What the geometry looks distances up in, if that is not the problem's.
    _matrix: Vec<i32>,
    layout: Layout,
    /// n nodes a chain; positions likewise.
    order: Vec<u32>,
    position: Vec<u32>,
    next_order: Vec<u32>,
    next_position: Vec<u32>,
    /// What tiles write: four arrays of n numbers a chain.
    entries: [Vec<u32>; 4],
    gains: Vec<i64>,
    costs: Vec<i64>,
    best_tour: Vec<u32>,
    state: ChainsState,
    left_out: u64,
}

/// The entries of a chain.
fn entries(arrays: &mut [Vec<u32>; 4], from: usize) -> Entries {
    // SAFETY: the arrays have n elements from there on.
    let [old, piece, offset, length] =
        arrays.each_mut().map(|array| unsafe { Slots::new(array.as_mut_ptr().add(from)) });
    Entries { old, piece, offset, length }
}

impl<'p, G: Geometry> CpuChains<'p, G> {
    fn new(
        problem: &'p Problem,
        spec: &ChainsSpec,
        geometry: G,
        places: &'p [G::Place],
        matrix: Vec<i32>,
    ) -> Result<Self, BackendError> {
        let (n, count) = (problem.n() as usize, spec.chains as usize);
        let own = |what| -> Result<Vec<u32>, BackendError> {
            let mut array = allocate(what, n * count)?;
            array.par_chunks_mut(n).for_each(|chain: &mut [u32]| (0..).zip(chain).for_each(|(i, v)| *v = i));
            Ok(array)
        };
        let array = || allocate("the chains' tours", n * count);
        let m = problem.n().div_ceil(spec.tiles);
        Ok(CpuChains {
            problem,
            spec: spec.clone(),
            geometry,
            places,
            _matrix: matrix,
            layout: Layout::new::<u16>(
                m,
                problem.search_k(),
                problem.places().bytes(),
                spec.accept == Accept::Always,
                spec.width,
            ),
            order: own("the chains' tours")?,
            position: own("the chains' tours")?,
            next_order: array()?,
            next_position: array()?,
            entries: [array()?, array()?, array()?, array()?],
            gains: vec![0; count * spec.tiles as usize],
            costs: vec![spec.start_cost; count],
            best_tour: own("the best tour")?[..n].to_vec(),
            state: ChainsState::new(spec.start_cost),
            left_out: 0,
        })
    }

    /// Every tile's chain; tiles that would begin after `enough` stay as they are.
    fn improve(&mut self, round: &Round, enough: Enough) {
        let (n, tiles) = (self.problem.n() as usize, self.spec.tiles);
        let arrays: Vec<_> =
            (0..self.spec.chains as usize).map(|c| entries(&mut self.entries, c * n)).collect();
        let (arrays, source) =
            (Together(&arrays[..]), Together((self.order.as_ptr(), self.position.as_ptr())));
        let places = Together(geometry::Places { geometry: self.geometry, start: self.places.as_ptr() });
        let (spec, layout, problem) = (&self.spec, self.layout, self.problem);
        let left_out = AtomicU64::new(0);
        let all = self.gains.par_iter_mut().enumerate();
        all.for_each_init(
            || vec![0u128; (layout.bytes as usize).div_ceil(16)],
            |memory, (index, gain)| {
                let (chain, tile) = (index / tiles as usize, (index % tiles as usize) as u32);
                let (order, position) = source.get();
                // SAFETY: the chain's n elements.
                let (order, position) = unsafe { (order.add(chain * n), position.add(chain * n)) };
                let source = Source {
                    n: n as u32,
                    k: problem.search_k(),
                    lists: problem.neighbors().as_ptr(),
                    order,
                    position,
                    places: places.get(),
                };
                let (first, m) = part(n as u32, tiles, tile);
                let nodes = match round.tiles {
                    Tiling::Windows(offset) => Nodes::From(((first as usize + offset as usize) % n) as u32),
                    Tiling::Cells(i) => Nodes::Of(spec.cells[i][first as usize..].as_ptr()),
                };
                let is_over = enough();
                if is_over {
                    left_out.fetch_add(round.kicks.into(), Ordering::Relaxed);
                }
                let rules = Rules {
                    kicks: if is_over { 0 } else { round.kicks },
                    first_kick: 0,
                    segment: spec.segment,
                    accept: spec.accept as u32,
                    temperature: round.temperature,
                    descend_first: (round.descend_first && !is_over).into(),
                    keep_best: (spec.accept == Accept::Always).into(),
                    padding: 0,
                };
                let work =
                    (source, (nodes, first, m), spec.breadth, layout, memory.as_mut_ptr().cast::<u8>());
                let stream = Stream::new(spec.seed, round.number, index as u32);
                let entries = arrays.get()[chain];
                macro_rules! with {
                    ($operator:ty) => {{
                        let (source, tile, breadth, layout, memory) = work;
                        // SAFETY: memory is this thread's and of the layout's size; tiles share no node.
                        unsafe {
                            tile::improve::<_, $operator, u16, _>(
                                Serial, source, tile, breadth, layout, memory, rules, stream, entries,
                            )
                        }
                    }};
                }
                let gains = match spec.local_search {
                    LocalSearch::None | LocalSearch::TwoOpt => with!(TwoOpt),
                    LocalSearch::OrOpt => with!(OrOpt),
                    LocalSearch::Or2opt => with!(Or2opt),
                    LocalSearch::ThreeOpt => with!(ThreeOpt),
                };
                *gain = if rules.keep_best != 0 { gains.best } else { gains.last };
            },
        );
        self.left_out = left_out.into_inner();
    }

    /// Puts the tiles together to the next tours.
    fn assemble(&mut self) {
        let n = self.problem.n() as usize;
        for chain in 0..self.spec.chains as usize {
            let from = chain * n;
            let entries = Together(entries(&mut self.entries, from));
            let mut sum = 0u32;
            // SAFETY: all arrays have n elements from `from` on; an entry's place is its own.
            unsafe {
                tile::start_pieces(Serial, n as u32, entries.get().length, Slots::new(&mut sum));
                let old = Together(self.order.as_ptr().add(from));
                let next = Together((
                    Slots::new(self.next_order.as_mut_ptr().add(from)),
                    Slots::new(self.next_position.as_mut_ptr().add(from)),
                ));
                (0..n as u32).into_par_iter().with_min_len(1 << 12).for_each(|entry| {
                    tile::place_entry(entry, entries.get(), old.get(), next.get().0, next.get().1);
                });
            }
        }
        std::mem::swap(&mut self.order, &mut self.next_order);
        std::mem::swap(&mut self.position, &mut self.next_position);
    }

    fn judge(&mut self) {
        // SAFETY: all arrays have the sizes asked for, and this is the only thread.
        unsafe {
            chains::judge(
                Serial,
                (self.spec.chains, self.spec.tiles),
                self.spec.target,
                self.gains.as_ptr(),
                Slots::new(self.costs.as_mut_ptr()),
                &mut self.state,
            );
        }
        if self.state.winner != NOBODY {
            let n = self.problem.n() as usize;
            let from = self.state.winner as usize * n;
            self.best_tour.copy_from_slice(&self.order[from..from + n]);
        }
    }

    fn compete(&mut self, rival_bit: u32) {
        if rival_bit == 0 {
            return;
        }
        let (n, count) = (self.problem.n() as usize, self.spec.chains);
        let costs = self.costs.clone();
        for chain in 0..count {
            // SAFETY: a cost a chain.
            let from = unsafe { survivor(count, chain, rival_bit, costs.as_ptr()) } as usize;
            if from != chain as usize {
                self.costs[chain as usize] = costs[from];
                self.order.copy_within(from * n..(from + 1) * n, chain as usize * n);
                self.position.copy_within(from * n..(from + 1) * n, chain as usize * n);
            }
        }
    }
}

impl<G: Geometry> Chains for CpuChains<'_, G> {
    fn run(&mut self, rounds: &[Round], enough: Enough) -> Result<ChainsState, BackendError> {
        self.left_out = 0;
        for round in rounds {
            if self.state.done != 0 || enough() {
                break;
            }
            self.improve(round, enough);
            self.assemble();
            self.judge();
            self.compete(round.rival_bit);
        }
        Ok(self.state)
    }

    fn kicks_left_out(&self) -> u64 {
        self.left_out
    }

    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError> {
        Ok(self.best_tour.clone())
    }

    fn describe(&self) -> String {
        let s = &self.spec;
        format!(
            "{} chains, {} tiles a chain of up to {} nodes, one CPU thread a tile, places {}",
            s.chains,
            s.tiles,
            self.layout.m,
            self.problem.places().kernel_name()
        )
    }
}

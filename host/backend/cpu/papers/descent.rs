//! Best improvement on CPU threads: nodes are spread over threads, each a team of one.

use std::time::{Duration, Instant};

use antwarp_core::geometry::{self, Geometry};
use antwarp_core::operator::Operator;
use antwarp_core::papers::local_search::best::{self, DescentState, PassBoard, Proposal};
use antwarp_core::papers::local_search::perturb::STEPS;
use antwarp_core::papers::local_search::{ArrayTour, View};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots};

use crate::variants::{with_operator, with_places};
use crate::{Together, allocate, short_of_memory};
use antwarp_engine::{BackendError, Descent, DescentSpec, Enough, Pass, Problem, State, each_pass};
use antwarp_instance::Watch;
use antwarp_instance::parallel;

/// Nodes that a thread evaluates without a break.
const SHARE: u32 = 256;

/// Makes a descent for `problem` on CPU threads, from the tour along the problem's numbering. A spec without local search means
/// 2-opt.
///
/// # Errors
/// If memory is short.
pub fn descent<'p>(problem: &'p Problem, spec: &DescentSpec) -> Result<Box<dyn Descent + 'p>, BackendError> {
    with_places!(problem, problem.distances(), |geometry, places| {
        Ok(Box::new(CpuDescent::new(problem, spec, geometry, places)?))
    })
}

/// A tour's order and positions.
type Arrays = [Vec<u32>; 2];

struct CpuDescent<'p, G: Geometry> {
    problem: &'p Problem,
    spec: DescentSpec,
    geometry: G,
    places: &'p [G::Place],
    tour: Arrays,
    accepted: Arrays,
    best_tour: Vec<u32>,
    proposals: Vec<std::mem::MaybeUninit<Proposal>>,
    claims: Vec<u64>,
    ranks: Vec<u64>,
    state: DescentState,
    evaluation: Duration,
}

fn array_tour([order, position]: &mut Arrays) -> ArrayTour<u32> {
    // SAFETY: both have n elements, and each is the other's inverse; views do not outlive a pass.
    unsafe { ArrayTour::new(order.len() as u32, Slots::of(order), Slots::of(position)) }
}

impl<'p, G: Geometry> CpuDescent<'p, G> {
    fn new(
        problem: &'p Problem,
        spec: &DescentSpec,
        geometry: G,
        places: &'p [G::Place],
    ) -> Result<Self, BackendError> {
        let n = problem.n();
        let own = || -> Result<Vec<u32>, BackendError> {
            let mut array = allocate("the tours", n as usize)?;
            (0..).zip(&mut array).for_each(|(i, v)| *v = i);
            Ok(array)
        };
        let mut proposals = Vec::new();
        proposals
            .try_reserve_exact(n as usize)
            .map_err(|_| short_of_memory("the moves", n as usize * size_of::<Proposal>()))?;
        proposals.resize_with(n as usize, std::mem::MaybeUninit::uninit);
        Ok(CpuDescent {
            problem,
            spec: spec.clone(),
            geometry,
            places,
            tour: [own()?, own()?],
            accepted: [own()?, own()?],
            best_tour: own()?,
            proposals,
            claims: allocate("the claims", if spec.many { n as usize } else { 0 })?,
            ranks: vec![0; n.div_ceil(SHARE) as usize],
            state: DescentState::new(spec.start_cost),
            evaluation: Duration::ZERO,
        })
    }

    fn board(&mut self) -> PassBoard {
        PassBoard {
            proposals: self.proposals.as_mut_ptr().cast(),
            claims: self.claims.as_mut_ptr(),
            state: &mut self.state,
        }
    }

    /// Runs a pass; does nothing if interrupted by `enough` before all nodes were evaluated.
    fn pass<O: Operator>(&mut self, temperature: f32, enough: Enough) {
        let (n, many, kicks) = (self.problem.n(), self.spec.many, self.spec.kicks_at(temperature));
        let (tour, accepted) = (array_tour(&mut self.tour), array_tour(&mut self.accepted));
        let board = self.board();
        let view = View {
            tour,
            lists: self.problem.neighbors().as_ptr(),
            k: self.problem.search_k(),
            breadth: self.spec.breadth,
            distance: geometry::Places { geometry: self.geometry, start: self.places.as_ptr() },
            // A team of one does not use it.
            scratch: Slots::none(),
        };
        let begin = Instant::now();
        let blocks = self.ranks.len() as u32;
        let (shared, watch) = (Together((view, board)), Watch::new(enough));
        parallel::each_of(&mut self.ranks, 1, &|block, rank| {
            if watch.is_over() {
                return;
            }
            let (view, board) = shared.get();
            // SAFETY: the arrays have the sizes asked for; every block belongs to one thread.
            *rank = unsafe { best::evaluate::<_, O, _>(Serial, view, board, (block as u32, blocks), many) };
        });
        if watch.is_cut() {
            self.claims.fill(0);
            return;
        }
        let stream = Stream::new(self.spec.seed, 0, 0);
        let (ranks, target) = (self.ranks.as_ptr(), self.spec.target);
        // SAFETY: this is the only thread.
        unsafe { best::select(Serial, view, accepted, board, ranks, blocks, kicks, stream, target) };
        self.evaluation += begin.elapsed();
        if many {
            let shared = Together((tour, board));
            // SAFETY: every node belongs to one thread.
            parallel::each(n as usize, SHARE as usize, &|node| unsafe {
                let (tour, board) = shared.get();
                best::make(Serial, tour, board, node as u32);
            });
        }
        // SAFETY: the best tour has n elements.
        let best = unsafe { Slots::of(&mut self.best_tour) };
        let shared = Together((tour, accepted, best, board));
        // SAFETY: every node belongs to one thread.
        parallel::each(n as usize, SHARE as usize, &|node| unsafe {
            let (tour, accepted, best, board) = shared.get();
            best::settle(tour, accepted, best, board, many, node as u32);
        });
        for step in 0..STEPS {
            // SAFETY: this is the only thread.
            unsafe {
                let turn = board.turn(step);
                (0..turn.length / 2).for_each(|i| tour.swap(turn, i));
            }
        }
    }
}

impl<G: Geometry> Descent for CpuDescent<'_, G> {
    fn run(&mut self, passes: u32, temperature: f32, enough: Enough) -> Result<DescentState, BackendError> {
        for _ in 0..passes {
            if self.state.done != 0 || enough() {
                break;
            }
            with_operator!(self.spec.local_search, O => self.pass::<O>(temperature, enough));
        }
        Ok(self.state)
    }

    fn best_tour(&mut self) -> Result<Vec<u32>, BackendError> {
        let on_the_way = self.state.cost < self.state.best_cost;
        Ok(if on_the_way { self.tour[0].clone() } else { self.best_tour.clone() })
    }

    fn save(&mut self, state: &mut State) -> Result<(), BackendError> {
        state.put(&[self.state])?;
        state.put(&self.tour[0])?;
        state.put(&self.accepted[0])?;
        state.put(&self.best_tour)
    }

    fn restore(&mut self, state: &mut State) -> Result<DescentState, BackendError> {
        let n = self.problem.n();
        self.state = self.spec.resumed(state.take_one(self.state)?);
        for arrays in [&mut self.tour, &mut self.accepted] {
            arrays[0] = state.take_tour(n)?;
            let [order, position] = arrays;
            (0..).zip(order.iter()).for_each(|(p, &node)| position[node as usize] = p);
        }
        self.best_tour = state.take_tour(n)?;
        Ok(self.state)
    }

    fn evaluation(&self) -> Pass {
        Pass { passes: self.state.passes, time: self.evaluation }
    }

    fn describe(&self) -> String {
        format!(
            "one tour, {} per pass, nodes spread over CPU threads, {}, places {}",
            self.spec.moves(),
            each_pass(self.evaluation()),
            self.problem.places().kernel_name()
        )
    }
}

//! Edge assembly crossover on CPU threads: a pair of parents is one thread's.

mod census;
mod start;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use antwarp_core::distance::Distances;
use antwarp_core::eax::{self, Bench, Cycles, Entropy, Gene, Near, Selection, score};
use antwarp_core::geometry::{self, Geometry, Grid, Numbered, Planar};
use antwarp_core::rng::Stream;
use antwarp_core::team::{Serial, Slots};
use antwarp_core::tour;
use rayon::prelude::*;

use super::{Together, allocate};
use crate::backend::{BackendError, Enough};
use crate::solver::eax::{EaxEnd, EaxSpec, EaxState};
use crate::solver::problem::{Places, Problem};
use census::Census;

/// Nodes up to which distances by cosines are computed once and kept.
const FEW: u32 = 5000;

/// A population on CPU threads. What it does depends on the seed, not on the number of threads.
pub struct CpuEax<'p> {
    problem: &'p Problem,
    spec: EaxSpec,
    distances: Distances,
    /// What distances are looked up in, if that is not the problem's.
    _matrix: Vec<i32>,
    /// n nodes a tour; positions likewise.
    order: Vec<u32>,
    position: Vec<u32>,
    costs: Vec<i64>,
    census: Census,
    steps: Vec<u32>,
    desks: Vec<Mutex<Desk>>,
    best_tour: Vec<u32>,
    state: EaxState,
}

/// What a thread works with.
struct Desk {
    bench: Vec<u64>,
    cycles: Vec<u64>,
    /// The AB-cycles that no child has had yet.
    deck: Vec<u32>,
}

/// A child that takes its parent's place.
#[derive(Default)]
struct Heir {
    gain: i64,
    /// Nodes, each with its two neighbours.
    changes: Vec<u32>,
}

impl<'p> CpuEax<'p> {
    /// A population that will begin with tours of its own, which the first calls of [`CpuEax::run`] build.
    pub fn new(problem: &'p Problem, spec: &EaxSpec) -> Result<Self, BackendError> {
        let (n, count) = (problem.n() as usize, spec.population as usize);
        let mut distances = problem.distances();
        let is_slow = problem.metric().is_some_and(|m| !m.is_algebraic());
        let matrix = if is_slow && problem.n() <= FEW { problem.computed_matrix() } else { Vec::new() };
        if !matrix.is_empty() {
            (distances.matrix, distances.metric) = (matrix.as_ptr(), None);
        }
        let desk = || -> Result<Mutex<Desk>, BackendError> {
            let words = |bytes: usize| allocate("the crossover", bytes.div_ceil(8));
            Ok(Mutex::new(Desk {
                bench: words(Bench::memory_bytes(problem.n()))?,
                cycles: words(Cycles::memory_bytes(problem.n()))?,
                deck: Vec::new(),
            }))
        };
        Ok(CpuEax {
            problem,
            spec: spec.clone(),
            distances,
            _matrix: matrix,
            order: allocate("the population", n * count)?,
            position: allocate("the population", n * count)?,
            costs: vec![i64::MAX; count],
            census: Census::new(problem.n())?,
            steps: (0..spec.population).map(Entropy::step).collect(),
            desks: (0..rayon::current_num_threads()).map(|_| desk()).collect::<Result<_, _>>()?,
            best_tour: Vec::new(),
            state: EaxState {
                built: 0,
                generations: 0,
                best_generation: 0,
                replaced: 0,
                best_cost: i64::MAX,
                mean_cost: 0.0,
                done: None,
            },
        })
    }

    /// A population that begins with these tours, one behind the other, in the problem's numbering.
    pub fn from_genes(problem: &'p Problem, spec: &EaxSpec, genes: &[u32]) -> Result<Self, BackendError> {
        let mut population = CpuEax::new(problem, spec)?;
        let n = problem.n() as usize;
        let mut seen = vec![usize::MAX; n];
        let mut is_tour = |(i, gene): (usize, &[u32])| {
            gene.iter().all(|&v| seen.get_mut(v as usize).is_some_and(|s| std::mem::replace(s, i) != i))
        };
        if genes.len() != n * spec.population as usize || !genes.chunks_exact(n).enumerate().all(&mut is_tour)
        {
            return Err(BackendError::Population { tours: spec.population, nodes: problem.n() });
        }
        population.order.copy_from_slice(genes);
        let all = 0..spec.population;
        match problem.places() {
            Places::Grid { places, up } => population.begin(Grid { up: *up }, places, all),
            Places::Planar { places, metric } => population.begin(Planar { metric: *metric }, places, all),
            Places::Numbered(places) => {
                let distances = population.distances;
                population.begin(Numbered { distances }, places, all)
            }
        }?;
        Ok(population)
    }

    /// Runs `generations` more generations, fewer once it is `enough` or there is nothing more to do; the state
    /// afterwards. A generation that is cut short keeps what it has, and does not count.
    pub fn run(&mut self, generations: u32, enough: Enough) -> Result<EaxState, BackendError> {
        let problem = self.problem;
        match problem.places() {
            Places::Grid { places, up } => self.run_by(Grid { up: *up }, places, generations, enough),
            Places::Planar { places, metric } => {
                self.run_by(Planar { metric: *metric }, places, generations, enough)
            }
            Places::Numbered(places) => {
                self.run_by(Numbered { distances: self.distances }, places, generations, enough)
            }
        }
    }

    /// The best tour so far, in the problem's numbering. Before the first run it is empty.
    pub fn best_tour(&self) -> Vec<u32> {
        self.best_tour.clone()
    }

    /// The tour at a place of the population, in the problem's numbering; empty if it is not built.
    pub fn gene(&self, place: u32) -> Vec<u32> {
        let n = self.problem.n() as usize;
        if place < self.state.built { self.order[place as usize * n..][..n].to_vec() } else { Vec::new() }
    }

    /// How it is done, in words.
    pub fn describe(&self) -> String {
        format!(
            "population of {}, {} children a pair, one CPU thread a pair, places {}",
            self.spec.population,
            self.spec.children,
            self.problem.places().kernel_name()
        )
    }

    fn run_by<G: Geometry>(
        &mut self,
        geometry: G,
        places: &[G::Place],
        generations: u32,
        enough: Enough,
    ) -> Result<EaxState, BackendError> {
        if self.state.built < self.spec.population {
            self.build(geometry, places, enough)?;
        }
        for _ in 0..generations {
            if self.state.built < self.spec.population || self.state.done.is_some() || enough() {
                break;
            }
            self.generation(geometry, places, enough)?;
        }
        Ok(self.state)
    }

    /// Builds tours until all are there or it is `enough`; the first one in any case.
    fn build<G: Geometry>(
        &mut self,
        geometry: G,
        places: &[G::Place],
        enough: Enough,
    ) -> Result<(), BackendError> {
        let (n, problem, spec) = (self.problem.n() as usize, self.problem, &self.spec);
        let own: Vec<u32> = (0..problem.n()).collect();
        let first = self.state.built;
        let view = Together(geometry::Places { geometry, start: places.as_ptr() });
        let rest = &mut self.order[first as usize * n..];
        let is_built: Vec<bool> = rest
            .par_chunks_exact_mut(n)
            .enumerate()
            .map(|(i, tour)| {
                let index = first + i as u32;
                if index > 0 && enough() {
                    return false;
                }
                start::tour(problem, spec, view.get(), index, &own, tour);
                true
            })
            .collect();
        // Those behind the first that is missing are built again, the same as they are.
        let built = is_built.iter().take_while(|&&is_built| is_built).count() as u32;
        self.begin(geometry, places, first..first + built)
    }

    /// Takes new tours into the population.
    fn begin<G: Geometry>(
        &mut self,
        geometry: G,
        places: &[G::Place],
        new: std::ops::Range<u32>,
    ) -> Result<(), BackendError> {
        let n = self.problem.n() as usize;
        let view = geometry::Places { geometry, start: places.as_ptr() };
        for place in new.clone() {
            let from = place as usize * n;
            let gene = &self.order[from..from + n];
            for (p, &v) in (0..).zip(gene) {
                self.position[from + v as usize] = p;
            }
            // SAFETY: a permutation of the problem's nodes.
            self.costs[place as usize] = unsafe { tour::cost(Serial, n as u32, view, gene.as_ptr()) };
            self.census.make_room(n)?;
            for p in 0..n {
                self.census.add(self.order[from + p], self.order[from + (p + 1) % n], 1);
            }
        }
        self.state.built = new.end;
        self.judge();
        Ok(())
    }

    fn generation<G: Geometry>(
        &mut self,
        geometry: G,
        places: &[G::Place],
        enough: Enough,
    ) -> Result<(), BackendError> {
        let number = self.state.generations + 1;
        let ring = ring(self.spec.seed, number, self.spec.population);
        let is_short = AtomicBool::new(false);
        self.state.replaced = 0;
        let count = ring.len();
        let pairs: Vec<(u32, u32)> = (0..count).map(|i| (ring[i], ring[(i + 1) % count])).collect();
        let heirs = self.cross(geometry, places, &pairs, number, &|| {
            let is_enough = enough();
            is_short.fetch_or(is_enough, Ordering::Relaxed);
            is_enough
        });
        self.succeed(&pairs, &heirs)?;
        if !is_short.into_inner() {
            self.state.generations = number;
        }
        self.judge();
        Ok(())
    }

    /// The best child of every pair, if it is good enough.
    fn cross<G: Geometry>(
        &mut self,
        geometry: G,
        places: &[G::Place],
        pairs: &[(u32, u32)],
        number: u32,
        enough: Enough,
    ) -> Vec<Heir> {
        let (n, spec) = (self.problem.n(), &self.spec);
        let near = Together(Near {
            lists: self.problem.neighbors().as_ptr(),
            k: self.problem.search_k(),
            breadth: spec.breadth.min(self.problem.search_k()),
            places: geometry::Places { geometry, start: places.as_ptr() },
        });
        // SAFETY: a step for every number of tours but the last.
        let entropy = Together((self.census.view(), unsafe { Entropy::new(self.steps.as_ptr()) }));
        let (order, position) = (&self.order, &self.position);
        let gene = |place: u32| {
            let from = place as usize * n as usize;
            // SAFETY: n nodes and positions of one tour, which nobody changes meanwhile.
            unsafe { Gene::new(n, order[from..].as_ptr(), position[from..].as_ptr()) }
        };
        let desks = &self.desks;
        let all = pairs.par_iter();
        all.map(|&(mother, father)| {
            if enough() {
                return Heir::default();
            }
            let desk = &desks[rayon::current_thread_index().unwrap_or(0) % desks.len()];
            let mut desk = desk.lock().unwrap_or_else(PoisonError::into_inner);
            let stream = Stream::new(spec.seed, number, mother);
            breed(near.get(), (gene(mother), gene(father)), entropy.get(), spec, stream, &mut desk, enough)
        })
        .collect()
    }

    /// Puts children in their parents' places.
    fn succeed(&mut self, pairs: &[(u32, u32)], heirs: &[Heir]) -> Result<(), BackendError> {
        let n = self.problem.n() as usize;
        for (&(mother, _), heir) in pairs.iter().zip(heirs) {
            if heir.gain <= 0 {
                continue;
            }
            self.costs[mother as usize] -= heir.gain;
            self.state.replaced += 1;
            self.census.make_room(heir.changes.len())?;
            let from = mother as usize * n;
            for change in heir.changes.chunks_exact(3) {
                let (v, new) = (change[0], &change[1..]);
                let p = self.position[from + v as usize] as usize;
                let old = [(p + n - 1) % n, (p + 1) % n].map(|p| self.order[from + p]);
                for &u in old.iter().filter(|&u| v < *u && !new.contains(u)) {
                    self.census.add(v, u, -1);
                }
                for &u in new.iter().filter(|&u| v < *u && !old.contains(u)) {
                    self.census.add(v, u, 1);
                }
            }
        }
        let arrays = Together((self.order.as_mut_ptr(), self.position.as_mut_ptr()));
        let desks = &self.desks;
        pairs.par_iter().zip(heirs).for_each(|(&(mother, _), heir)| {
            if heir.gain <= 0 {
                return;
            }
            let desk = &desks[rayon::current_thread_index().unwrap_or(0) % desks.len()];
            let mut desk = desk.lock().unwrap_or_else(PoisonError::into_inner);
            let from = mother as usize * n;
            // SAFETY: a tour is in one pair's first place only; the bench is this thread's; the changes came of this
            // tour.
            unsafe {
                let (order, position) = (arrays.get().0.add(from), arrays.get().1.add(from));
                let bench = Bench::new(n as u32, desk.bench.as_mut_ptr().cast());
                let count = (heir.changes.len() / 3) as u32;
                eax::apply(
                    n as u32,
                    Slots::new(order),
                    Slots::new(position),
                    heir.changes.as_ptr(),
                    count,
                    bench,
                );
            }
        });
        Ok(())
    }

    /// Looks for the best tour, and whether to go on.
    fn judge(&mut self) {
        let (n, built) = (self.problem.n() as usize, self.state.built as usize);
        let costs = &self.costs[..built];
        let Some((place, &best)) = costs.iter().enumerate().min_by_key(|&(_, cost)| cost) else { return };
        if best < self.state.best_cost {
            self.state.best_cost = best;
            self.state.best_generation = self.state.generations;
            self.best_tour.clear();
            self.best_tour.extend_from_slice(&self.order[place * n..][..n]);
        }
        self.state.mean_cost = costs.iter().map(|&c| c as f64).sum::<f64>() / built as f64;
        let is_full = built == self.costs.len();
        let waited = self.state.generations - self.state.best_generation;
        self.state.done = if best <= self.spec.target {
            Some(EaxEnd::Target)
        } else if is_full
            && (costs.iter().all(|&c| c == best) || self.spec.patience > 0 && waited >= self.spec.patience)
        {
            Some(EaxEnd::Exhausted)
        } else {
            None
        };
    }
}

/// A random cyclic order of the population for a generation.
fn ring(seed: u64, generation: u32, population: u32) -> Vec<u32> {
    let stream = Stream::new(seed, generation, u32::MAX);
    let mut ring: Vec<u32> = (0..population).collect();
    for i in (1..population).rev() {
        ring.swap(i as usize, stream.step(i).below(0, i + 1) as usize);
    }
    ring
}

/// Steps of a pair's stream that choose AB-cycles; those before divide edges into them.
const CHOICES: u32 = 1 << 31;

/// The best child of a pair.
fn breed<G: Geometry>(
    near: Near<G>,
    (a, b): (Gene, Gene),
    (frequencies, entropy): (eax::Frequencies, Entropy),
    spec: &EaxSpec,
    stream: Stream,
    desk: &mut Desk,
    enough: Enough,
) -> Heir {
    // SAFETY: the memory has the sizes asked for, and is this thread's for as long as it works on the pair; the
    // frequencies are those of the population, which nobody changes meanwhile.
    unsafe {
        let cycles = eax::decompose(a, b, stream, desk.cycles.as_mut_ptr().cast());
        let bench = Bench::new(a.n(), desk.bench.as_mut_ptr().cast());
        desk.deck.clear();
        desk.deck.extend(0..cycles.count());
        let mut heir = Heir::default();
        let mut most = 0;
        for child in 0..spec.children.min(cycles.count()) {
            if child > 0 && enough() {
                break;
            }
            let left = cycles.count() - child;
            let chosen = stream.step(CHOICES + child).below(0, left);
            let cycle = desk.deck.swap_remove(chosen as usize);
            let found = eax::evaluate(near, a, cycles, &cycle, 1, bench);
            if found.gain <= 0 {
                continue;
            }
            let loss = match spec.selection {
                Selection::Entropy => entropy.loss(frequencies, a, bench),
                Selection::Greedy => 0,
            };
            let score = score(found.gain, loss);
            if score > most {
                most = score;
                heir.gain = found.gain;
                heir.changes.clear();
                heir.changes.extend((0..bench.changes()).flat_map(|i| bench.change(i)));
            }
        }
        heir
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::{Instance, generate, nearest};
    use crate::solver::local_search::LocalSearch;

    fn problem(instance: &Instance) -> Problem {
        Problem::for_search(instance, &nearest(instance, 10), (0..instance.len() as u32).collect())
    }

    fn spec(population: u32, target: i64) -> EaxSpec {
        EaxSpec {
            seed: 1,
            population,
            children: 10,
            breadth: 10,
            selection: Selection::Entropy,
            local_search: (LocalSearch::TwoOpt, 8),
            patience: 50,
            target,
        }
    }

    fn run_on(threads: usize, problem: &Problem, spec: &EaxSpec) -> (EaxState, Vec<Vec<u32>>) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut population = CpuEax::new(problem, spec).unwrap();
            let state = population.run(12, &|| false).unwrap();
            (state, (0..spec.population).map(|i| population.gene(i)).collect())
        })
    }

    #[test]
    fn threads_do_not_matter() {
        let instance = generate::uniform(300, 5).unwrap();
        let (problem, spec) = (problem(&instance), spec(20, 0));
        let (state, genes) = run_on(1, &problem, &spec);
        assert_eq!((state, genes.clone()), run_on(2, &problem, &spec));
        let costs: Vec<i64> =
            genes.iter().map(|g| instance.check_tour(&problem.original(g)).unwrap()).collect();
        assert_eq!(state.mean_cost, costs.iter().sum::<i64>() as f64 / 20.0);
        assert!(state.generations == 12 && state.replaced > 0);
        // The same population given as it is.
        let population = CpuEax::from_genes(&problem, &spec, &genes.concat()).unwrap();
        assert_eq!((0..20).map(|i| population.gene(i)).collect::<Vec<_>>(), genes);
        assert_eq!(population.state.best_cost, *costs.iter().min().unwrap());
    }

    #[test]
    fn a_ring_is_solved() {
        // The best tour goes around.
        let point = |i: u32| {
            let angle = f64::from(i * 77 % 200) / 200.0 * std::f64::consts::TAU;
            [(1e6 * angle.cos()).round(), (1e6 * angle.sin()).round(), 0.0]
        };
        let points = (0..200).map(point).collect();
        let instance = Instance::from_points("ring", antwarp_core::metric::Metric::Euc2d, points).unwrap();
        let mut around: Vec<u32> = (0..200).collect();
        around.sort_by_key(|i| i * 77 % 200);
        let best = instance.check_tour(&around).unwrap();
        let problem = problem(&instance);
        let mut population = CpuEax::new(&problem, &spec(20, best)).unwrap();
        let state = population.run(200, &|| false).unwrap();
        assert_eq!((state.best_cost, state.done), (best, Some(EaxEnd::Target)));
        assert_eq!(instance.check_tour(&problem.original(&population.best_tour())).unwrap(), best);
    }

    #[test]
    fn ends_when_it_is_enough() {
        let instance = generate::uniform(100, 1).unwrap();
        let problem = problem(&instance);
        let mut population = CpuEax::new(&problem, &spec(10, 0)).unwrap();
        let state = population.run(5, &|| true).unwrap();
        assert!(state.built >= 1 && state.generations == 0);
        assert_eq!(population.best_tour().len(), 100);
        assert_eq!(population.run(5, &|| false).unwrap().generations, 5);
    }

    #[test]
    fn a_population_that_is_none() {
        let instance = generate::uniform(50, 1).unwrap();
        let problem = problem(&instance);
        for genes in [vec![], vec![0; 100], (0..100).collect()] {
            let population = CpuEax::from_genes(&problem, &spec(2, 0), &genes);
            assert!(matches!(population, Err(BackendError::Population { tours: 2, nodes: 50 })));
        }
    }
}

//! Random settings of every algorithm.

use antwarp::engine::LocalSearch;
use antwarp::engine::start::Start;
use antwarp::solver::Algorithm;
use antwarp::solver::acs::{AcsSettings, Greedy, Pheromone, Remember, Update};
use antwarp::solver::genetic::{Crossover, GeneticSettings, Initial, Pairing, Partners};
use antwarp::solver::ils::{IlsSettings, Improvement, Moves};
use antwarp::solver::lin_kernighan::{Acceptance, LinKernighanSettings, NeighborKind};
use antwarp::solver::mmas::{Deposit, MmasSettings, Selection, TabuKind};

use crate::draws::Draws;

const SEARCHES: [LocalSearch; 4] =
    [LocalSearch::TwoOpt, LocalSearch::OrOpt, LocalSearch::Or2opt, LocalSearch::ThreeOpt];
const ACCEPTED: [Acceptance; 4] =
    [Acceptance::Better, Acceptance::BetterOrEqual, Acceptance::Always, Acceptance::Annealing];
const NEIGHBORS: [u32; 5] = [1, 2, 5, 12, 100];

/// An algorithm that solves such instances, with any settings that go together.
pub fn random(draws: &mut Draws, is_symmetric: bool, is_cuda: bool) -> Algorithm {
    let kinds = if is_symmetric { 7 } else { 3 };
    match draws.below(kinds) {
        0 => Algorithm::Mmas(mmas(draws, is_symmetric)),
        1 => Algorithm::Acs(acs(draws, is_symmetric, is_cuda)),
        2 => Algorithm::Genetic(genetic(draws, is_symmetric)),
        3 => Algorithm::LinKernighan(lin_kernighan(draws)),
        4 | 5 => Algorithm::Ils(ils(draws)),
        _ => Algorithm::Genetic(edge_assembly(draws)),
    }
}

/// The algorithm and the setting that changes most of it.
pub fn label(algorithm: &Algorithm) -> String {
    let what = match algorithm {
        Algorithm::LinKernighan(_) => String::new(),
        Algorithm::Ils(settings) => format!(" {:?}", settings.improvement),
        Algorithm::Mmas(settings) => format!(" {:?}", settings.selection),
        Algorithm::Acs(settings) => format!(" {:?} {:?}", settings.pheromone, settings.update),
        Algorithm::Genetic(settings) => format!(" {:?}", settings.crossover),
    };
    format!("{}{}", algorithm.name(), what.to_lowercase())
}

fn local_search(draws: &mut Draws, is_symmetric: bool) -> LocalSearch {
    let searches = if is_symmetric { &SEARCHES[..] } else { &[LocalSearch::Or3opt] };
    if draws.chance(0.5) { draws.one_of(searches) } else { LocalSearch::None }
}

fn mmas(draws: &mut Draws, is_symmetric: bool) -> MmasSettings {
    let candidates = draws.one_of(&[None, Some(1), Some(3), Some(32)]);
    MmasSettings {
        seed: draws.any(),
        ants: draws.maybe(|draws| 1 + draws.below(40) as u32),
        candidates,
        alpha: draws.one_of(&[1.0, 1.0, 0.0, 2.5, 20.0]),
        beta: draws.one_of(&[2.0, 2.0, 0.0, 5.0, 20.0]),
        rho: draws.one_of(&[None, Some(0.5), Some(0.02), Some(0.999)]),
        p_best: draws.one_of(&[0.01, 0.5, 1e-9]),
        selection: draws.one_of(&[Selection::Wrs, Selection::Rwm]),
        tabu: draws.one_of(&[TabuKind::List, TabuKind::Compact, TabuKind::Bitmask]),
        warps: if candidates.is_none() { draws.one_of(&[None, Some(1), Some(2)]) } else { None },
        deposit: draws.maybe(|draws| {
            draws.one_of(&[Deposit::Iteration, Deposit::Best, Deposit::Restart, Deposit::Mixed])
        }),
        reset_after: draws.maybe(|draws| draws.below(6) as u32),
        local_search: draws.maybe(|draws| local_search(draws, is_symmetric)),
        neighbors: draws.maybe(|draws| draws.one_of(&NEIGHBORS)),
        breadth: draws.maybe(|draws| draws.one_of(&NEIGHBORS)),
    }
}

fn acs(draws: &mut Draws, is_symmetric: bool, is_cuda: bool) -> AcsSettings {
    let pheromone = draws.one_of(&[Pheromone::Matrix, Pheromone::Candidate, Pheromone::Selective]);
    let updates = [Update::Relaxed, Update::Atomic, Update::Sequential];
    let does_go = |update: &Update| match update {
        Update::Relaxed => true,
        Update::Atomic => pheromone != Pheromone::Selective,
        Update::Sequential => !is_cuda,
    };
    let updates: Vec<Update> = updates.into_iter().filter(does_go).collect();
    AcsSettings {
        seed: draws.any(),
        ants: draws.maybe(|draws| 1 + draws.below(40) as u32),
        candidates: draws.one_of(&[1, 3, 32]),
        beta: draws.one_of(&[3.0, 3.0, 0.0, 20.0]),
        alpha: draws.one_of(&[0.2, 0.001, 0.99]),
        rho: draws.one_of(&[0.01, 0.5, 0.99]),
        q0: draws.one_of(&[None, None, Some(0.0), Some(0.5), Some(1.0)]),
        period: draws.maybe(|draws| draws.below(4) as u32),
        pheromone,
        slots: draws.one_of(&[1, 3, 8]),
        remember: Some(draws.one_of(&[Remember::Best, Remember::Taken])),
        greedy: draws.one_of(&[Greedy::Candidates, Greedy::Remembered]),
        update: draws.one_of(&updates),
        reset_after: draws.maybe(|draws| draws.below(6) as u32),
        local_search: draws.maybe(|draws| local_search(draws, is_symmetric)),
        neighbors: draws.maybe(|draws| draws.one_of(&NEIGHBORS)),
        breadth: draws.maybe(|draws| draws.one_of(&NEIGHBORS)),
    }
}

fn genetic(draws: &mut Draws, is_symmetric: bool) -> GeneticSettings {
    let groups = 1 + draws.below(4) as u32;
    let initials = [Initial::Random, Initial::Ants, Initial::SpaceFilling, Initial::LocalOptima];
    GeneticSettings {
        seed: draws.any(),
        crossover: draws.one_of(&[Crossover::Scx, Crossover::Bcscx, Crossover::Arx, Crossover::Hybrid]),
        population: Some(groups * 4 * (1 + draws.below(16) as u32)),
        groups,
        transfer_every: draws.below(4) as u32,
        mutation: draws.one_of(&[0.1, 0.0, 1.0]),
        pairing: draws.one_of(&[Pairing::Fixed, Pairing::Shuffled]),
        partners: draws.one_of(&[Partners::Pairs, Partners::Ring]),
        improve_best: draws.one_of(&[true, false]),
        initial: draws.one_of(if is_symmetric { &initials } else { &initials[..3] }),
        local_search: if is_symmetric { local_search(draws, true) } else { LocalSearch::None },
        neighbors: draws.one_of(&NEIGHBORS),
        breadth: draws.one_of(&NEIGHBORS),
        ..GeneticSettings::default()
    }
}

fn edge_assembly(draws: &mut Draws) -> GeneticSettings {
    let groups = 1 + draws.below(3) as u32;
    GeneticSettings {
        seed: draws.any(),
        population: Some(groups * (8 + draws.below(20) as u32)),
        groups,
        transfer_every: draws.below(3) as u32,
        children: draws.one_of(&[1, 5, 30]),
        initial: draws.one_of(&[Initial::LocalOptima, Initial::Random, Initial::Ants, Initial::SpaceFilling]),
        local_search: local_search(draws, true),
        neighbors: draws.one_of(&NEIGHBORS),
        breadth: draws.one_of(&NEIGHBORS),
        ..GeneticSettings::of(Crossover::Eax)
    }
}

fn lin_kernighan(draws: &mut Draws) -> LinKernighanSettings {
    LinKernighanSettings {
        seed: draws.any(),
        neighbors: draws.one_of(&NEIGHBORS),
        neighbor_lists: draws.one_of(&[NeighborKind::Nearest, NeighborKind::Quadrant]),
        local_search: None,
        accept: draws.one_of(&ACCEPTED),
        start: draws.maybe(|draws| draws.one_of(&Start::ALL)),
        walk: draws.maybe(|draws| draws.one_of(&[1, 20, 1000])),
        temperature: draws.one_of(&[0.7, 0.0, 1000.0]),
        chains: draws.maybe(|draws| 1 + draws.below(8) as u32),
        trials: draws.maybe(|draws| 1 + draws.below(64) as u32),
        descent_only: draws.chance(0.1),
    }
}

fn ils(draws: &mut Draws) -> IlsSettings {
    let LinKernighanSettings {
        seed,
        neighbors,
        neighbor_lists,
        accept,
        walk,
        temperature,
        chains,
        trials,
        descent_only,
        ..
    } = lin_kernighan(draws);
    IlsSettings {
        seed,
        local_search: draws.one_of(&SEARCHES),
        neighbors,
        neighbor_lists,
        breadth: draws.one_of(&NEIGHBORS),
        start: draws.one_of(&Start::ALL),
        segment: draws.one_of(&[0, 1, 3, 50]),
        accept,
        temperature,
        improvement: draws.one_of(&[Improvement::First, Improvement::Best]),
        moves: draws.one_of(&[Moves::Many, Moves::One]),
        chains,
        trials,
        walk,
        descent_only,
    }
}

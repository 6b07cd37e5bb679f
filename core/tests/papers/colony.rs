//! Limits against the formulas, and the judgement of iterations.

use crate::common::memory::Array;
use crate::common::teams::{ORDERS, Shareable, run};
use antwarp_core::papers::ants::colony::{ColonyRules, ColonyState, Depositor, Limits, judge, limit_ratio};
use antwarp_core::papers::ants::pheromone::{self, Form};
use antwarp_core::team::Serial;

const RULES: ColonyRules = ColonyRules {
    target: 0,
    unit_cost: 1000.0,
    persistence: 0.5,
    limit_ratio: 0.01,
    reset_after: 0,
    padding: 0,
};

#[test]
fn limits_follow_the_best_cost_and_the_deposit_its_tour() {
    // tau_max = 1 / (1 - rho) * unit / best, tau_min = ratio * tau_max, deposit = unit / cost.
    let limits = RULES.limits(800, 1000);
    assert_eq!(limits, Limits { lowest: 0.025, highest: 2.5, deposit: 1.0 });
    let slow = ColonyRules { persistence: 0.98, limit_ratio: 0.5, ..RULES };
    let limits = slow.limits(500, 2000);
    assert!((limits.highest - 100.0).abs() < 1e-4 && (limits.lowest - 50.0).abs() < 1e-4, "{limits:?}");
    assert_eq!(limits.deposit, 0.5);
}

#[test]
fn tours_of_length_0_have_finite_limits() {
    for unit_cost in [0.0, 1.0, 1e9] {
        let limits = ColonyRules { unit_cost, ..RULES }.limits(0, 0);
        assert!(limits.highest.is_finite() && limits.lowest > 0.0 && limits.deposit > 0.0, "{limits:?}");
    }
}

#[test]
fn limit_ratios_are_equation_11() {
    // Computed by hand: (1 - p^(1/n)) / ((avg - 1) p^(1/n)).
    for (n, mean_choices, p_best, ratio) in [
        (100, 50.0, 0.05, 6.206236308418875e-4),
        (1000, 20.0, 0.01, 2.429363304418482e-4),
        (52, 26.0, 0.05, 2.372081498788724e-3),
        (18512, 9256.0, 0.05, 1.7486720725793296e-8),
    ] {
        let got = limit_ratio(n, mean_choices, p_best);
        assert!((got / ratio - 1.0).abs() < 1e-9, "{n}: {got} for {ratio}");
    }
    // The lower limit never exceeds the upper one, and a single choice is no division by 0.
    assert_eq!(limit_ratio(1, 1.0, 0.05), 1.0);
    assert_eq!(limit_ratio(2, 1.0, 1e-9), 1.0);
    assert!((limit_ratio(100, 1.0, 0.05) / 0.030_410_557_911_252_487 - 1.0).abs() < 1e-9);
}

const N: u32 = 4;

/// The tours of three ants, each recognisable by its links.
const TOURS: [u16; 12] = [0, 1, 2, 3, 0, 2, 1, 3, 1, 0, 2, 3];

/// A colony between iterations.
struct Colony {
    rules: ColonyRules,
    state: ColonyState,
    best_tour: Array<u16>,
    restart_tour: Array<u16>,
    successor: Array<u32>,
    predecessor: Array<u32>,
}

impl Colony {
    fn new(rules: ColonyRules) -> Self {
        let limits = Limits { lowest: 0.5, highest: 1.0, deposit: 0.0 };
        Colony {
            rules,
            state: ColonyState::new(limits),
            best_tour: Array::rubbish(N as usize),
            restart_tour: Array::rubbish(N as usize),
            successor: Array::rubbish(N as usize),
            predecessor: Array::rubbish(N as usize),
        }
    }

    /// Judges an iteration in which the tours had these costs.
    fn judge(&mut self, costs: [i64; 3], depositor: Depositor) {
        let links = (self.successor.slots(), self.predecessor.slots());
        let best = (self.best_tour.slots(), self.restart_tour.slots());
        let (state, shape) = (&raw mut self.state, (N, 3, depositor));
        // SAFETY: three costs and tours, and n places for tour and links.
        unsafe { judge(Serial, self.rules, shape, costs.as_ptr(), TOURS.as_ptr(), state, best, links) }
    }

    /// Whether every node is linked to itself: no tour has deposited.
    fn is_unlinked(&self) -> bool {
        (0..N)
            .all(|node| [&self.successor, &self.predecessor].iter().all(|links| links[node as usize] == node))
    }

    /// The ant whose tour deposits, by the links.
    fn depositing(&self) -> Option<usize> {
        TOURS.chunks(4).position(|tour| {
            (0..4).all(|i| {
                let (a, b) = (tour[i], tour[(i + 1) % 4]);
                self.successor[a as usize] == b as u32 && self.predecessor[b as usize] == a as u32
            })
        })
    }

    fn best_ant(&self) -> Option<usize> {
        TOURS.chunks(4).position(|tour| tour == &self.best_tour[..])
    }
}

#[test]
fn the_first_iteration_has_the_best_tour() {
    let mut colony = Colony::new(RULES);
    colony.judge([900, 800, 850], Depositor::Iteration);
    assert_eq!((colony.best_ant(), colony.depositing()), (Some(1), Some(1)));
    let expected = ColonyState {
        best_cost: 800,
        iteration_cost: 800,
        iterations: 1,
        best_iteration: 0,
        limits: RULES.limits(800, 800),
        resets: 0,
        restart_cost: 800,
        restart_iteration: 0,
        done: 0,
    };
    assert_eq!(colony.state, expected);
}

#[test]
fn of_equal_tours_the_lowest_ant_has_the_best() {
    for (costs, ant) in [([5, 5, 5], 0), ([6, 5, 5], 1), ([6, 7, 5], 2), ([5, 6, 5], 0)] {
        let mut colony = Colony::new(RULES);
        colony.judge(costs, Depositor::Iteration);
        assert_eq!((colony.best_ant(), colony.depositing()), (Some(ant), Some(ant)), "{costs:?}");
    }
}

#[test]
fn a_worse_iteration_leaves_the_best_tour() {
    let rules = [(Depositor::Iteration, 2, 950), (Depositor::Best, 1, 800), (Depositor::Restart, 1, 800)];
    for (depositor, depositing, cost) in rules {
        let mut colony = Colony::new(RULES);
        colony.judge([900, 800, 850], Depositor::Iteration);
        colony.judge([960, 970, 950], depositor);
        assert_eq!((colony.best_ant(), colony.depositing()), (Some(1), Some(depositing)));
        let state = colony.state;
        assert_eq!((state.best_cost, state.iteration_cost), (800, 950));
        assert_eq!((state.iterations, state.best_iteration), (2, 0));
        assert_eq!(state.limits, RULES.limits(800, cost));
    }
}

#[test]
fn an_equal_iteration_is_no_improvement() {
    let mut colony = Colony::new(RULES);
    colony.judge([900, 800, 850], Depositor::Iteration);
    colony.judge([800, 900, 900], Depositor::Iteration);
    assert_eq!((colony.best_ant(), colony.depositing()), (Some(1), Some(0)));
    assert_eq!((colony.state.best_iteration, colony.state.iterations), (0, 2));
}

#[test]
fn a_better_iteration_deposits_its_tour_whatever_the_rule() {
    for depositor in [Depositor::Iteration, Depositor::Best, Depositor::Restart] {
        let mut colony = Colony::new(RULES);
        colony.judge([900, 800, 850], depositor);
        colony.judge([960, 970, 950], depositor);
        colony.judge([700, 970, 950], depositor);
        assert_eq!((colony.best_ant(), colony.depositing()), (Some(0), Some(0)));
        let state = colony.state;
        assert_eq!((state.best_cost, state.iterations, state.best_iteration), (700, 3, 2));
        assert_eq!(state.limits, RULES.limits(700, 700));
    }
}

/// What deposits in the iterations of a colony whose trails are reset after two without a better tour.
#[test]
fn stagnation_resets_the_trails() {
    let rules = ColonyRules { reset_after: 2, ..RULES };
    for (depositor, first, later, last) in [
        (Depositor::Iteration, 1, 2, (1, 890)),
        (Depositor::Best, 1, 1, (1, 800)),
        (Depositor::Restart, 1, 1, (0, 880)),
    ] {
        let mut colony = Colony::new(rules);
        colony.judge([900, 800, 850], depositor);
        assert_eq!(colony.depositing(), Some(first));
        // One iteration without a better tour: not yet.
        colony.judge([960, 970, 950], depositor);
        assert_eq!((colony.state.resets, colony.depositing()), (0, Some(later)));
        // The second: every trail goes to tau_max of the best of all, and no tour deposits.
        colony.judge([960, 970, 950], depositor);
        let highest = rules.limits(800, 800).highest;
        assert_eq!(colony.state.limits, Limits { lowest: highest, highest, deposit: 0.0 });
        assert!(colony.is_unlinked() && colony.best_ant() == Some(1));
        let state = colony.state;
        assert_eq!((state.resets, state.restart_cost, state.restart_iteration), (1, i64::MAX, 2));
        assert_eq!((state.best_cost, state.iteration_cost, state.best_iteration), (800, 950, 0));
        // Then the best since the reset is another one than the best of all, and the limits are of the latter.
        colony.judge([880, 890, 895], depositor);
        assert_eq!((colony.state.restart_cost, colony.state.restart_iteration), (880, 3));
        colony.judge([895, 890, 896], depositor);
        assert_eq!((colony.state.resets, colony.state.best_cost, colony.best_ant()), (1, 800, Some(1)));
        assert_eq!((colony.depositing(), colony.state.limits), (Some(last.0), rules.limits(800, last.1)));
        // Stagnation is counted from the best since the reset.
        colony.judge([895, 890, 896], depositor);
        assert_eq!((colony.state.resets, colony.state.restart_iteration), (2, 5));
    }
}

#[test]
fn without_a_number_of_iterations_nothing_is_reset() {
    let mut colony = Colony::new(RULES);
    for _ in 0..1000 {
        colony.judge([900, 800, 850], Depositor::Restart);
    }
    assert_eq!((colony.state.resets, colony.state.restart_iteration), (0, 0));
}

/// Limits of a reset, put into an update, leave every trail at tau_max.
#[test]
fn a_reset_puts_every_trail_to_its_upper_limit() {
    let mut colony = Colony::new(ColonyRules { reset_after: 1, ..RULES });
    colony.judge([900, 800, 850], Depositor::Best);
    colony.judge([900, 800, 850], Depositor::Best);
    let limits = colony.state.limits;
    let form = pheromone::Matrix { n: N };
    let entries = N as usize * form.stride() as usize;
    let values: Vec<f32> = (0..entries).map(|i| i as f32 / 100.0).collect();
    let mut trails = Array::of(&values);
    let (mut heuristic, mut weights) = (Array::of(&vec![1.0; entries]), Array::<f32>::rubbish(entries));
    let tables =
        pheromone::Tables { trails: trails.slots(), heuristic: heuristic.slots(), weights: weights.slots() };
    for node in 0..N {
        let links = (colony.successor[node as usize], colony.predecessor[node as usize]);
        // SAFETY: tables of the form's size, a row at a time.
        unsafe { pheromone::update_row(Serial, form, tables, node, links, limits, (0.5, 1.0)) }
    }
    assert!(trails.iter().all(|&trail| trail == RULES.limits(800, 800).highest), "{:?}", &trails[..]);
}

#[test]
fn costs_beyond_32_bits_are_told_apart() {
    let mut colony = Colony::new(RULES);
    colony.judge([(7 << 32) + 1, 7 << 32, 9 << 32], Depositor::Iteration);
    assert_eq!((colony.best_ant(), colony.state.best_cost), (Some(1), 7 << 32));
}

#[test]
fn the_target_ends_the_run() {
    let mut colony = Colony::new(ColonyRules { target: 800, ..RULES });
    colony.judge([900, 801, 850], Depositor::Iteration);
    assert_eq!(colony.state.done, 0);
    colony.judge([900, 900, 800], Depositor::Iteration);
    assert_eq!(colony.state.done, 1);
    let (state, tour, links) = (colony.state, colony.best_tour.to_vec(), colony.successor.to_vec());
    colony.judge([1, 2, 3], Depositor::Iteration);
    assert_eq!(colony.state, state);
    assert_eq!((colony.best_tour.to_vec(), colony.successor.to_vec()), (tour, links));
}

#[test]
fn every_team_judges_alike() {
    // Ties between ants of different members, and of one.
    for costs in [[5, 5, 9], [9, 5, 5], [5, 9, 5], [5, 6, 7], [7, 6, 5], [5, 5, 5]] {
        let mut alone = Colony::new(RULES);
        alone.judge([6, 7, 6], Depositor::Iteration);
        let before = alone.state;
        alone.judge(costs, Depositor::Best);
        for size in [2, 3, 4, 32] {
            for order in ORDERS {
                let mut colony = Colony::new(RULES);
                colony.judge([6, 7, 6], Depositor::Iteration);
                assert_eq!(colony.state, before);
                let links = (colony.successor.slots(), colony.predecessor.slots());
                let tours = (colony.best_tour.slots(), colony.restart_tour.slots());
                let shared = Shareable::new((&raw mut colony.state, tours, links));
                run(size, order, |team| {
                    let (state, best, links) = shared.get();
                    let (costs, tours) = (costs.as_ptr(), TOURS.as_ptr());
                    // SAFETY: three costs and tours, and n places for tour and links.
                    unsafe { judge(team, RULES, (N, 3, Depositor::Best), costs, tours, state, best, links) }
                });
                assert_eq!(colony.state, alone.state, "{size} {order:?}");
                assert_eq!(colony.best_ant(), alone.best_ant(), "{size} {order:?}");
                assert_eq!(colony.depositing(), alone.depositing(), "{size} {order:?}");
            }
        }
    }
}

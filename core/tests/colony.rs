//! Limits against the formulas, and the judgement of iterations.

mod common;

use antwarp_core::colony::{ColonyRules, ColonyState, Limits, judge, limit_ratio};
use antwarp_core::team::Serial;
use common::memory::Array;
use common::teams::{ORDERS, Shareable, run};

const RULES: ColonyRules = ColonyRules { target: 0, unit_cost: 1000.0, persistence: 0.5, limit_ratio: 0.01 };

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
            successor: Array::rubbish(N as usize),
            predecessor: Array::rubbish(N as usize),
        }
    }

    /// Judges an iteration in which the tours had these costs.
    fn judge(&mut self, costs: [i64; 3], deposit_best: bool) {
        let links = (self.successor.slots(), self.predecessor.slots());
        let (best, state) = (self.best_tour.slots(), &raw mut self.state);
        let shape = (N, 3, deposit_best);
        // SAFETY: three costs and tours, and n places for tour and links.
        unsafe { judge(Serial, self.rules, shape, costs.as_ptr(), TOURS.as_ptr(), state, best, links) }
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
    colony.judge([900, 800, 850], false);
    assert_eq!((colony.best_ant(), colony.depositing()), (Some(1), Some(1)));
    let expected = ColonyState {
        best_cost: 800,
        iteration_cost: 800,
        iterations: 1,
        best_iteration: 0,
        limits: RULES.limits(800, 800),
        done: 0,
    };
    assert_eq!(colony.state, expected);
}

#[test]
fn of_equal_tours_the_lowest_ant_has_the_best() {
    for (costs, ant) in [([5, 5, 5], 0), ([6, 5, 5], 1), ([6, 7, 5], 2), ([5, 6, 5], 0)] {
        let mut colony = Colony::new(RULES);
        colony.judge(costs, false);
        assert_eq!((colony.best_ant(), colony.depositing()), (Some(ant), Some(ant)), "{costs:?}");
    }
}

#[test]
fn a_worse_iteration_leaves_the_best_tour() {
    for (deposit_best, depositing, cost) in [(false, 2, 950), (true, 1, 800)] {
        let mut colony = Colony::new(RULES);
        colony.judge([900, 800, 850], false);
        colony.judge([960, 970, 950], deposit_best);
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
    colony.judge([900, 800, 850], false);
    colony.judge([800, 900, 900], false);
    assert_eq!((colony.best_ant(), colony.depositing()), (Some(1), Some(0)));
    assert_eq!((colony.state.best_iteration, colony.state.iterations), (0, 2));
}

#[test]
fn a_better_iteration_deposits_its_tour_in_either_mode() {
    for deposit_best in [false, true] {
        let mut colony = Colony::new(RULES);
        colony.judge([900, 800, 850], deposit_best);
        colony.judge([960, 970, 950], deposit_best);
        colony.judge([700, 970, 950], deposit_best);
        assert_eq!((colony.best_ant(), colony.depositing()), (Some(0), Some(0)));
        let state = colony.state;
        assert_eq!((state.best_cost, state.iterations, state.best_iteration), (700, 3, 2));
        assert_eq!(state.limits, RULES.limits(700, 700));
    }
}

#[test]
fn costs_beyond_32_bits_are_told_apart() {
    let mut colony = Colony::new(RULES);
    colony.judge([(7 << 32) + 1, 7 << 32, 9 << 32], false);
    assert_eq!((colony.best_ant(), colony.state.best_cost), (Some(1), 7 << 32));
}

#[test]
fn the_target_ends_the_run() {
    let mut colony = Colony::new(ColonyRules { target: 800, ..RULES });
    colony.judge([900, 801, 850], false);
    assert_eq!(colony.state.done, 0);
    colony.judge([900, 900, 800], false);
    assert_eq!(colony.state.done, 1);
    let (state, tour, links) = (colony.state, colony.best_tour.to_vec(), colony.successor.to_vec());
    colony.judge([1, 2, 3], false);
    assert_eq!(colony.state, state);
    assert_eq!((colony.best_tour.to_vec(), colony.successor.to_vec()), (tour, links));
}

#[test]
fn every_team_judges_alike() {
    // Ties between ants of different members, and of one.
    for costs in [[5, 5, 9], [9, 5, 5], [5, 9, 5], [5, 6, 7], [7, 6, 5], [5, 5, 5]] {
        let mut alone = Colony::new(RULES);
        alone.judge([6, 7, 6], false);
        let before = alone.state;
        alone.judge(costs, true);
        for size in [2, 3, 4, 32] {
            for order in ORDERS {
                let mut colony = Colony::new(RULES);
                colony.judge([6, 7, 6], false);
                assert_eq!(colony.state, before);
                let links = (colony.successor.slots(), colony.predecessor.slots());
                let shared = Shareable::new((&raw mut colony.state, colony.best_tour.slots(), links));
                run(size, order, |team| {
                    let (state, best, links) = shared.get();
                    let (costs, tours) = (costs.as_ptr(), TOURS.as_ptr());
                    // SAFETY: three costs and tours, and n places for tour and links.
                    unsafe { judge(team, RULES, (N, 3, true), costs, tours, state, best, links) }
                });
                assert_eq!(colony.state, alone.state, "{size} {order:?}");
                assert_eq!(colony.best_ant(), alone.best_ant(), "{size} {order:?}");
                assert_eq!(colony.depositing(), alone.depositing(), "{size} {order:?}");
            }
        }
    }
}

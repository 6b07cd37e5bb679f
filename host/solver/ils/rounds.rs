//! Chains in tiles: rounds, each of which cuts the tours anew.

use std::time::Duration;

use antwarp_core::local_search::chains::ChainsState;
use antwarp_core::local_search::tile::part;
use antwarp_core::rng::Stream;

use super::settings::{Acceptance, Settings};
use crate::engine::{BackendError, Budget, Chains, Engine, Round, Status, StopReason, Tiling};

/// Partitions that rounds go through by turns.
pub(super) const PARTITIONS: usize = 8;
/// Rounds at the start whose tiles begin with a descent from every node.
const DESCENTS: u32 = 2 * PARTITIONS as u32 + 2;
/// Rounds between two tournaments.
const TOURNAMENT: u32 = 8;

/// Chains, round by round.
pub(super) struct Rounds<'a> {
    pub chains: Box<dyn Chains + 'a>,
    pub settings: &'a Settings,
    pub setup: Duration,
    pub mean_edge: f32,
    pub n: u32,
    /// Number of chains.
    pub count: u32,
    pub tiles: u32,
    pub partitions: usize,
    pub state: ChainsState,
    pub round: u32,
    /// Kicks of each chain so far.
    pub kicks: u64,
    /// And at the end of the round that found the best tour.
    pub best_kicks: u64,
    /// No kicks are wanted, and nothing else makes the tour shorter.
    pub is_optimal: bool,
}

impl Rounds<'_> {
    /// Rounds that cut the tour in every way there is.
    fn cycle(&self) -> u32 {
        if self.tiles == 1 { 1 } else { 2 * PARTITIONS as u32 }
    }

    /// The next round: windows and cells by turns, with as many kicks as nodes unless fewer are left.
    fn next(&mut self, progress: f32, left: u64) -> Round {
        let number = self.round;
        let windows = self.partitions == 0 || number.is_multiple_of(2);
        let offset = Stream::new(self.settings.seed, number, u32::MAX).step(0).below(0, self.n);
        let most =
            if self.settings.descent_only { 0 } else { u64::from(part(self.n, self.tiles, 0).1.max(1)) };
        let kicks = left.div_ceil(u64::from(self.tiles)).min(most) as u32;
        let bits = 32 - (self.count - 1).leading_zeros();
        let tournament = self.count > 1 && number % TOURNAMENT == TOURNAMENT - 1;
        self.round += 1;
        self.kicks += u64::from(kicks) * u64::from(self.tiles);
        Round {
            number,
            kicks,
            temperature: if self.settings.accept == Acceptance::Annealing {
                self.settings.temperature * self.mean_edge * (1.0 - progress).max(0.0)
            } else {
                0.0
            },
            tiles: if windows {
                Tiling::Windows(if self.tiles == 1 { 0 } else { offset })
            } else {
                Tiling::Cells((number / 2) as usize % self.partitions)
            },
            descend_first: self.settings.descent_only || number < if self.tiles == 1 { 1 } else { DESCENTS },
            rival_bit: if tournament { 1 << (number / TOURNAMENT % bits) } else { 0 },
        }
    }
}

impl Engine for Rounds<'_> {
    type Cost = i64;
    type Best = Vec<u32>;

    fn advance(&mut self, budget: &Budget) -> Result<u64, BackendError> {
        let mut kicks = self.kicks;
        let mut rounds = Vec::new();
        while (rounds.len() as u64) < budget.units && budget.left(self.kicks) > 0 {
            rounds.push(self.next(budget.progress(self.setup, self.kicks), budget.left(self.kicks)));
        }
        let state = self.chains.run(&rounds, &|| budget.is_over())?;
        // The backend may have ended before the last of these rounds, or within it.
        for round in rounds.iter().filter(|round| round.number < state.rounds) {
            kicks += u64::from(round.kicks) * u64::from(self.tiles);
            if round.number + 1 == state.best_round {
                self.best_kicks = kicks;
            }
        }
        self.kicks = kicks.saturating_sub(self.chains.kicks_left_out() / u64::from(self.count));
        self.best_kicks = self.best_kicks.min(self.kicks);
        (self.round, self.state) = (state.rounds, state);
        self.is_optimal = self.settings.descent_only && state.rounds - state.best_round >= self.cycle();
        Ok(rounds.len() as u64)
    }

    fn status(&self) -> Status {
        Status {
            iterations: self.kicks,
            best_iteration: self.best_kicks,
            best_cost: Some(self.state.best_cost),
            cost: self.state.round_cost,
            tours: self.kicks * u64::from(self.count),
            ended: self.is_optimal.then_some(StopReason::LocalOptimum),
        }
    }

    fn best(&mut self) -> Result<Vec<u32>, BackendError> {
        self.chains.best_tour()
    }

    fn describe(&self) -> String {
        self.chains.describe()
    }
}

//! A run in a checkpoint, and how it continues.

use serde::{Deserialize, Serialize};

use super::super::cross;
use super::super::epochs::{Epochs, Kept};
use super::super::settings::Plan;
use super::{Now, Phase, Rounds};
use crate::engine::{BackendError, Deadline, State};

/// The kind of a phase.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    Descent,
    Kicks,
    Crossing,
}

/// All of a run except for its tours.
#[derive(Serialize, Deserialize)]
struct Facts {
    phase: Kind,
    now: Now,
    /// Kicks of the [kept tours](Kept), and their time.
    kept: Kept,
    /// See [`Plan::is_crossed`] and [`Plan::is_free`].
    is_crossed: bool,
    is_free: bool,
}

/// A run from a checkpoint.
pub(in super::super) struct Saved {
    facts: Facts,
    /// The current tours, or those that are being crossed.
    tours: Vec<u32>,
    best: Vec<u32>,
    waiting: Vec<u32>,
    bests: Vec<u32>,
}

impl Saved {
    /// Takes a run, after its start tour.
    ///
    /// # Errors
    /// If the state is not one of a run with tours of n nodes.
    pub(in super::super) fn take(state: &mut State, n: u32) -> Result<Saved, BackendError> {
        let mut facts: Facts = state.take_json()?;
        let (tours, best) = (state.take_tours(n)?, state.take_tour(n)?);
        facts.kept.tours = state.take_tours(n)?;
        let (waiting, bests) = (state.take_tours(n)?, state.take_tours(n)?);
        if tours.is_empty() || facts.now.trials == 0 {
            return Err(BackendError::State);
        }
        Ok(Saved { facts, tours, best, waiting, bests })
    }

    /// Returns a number that is the same for runs that can share tours from here on: while each kicks its own ones, if all are at the
    /// same restart; else if they have the same tours. Never 0.
    pub(in super::super) fn start(&self) -> u64 {
        let Now { is_to_cross, last_start, round, kicks, .. } = &self.facts.now;
        let mut hash = crc32fast::Hasher::new();
        hash.update(&[(*is_to_cross).into(), self.facts.phase as u8]);
        if *is_to_cross {
            hash.update(&last_start.times.to_le_bytes());
        } else {
            hash.update(&round.to_le_bytes());
            hash.update(&kicks.to_le_bytes());
            self.tours.iter().for_each(|node| hash.update(&node.to_le_bytes()));
        }
        1 << 32 | u64::from(hash.finalize())
    }

    /// Returns whether it works on a single tour.
    pub(in super::super) fn is_of_one_tour(&self) -> bool {
        self.tours.len() == self.best.len()
    }

    /// Counts none of the kicks before, which another run with the same tours counts.
    pub(in super::super) fn forget_kicks(&mut self) {
        (self.facts.now.made, self.facts.now.last_start.made) = (0, 0);
    }

    /// See [`Plan::is_free`].
    pub(in super::super) fn is_free(&self) -> bool {
        self.facts.is_free
    }

    /// Returns whether tours may be crossed.
    pub(in super::super) fn are_crossed(&self) -> bool {
        self.facts.is_crossed
    }
}

impl<'a> Rounds<'a> {
    /// See [`Engine::save`](crate::engine::Engine::save).
    pub(super) fn save_all(&mut self) -> Result<State, BackendError> {
        let (phase, tours) = match &mut self.phase {
            Phase::Descent => (Kind::Descent, self.lin_kernighan.tours()?),
            Phase::Kicks => (Kind::Kicks, self.lin_kernighan.tours()?),
            Phase::Crossing(population) => {
                let individuals: Result<Vec<_>, _> =
                    (0..population.places()).map(|place| population.individual(place)).collect();
                (Kind::Crossing, individuals?.concat())
            }
        };
        let Plan { is_crossed, is_free, problem, .. } = self.plan;
        let mut state = State::default();
        state.put(problem.start_tour())?;
        let facts =
            Facts { phase, now: self.now.clone(), kept: self.kept.without_tours(), is_crossed, is_free };
        state.put_json(&facts)?;
        state.put(&tours)?;
        drop(tours);
        state.put(&self.best_tour()?)?;
        state.put(&self.kept.tours)?;
        state.put(&self.waiting)?;
        state.put(&self.bests.concat())?;
        Ok(state)
    }

    /// Continues a run, with the `planned` epochs if its limit is another one than before. Tours that were being crossed are crossed
    /// again, with random numbers of this seed.
    ///
    /// # Errors
    /// As [`Rounds::new`].
    pub(in super::super) fn resume(
        plan: Plan<'a>,
        saved: Saved,
        planned: &Epochs,
        (deadline, seed): (Deadline<'_>, u64),
    ) -> Result<Rounds<'a>, BackendError> {
        let Saved { facts: Facts { phase, mut now, kept, .. }, tours, best, waiting, bests } = saved;
        let Plan { problem, .. } = plan;
        let n = problem.n() as usize;
        now.epochs = now.epochs.resumed(planned, deadline.elapsed());
        now.resumed += 1;
        // Another machine may be faster or slower.
        now.seconds_per_round = 0.0;
        let cost = |tours: &[u32]| tours.chunks_exact(n).filter_map(|tour| problem.length(tour)).min();
        let is_crossing = phase == Kind::Crossing;
        // Crossing does not need the tours that were kicked.
        let (starts, crossed) = if is_crossing { (best.clone(), tours) } else { (tours, Vec::new()) };
        let least = cost(&starts).ok_or(BackendError::State)?;
        if cost(&best) != Some(now.best_cost) {
            return Err(BackendError::State);
        }
        let chains = (starts.len() / n) as u32;
        let spec = plan.spec((chains, now.trials), starts, least);
        let mut rounds = Rounds::new(plan, &spec, now.trials, now.epochs.clone())?;
        rounds.shorter = Some(best);
        rounds.phase = match phase {
            Kind::Descent => Phase::Descent,
            Kind::Kicks => Phase::Kicks,
            Kind::Crossing => {
                let is_kicked = cross::restart(problem.n(), plan.means.in_place, now.last_start.times)
                    != Some(cross::Restart::LocalOptima);
                let of = if is_kicked { problem } else { plan.by_nearest.unwrap_or(problem) };
                // Random numbers differ from those before.
                let seed = seed.wrapping_add(u64::from(now.resumed) << 32);
                Phase::Crossing(cross::population(of, seed, crossed, deadline.stop)?)
            }
        };
        rounds.bests = bests.chunks_exact(n).map(<[u32]>::to_vec).collect();
        (rounds.now, rounds.kept, rounds.waiting) = (now, kept, waiting);
        Ok(rounds)
    }
}

//! The runs of a checkpoint, and which of them continue where.

use std::cmp::Ordering;

use crate::backend::{Backend, Choice};
use crate::engine::{BackendError, State};

/// What each of several runs continues with, and its best cost; `None` where it was too early to say.
#[derive(Clone, Debug)]
pub struct Runs<C = i64>(pub Vec<Option<(C, State)>>);

/// One of several runs that continue from a checkpoint or start together.
#[derive(Clone, Debug, Default)]
pub struct Island {
    /// Its number, from 0, which determines its seed.
    pub number: u32,
    /// What it continues with, `None` if it starts from the beginning.
    pub state: Option<State>,
}

impl<C: Copy + PartialOrd> Runs<C> {
    /// Returns the number of runs that differ.
    pub fn count(&self) -> usize {
        if self.common().is_some() { 1 } else { self.0.len() }
    }

    /// Returns the state that all runs had in common, if they had.
    fn common(&self) -> Option<&State> {
        self.0.iter().flatten().map(|(_, state)| state).find(|state| state.is_common)
    }

    /// Returns what this many runs continue with: each with one of these; if these are fewer, the others start from the beginning, and if they are
    /// more, the best ones continue. A state that all runs had in common is that of all.
    pub fn islands(&self, count: usize) -> Vec<Island> {
        self.numbers(count).into_iter().map(|number| self.island(number)).collect()
    }

    /// Returns the [numbers](Island::number) of the same runs, ascending.
    pub fn numbers(&self, count: usize) -> Vec<u32> {
        if self.common().is_some() {
            return (0..count as u32).collect();
        }
        let costs: Vec<Option<C>> = self.0.iter().map(|run| run.as_ref().map(|run| run.0)).collect();
        numbers(&costs, count)
    }

    /// Returns what the run with this number continues with.
    pub fn island(&self, number: u32) -> Island {
        let own = || self.0.get(number as usize)?.as_ref().map(|(_, state)| state);
        Island { number, state: self.common().or_else(own).cloned() }
    }

    /// Returns the backend of each run where several continue; none where a single one does. `shares_gpus` says whether a run makes
    /// use of several GPUs.
    ///
    /// # Errors
    /// Does not fail at present: CPU threads can always be used.
    pub fn backends(&self, backend: &Backend, shares_gpus: bool) -> Result<Vec<Backend>, BackendError> {
        let (each, count) = (backend.each_gpu(), self.count());
        if !each.is_empty() && (count > 1 || !shares_gpus) {
            Ok(each)
        } else if count > 1 && backend.is_cpu() {
            (0..count).map(|_| Ok(Backend::open(Choice::Cpu)?.0)).collect()
        } else {
            Ok(Vec::new())
        }
    }
}

/// Returns which of the runs with these best costs continue as `count` runs, ascending. If there are more than these, the numbers
/// go on after theirs.
pub(super) fn numbers<C: Copy + PartialOrd>(costs: &[Option<C>], count: usize) -> Vec<u32> {
    let mut numbers: Vec<usize> = (0..costs.len().max(count)).collect();
    if count < costs.len() {
        // Those of which nothing is known come last.
        numbers.sort_by(|&a, &b| match (&costs[a], &costs[b]) {
            (Some(a), Some(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
        numbers.truncate(count);
        numbers.sort_unstable();
    }
    numbers.into_iter().map(|number| number as u32).collect()
}

impl Island {
    /// Encodes it as one message.
    pub fn to_bytes(&self) -> Vec<u8> {
        let state = self.state.as_ref().map_or(Vec::new(), State::to_bytes);
        [&self.number.to_le_bytes()[..], &state].concat()
    }

    /// Decodes a message; `None` if it is invalid.
    pub fn of(bytes: &[u8]) -> Option<Island> {
        let (number, state) = bytes.split_first_chunk()?;
        let number = u32::from_le_bytes(*number);
        let state = if state.is_empty() { None } else { Some(State::from_bytes(state)?) };
        Some(Island { number, state })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(number: u8) -> State {
        let mut state = State::default();
        state.put(&[number]).unwrap();
        state
    }

    #[test]
    fn the_best_runs_continue_where_there_are_too_many() {
        let runs = Runs(vec![Some((7, state(0))), None, Some((5, state(2))), Some((6, state(3)))]);
        let islands = |count| {
            let all = runs.islands(count).into_iter();
            all.map(|Island { number, state }| (number, state)).collect::<Vec<_>>()
        };
        assert_eq!(islands(1), [(2, Some(state(2)))]);
        assert_eq!(islands(2), [(2, Some(state(2))), (3, Some(state(3)))]);
        let all = [(0, Some(state(0))), (1, None), (2, Some(state(2))), (3, Some(state(3))), (4, None)];
        assert_eq!(islands(4), all[..4]);
        assert_eq!(islands(5), all);
        let common = Runs(vec![Some((7, state(0))), Some((9, state(4).common(true))), None]);
        assert_eq!(common.count(), 1);
        assert!(common.islands(4).iter().all(|island| island.state == Some(state(4).common(true))));
    }

    #[test]
    fn islands_come_back_as_they_were() {
        for island in [Island { number: 3, state: None }, Island { number: 7, state: Some(state(9)) }] {
            let read = Island::of(&island.to_bytes()).unwrap();
            assert_eq!((read.number, read.state), (island.number, island.state));
        }
        assert!(Island::of(&[1, 2]).is_none() && Island::of(&[0, 0, 0, 0, 1]).is_none());
    }
}

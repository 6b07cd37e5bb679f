//! Messages between ranks, as bytes. A reader trusts nothing in a message.

use super::{Answer, Ended};
use crate::engine::Voyager;
use crate::solver::checkpoint::Part;

/// A status report of a rank to rank 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// The cost of its best tour so far and, once its run is over, the number of tours that it built.
    pub best: Ended,
    /// Whether the run is over.
    pub is_over: bool,
    /// What the rank sent and received so far.
    pub traffic: Traffic,
}

/// What a rank sent and received since the start; see [`Facts`](super::Facts).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    pub tours_sent: u64,
    pub tours_received: u64,
    pub bytes_sent: u64,
}

/// Number of numbers in a status report.
const NUMBERS: usize = 6;

impl News {
    /// Encodes the report as [`NUMBERS`] little-endian numbers of 8 bytes.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let Traffic { tours_sent, tours_received, bytes_sent } = self.traffic;
        let cost = self.best.cost.unwrap_or(i64::MAX) as u64;
        let numbers = [cost, self.best.tours, self.is_over.into(), tours_sent, tours_received, bytes_sent];
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// The inverse of [`News::to_bytes`]; `None` if the number of bytes is wrong.
    pub(super) fn of(bytes: &[u8]) -> Option<News> {
        let (numbers, rest) = bytes.as_chunks::<8>();
        let numbers: [u64; NUMBERS] =
            numbers.iter().map(|&number| u64::from_le_bytes(number)).collect::<Vec<_>>().try_into().ok()?;
        let [cost, tours, is_over, tours_sent, tours_received, bytes_sent] = numbers;
        let cost = Some(cost as i64).filter(|&cost| cost < i64::MAX);
        let traffic = Traffic { tours_sent, tours_received, bytes_sent };
        rest.is_empty().then_some(News { best: Ended { cost, tours }, is_over: is_over != 0, traffic })
    }
}

/// Encodes a tour as little-endian bytes: its island (4 bytes), its cost (8 bytes), its nodes (4 bytes each).
pub(super) fn from_voyager(voyager: &Voyager) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(12 + 4 * voyager.tour.len());
    bytes.extend(voyager.from.to_le_bytes());
    bytes.extend(voyager.cost.to_le_bytes());
    bytes.extend(voyager.tour.iter().flat_map(|node| node.to_le_bytes()));
    bytes
}

/// The inverse of [`from_voyager`]; `None` if the number of bytes is wrong. The tour may still be invalid.
pub(super) fn to_voyager(bytes: &[u8]) -> Option<Voyager> {
    let (from, rest) = bytes.split_first_chunk()?;
    let (cost, rest) = rest.split_first_chunk()?;
    let (nodes, rest) = rest.as_chunks::<4>();
    let tour = nodes.iter().map(|&node| u32::from_le_bytes(node)).collect();
    rest.is_empty().then(|| Voyager {
        from: u32::from_le_bytes(*from),
        cost: i64::from_le_bytes(*cost),
        tour,
    })
}

/// Encodes an answer: the number of all its bytes (8 bytes), whether it is the last one (1 byte), and its state. A state for which
/// memory is short is left out.
pub(super) fn from_answer(answer: &Answer) -> Vec<u8> {
    let part = answer.part.as_ref().and_then(|part| part.to_bytes().ok()).unwrap_or_default();
    let length = (size_of::<u64>() + 1 + part.len()) as u64;
    [&length.to_le_bytes()[..], &[answer.is_last.into()], &part].concat()
}

/// The inverse of [`from_answer`]; `None` while the message is incomplete. What cannot be read is an answer without a state.
pub(super) fn to_answer(bytes: &[u8]) -> Option<Answer> {
    let (length, rest) = bytes.split_first_chunk()?;
    if (bytes.len() as u64) < u64::from_le_bytes(*length) {
        return None;
    }
    let (is_last, part) = rest.split_first().unwrap_or((&0, &[]));
    Some(Answer { part: Part::of(part), is_last: *is_last != 0 })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::engine::{Cost, State};

    #[test]
    fn answers_come_back_as_they_were() {
        let mut state = State::default();
        state.put(&[1_u32, 2, 3]).unwrap();
        let part = Part { elapsed: Duration::from_secs(3), iterations: 7, cost: Cost::Whole(-5), state };
        for part in [None, Some(part)] {
            for is_last in [false, true] {
                let bytes = from_answer(&Answer { part: part.clone(), is_last });
                let read = to_answer(&bytes).unwrap();
                assert_eq!((&read.part, read.is_last), (&part, is_last));
                assert!((0..bytes.len()).all(|length| to_answer(&bytes[..length]).is_none()));
            }
        }
    }

    #[test]
    fn messages_come_back_as_they_were() {
        for cost in [None, Some(-1), Some(i64::MAX - 1)] {
            let traffic = Traffic { tours_sent: 1, tours_received: 2, bytes_sent: u64::MAX };
            let news = News { best: Ended { cost, tours: 7 }, is_over: cost.is_some(), traffic };
            assert_eq!(News::of(&news.to_bytes()), Some(news));
        }
        let voyager = Voyager { from: 3, cost: 12, tour: vec![2, 0, u32::MAX] };
        assert_eq!(to_voyager(&from_voyager(&voyager)), Some(voyager));
    }

    #[test]
    fn bytes_that_are_no_message_are_none() {
        let whole = News::default().to_bytes();
        for length in (0..whole.len()).chain([whole.len() + 1]) {
            assert_eq!(News::of(&[&whole[..], &[0]].concat()[..length]), None);
        }
        for length in [0, 3, 4, 11, 13, 14, 15] {
            assert_eq!(to_voyager(&vec![1; length]), None, "{length} bytes");
        }
    }
}

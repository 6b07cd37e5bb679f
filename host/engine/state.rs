//! The state of an engine between two batches of work: what another run needs in order to continue from there.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::memory::{allocate, check_memory};
use super::{BackendError, Plain};

/// Arrays of numbers, taken in the order in which they were put. What they are depends on the engine, not on the backend: a run on
/// CPU threads can continue one on a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    arrays: Vec<Vec<u8>>,
    /// The number of arrays that have been taken.
    taken: usize,
    /// Whether all runs that work at the same time have this state, as where they share a tour.
    pub is_common: bool,
}

impl State {
    /// Makes a state of these arrays, of bytes as [`State::arrays`] returns them.
    pub fn of(arrays: Vec<Vec<u8>>) -> State {
        State { arrays, ..State::default() }
    }

    /// Returns the same state as one that [all runs have](State::is_common), or not.
    #[must_use]
    pub fn common(self, is_common: bool) -> State {
        State { is_common, ..self }
    }

    /// Returns the bytes of all arrays, in the machine's byte order.
    pub fn arrays(&self) -> &[Vec<u8>] {
        &self.arrays
    }

    /// Encodes the arrays that have not been taken yet as one message; see [`State::from_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let arrays = || self.arrays.iter().skip(self.taken);
        let mut bytes = vec![self.is_common.into()];
        for number in std::iter::once(arrays().count()).chain(arrays().map(Vec::len)) {
            bytes.extend((number as u64).to_le_bytes());
        }
        arrays().for_each(|array| bytes.extend(array));
        bytes
    }

    /// Decodes a message; `None` if it is invalid.
    pub fn from_bytes(bytes: &[u8]) -> Option<State> {
        let (is_common, mut rest) = bytes.split_first()?;
        let mut number = || {
            let (number, others) = rest.split_first_chunk()?;
            rest = others;
            usize::try_from(u64::from_le_bytes(*number)).ok()
        };
        let count = number()?;
        let mut sizes = Vec::new();
        for _ in 0..count {
            sizes.push(number()?);
        }
        let mut arrays = Vec::new();
        for size in sizes {
            let (array, others) = rest.split_at_checked(size)?;
            arrays.push(array.to_vec());
            rest = others;
        }
        rest.is_empty().then(|| State::of(arrays).common(*is_common != 0))
    }

    /// Appends an array.
    ///
    /// # Errors
    /// If memory is short.
    pub fn put<T: Plain>(&mut self, values: &[T]) -> Result<(), BackendError> {
        // SAFETY: plain data is bytes.
        let bytes = unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) };
        check_memory("a checkpoint", bytes.len())?;
        let mut array = allocate("a checkpoint", bytes.len())?;
        array.copy_from_slice(bytes);
        self.arrays.push(array);
        Ok(())
    }

    /// Appends the arrays of another state.
    pub fn append(&mut self, mut other: State) {
        self.arrays.append(&mut other.arrays);
    }

    /// Appends other data, which is kept as JSON. Floating-point numbers may change in their last bits.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn put_json(&mut self, data: &impl Serialize) -> Result<(), BackendError> {
        self.arrays.push(serde_json::to_vec(data).map_err(|_| BackendError::State)?);
        Ok(())
    }

    /// Takes the next array.
    ///
    /// # Errors
    /// If no array is left, if its size is not a multiple of the element's, or if memory is short.
    pub fn take<T: Plain + Default>(&mut self) -> Result<Vec<T>, BackendError> {
        let array = self.next()?;
        if !array.len().is_multiple_of(size_of::<T>()) {
            return Err(BackendError::State);
        }
        let mut values: Vec<T> = allocate("a checkpoint", array.len() / size_of::<T>())?;
        // SAFETY: as many bytes as `values` has; every pattern of them is a value.
        unsafe {
            std::ptr::copy_nonoverlapping(array.as_ptr(), values.as_mut_ptr().cast::<u8>(), array.len())
        };
        Ok(values)
    }

    /// Returns whether the next array has this length.
    pub fn starts_with<T: Plain>(&self, len: usize) -> bool {
        self.arrays.get(self.taken).is_some_and(|array| array.len() == len * size_of::<T>())
    }

    /// Takes the next array, of this length.
    ///
    /// # Errors
    /// As [`State::take`], or if it has another length.
    pub fn take_all<T: Plain + Default>(&mut self, len: usize) -> Result<Vec<T>, BackendError> {
        self.take().and_then(|values| if values.len() == len { Ok(values) } else { Err(BackendError::State) })
    }

    /// Copies the next array, of the same length.
    ///
    /// # Errors
    /// As [`State::take_all`].
    pub fn copy_to<T: Plain>(&mut self, to: &mut [T]) -> Result<(), BackendError> {
        let array = self.next()?;
        if array.len() != size_of_val(to) {
            return Err(BackendError::State);
        }
        // SAFETY: as many bytes as `to` has; every pattern of them is a value.
        unsafe { std::ptr::copy_nonoverlapping(array.as_ptr(), to.as_mut_ptr().cast::<u8>(), array.len()) };
        Ok(())
    }

    /// Takes the next array, which is one value.
    ///
    /// # Errors
    /// As [`State::take_all`].
    pub fn take_one<T: Plain>(&mut self, mut value: T) -> Result<T, BackendError> {
        self.copy_to(std::slice::from_mut(&mut value))?;
        Ok(value)
    }

    /// Takes this many nodes below n.
    ///
    /// # Errors
    /// As [`State::take_all`], or if one of them is no such node.
    pub fn take_nodes(&mut self, n: u32, len: usize) -> Result<Vec<u32>, BackendError> {
        self.take_all(len).and_then(|nodes| valid(nodes, |&node| node < n))
    }

    /// Takes this many numbers that are finite and not negative, such as trails.
    ///
    /// # Errors
    /// As [`State::take_all`], or if one of them is no such number.
    pub fn take_weights(&mut self, len: usize) -> Result<Vec<f32>, BackendError> {
        self.take_all(len)
            .and_then(|weights| valid(weights, |weight: &f32| weight.is_finite() && *weight >= 0.0))
    }

    /// Takes tours of n nodes each, concatenated.
    ///
    /// # Errors
    /// As [`State::take`], or if they are no such tours.
    pub fn take_tours(&mut self, n: u32) -> Result<Vec<u32>, BackendError> {
        let tours: Vec<u32> = self.take()?;
        if n == 0 || !tours.len().is_multiple_of(n as usize) {
            return Err(BackendError::State);
        }
        let mut seen = vec![0_usize; n as usize];
        let is_tour = |(number, tour): (usize, &[u32])| {
            tour.iter().all(|&node| {
                let is_new =
                    seen.get_mut(node as usize).map(|last| std::mem::replace(last, number + 1) <= number);
                is_new == Some(true)
            })
        };
        let all = tours.chunks_exact(n as usize);
        if all.remainder().is_empty() && all.enumerate().all(is_tour) {
            Ok(tours)
        } else {
            Err(BackendError::State)
        }
    }

    /// Takes a tour of n nodes.
    ///
    /// # Errors
    /// As [`State::take_tours`], or if it is not a single one.
    pub fn take_tour(&mut self, n: u32) -> Result<Vec<u32>, BackendError> {
        self.take_tours(n)
            .and_then(|tour| if tour.len() == n as usize { Ok(tour) } else { Err(BackendError::State) })
    }

    /// Takes data put as JSON.
    ///
    /// # Errors
    /// If it is not of this type.
    pub fn take_json<T: DeserializeOwned>(&mut self) -> Result<T, BackendError> {
        serde_json::from_slice(self.next()?).map_err(|_| BackendError::State)
    }

    fn next(&mut self) -> Result<&[u8], BackendError> {
        self.taken += 1;
        self.arrays.get(self.taken - 1).map(Vec::as_slice).ok_or(BackendError::State)
    }
}

/// Returns the values if all of them are valid.
fn valid<T>(values: Vec<T>, is_valid: impl Fn(&T) -> bool) -> Result<Vec<T>, BackendError> {
    if values.iter().all(is_valid) { Ok(values) } else { Err(BackendError::State) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_come_back_in_order() {
        let mut state = State::default();
        state.put(&[1.5_f32, -0.0, f32::NAN]).unwrap();
        state.put::<u64>(&[]).unwrap();
        state.put_json(&("text", 7)).unwrap();
        state.put(&[i64::MIN, 3]).unwrap();
        let mut state = State::of(state.arrays().to_vec());
        let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(state.take().unwrap()), bits(vec![1.5, -0.0, f32::NAN]));
        assert!(state.take_all::<u64>(0).unwrap().is_empty());
        assert_eq!(state.take_json::<(String, i32)>().unwrap(), ("text".to_owned(), 7));
        let mut two = [0_i64; 2];
        state.copy_to(&mut two).unwrap();
        assert_eq!(two, [i64::MIN, 3]);
        assert!(matches!(state.take::<u8>(), Err(BackendError::State)), "there are no more");
    }

    #[test]
    fn messages_have_what_is_left_to_take() {
        let mut state = State::default().common(true);
        state.put(&[1_u32, 2]).unwrap();
        state.put::<u8>(&[]).unwrap();
        state.put(&[3_u8]).unwrap();
        state.take_all::<u32>(2).unwrap();
        let bytes = state.to_bytes();
        let left = State::of(vec![vec![], vec![3]]).common(true);
        assert_eq!(State::from_bytes(&bytes), Some(left));
        assert!((0..bytes.len()).all(|length| State::from_bytes(&bytes[..length]).is_none()));
    }

    #[test]
    fn what_does_not_match_is_rejected() {
        let with = |bytes: &[u8]| State::of(vec![bytes.to_vec()]);
        assert!(with(&[1, 2, 3]).take::<u16>().is_err());
        assert!(with(&[1, 2, 3, 4]).take_all::<u16>(3).is_err());
        assert!(with(&[1, 2, 3, 4]).copy_to(&mut [0_u32; 2]).is_err());
        assert!(with(b"{").take_json::<u32>().is_err());
        let tours = |nodes: &[u32], n| {
            let mut state = State::default();
            state.put(nodes).unwrap();
            state.take_tours(n)
        };
        assert_eq!(tours(&[0, 2, 1, 1, 2, 0], 3).unwrap(), [0, 2, 1, 1, 2, 0]);
        for wrong in [&[0, 1, 1][..], &[0, 1, 3], &[0, 1, 2, 0], &[0, 1, 2, 2, 2, 1]] {
            assert!(tours(wrong, 3).is_err(), "{wrong:?}");
        }
    }
}

//! Memory of the host that devices copy from and to while the program goes on.

use core::fmt;
use core::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::vec::Vec;

use cudarc::driver::{CudaEvent, DriverError};

use super::buffer::Memory;
use super::queue::{Queue, relaxed};
use super::{Device, Error, Result, gpu};
use crate::DeviceCopy;

/// An array in memory of the host that stays where it is ("pinned"), so that a GPU copies from and to it by itself:
/// [`Stream::write_pinned`](super::Stream::write_pinned) and [`Stream::read_pinned`](super::Stream::read_pinned) return before the copy
/// is done. [`as_slice`](Pinned::as_slice) and [`as_mut_slice`](Pinned::as_mut_slice) wait for the copies that they must wait for, and
/// so does dropping it.
///
/// Copies by several streams keep their order, as those of buffers do. The driver takes long to make such memory, and other programs
/// cannot have it: make few and use them again. On the CPU it is ordinary memory, and copies are done at once.
pub struct Pinned<T> {
    memory: Arc<Memory>,
    len: usize,
    copies: Mutex<Copies>,
    elements: PhantomData<T>,
}

/// Copies that may not be done, each with the moment when it is.
#[derive(Default)]
struct Copies {
    /// The last one to this memory.
    to: Option<CudaEvent>,
    /// Those from it since then: the last of each stream.
    from: Vec<(Arc<Queue>, CudaEvent)>,
}

// SAFETY: the memory is that of the values, and copies are kept in order by a lock.
unsafe impl<T: Send> Send for Pinned<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Pinned<T> {}

impl<T: DeviceCopy> Pinned<T> {
    /// Makes an array of zeros, for copies from and to this device.
    ///
    /// # Errors
    /// If memory does not suffice, or the driver fails.
    pub fn zeroed(device: &Device, len: usize) -> Result<Self> {
        let out = || Error::OutOfMemory { bytes: u64::MAX, free: None };
        let bytes = len.checked_mul(size_of::<T>()).ok_or_else(out)?;
        let memory = Memory::pinned(device, bytes, align_of::<T>())?;
        Ok(Pinned { memory, len, copies: Mutex::default(), elements: PhantomData })
    }

    /// Makes an array with these values.
    ///
    /// # Errors
    /// As [`Pinned::zeroed`].
    pub fn from_slice(device: &Device, values: &[T]) -> Result<Self> {
        let mut pinned = Pinned::zeroed(device, values.len())?;
        pinned.as_mut_slice()?.copy_from_slice(values);
        Ok(pinned)
    }

    /// Waits for the last copy to this memory, and returns the elements.
    ///
    /// # Errors
    /// If the copy failed, or a kernel before it.
    pub fn as_slice(&self) -> Result<&[T]> {
        self.copies().wait_for_writes()?;
        // SAFETY: as many elements, all of which were written; nothing writes them while `self` is borrowed: a copy to them takes it
        // mutably.
        Ok(unsafe { core::slice::from_raw_parts(self.pointer(), self.len) })
    }

    /// Waits for all copies from and to this memory, and returns the elements.
    ///
    /// # Errors
    /// If a copy failed, or a kernel before it.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.copies().wait_for_all()?;
        // SAFETY: as above, and nothing reads them.
        Ok(unsafe { core::slice::from_raw_parts_mut(self.pointer(), self.len) })
    }
}

impl<T> Pinned<T> {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the device.
    pub fn device(&self) -> &Device {
        self.memory.device()
    }

    fn copies(&self) -> MutexGuard<'_, Copies> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    pub(crate) fn pointer(&self) -> *mut T {
        self.memory.pointer().cast()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// Fails if the memory is for another device.
    pub(crate) fn check(&self, device: &Device) -> Result {
        if self.device().is_same(device) {
            return Ok(());
        }
        Err(Error::OtherDevice { what: "pinned memory", of: self.device().label(), with: device.label() })
    }

    /// Notes a copy that was just queued. The stream has waited for those before that this one must not overtake.
    pub(crate) fn note(&self, queue: &Arc<Queue>, is_to: bool) -> core::result::Result<(), DriverError> {
        let mut copies = self.copies();
        let known = copies.from.iter().position(|(other, _)| !is_to && other.is_same(queue));
        let recorded = match known {
            Some(at) => copies.from[at].1.record(queue.stream()),
            None => queue.stream().record_event(None).map(|event| match is_to {
                true => *copies = Copies { to: Some(event), from: Vec::new() },
                false => copies.from.push((queue.clone(), event)),
            }),
        };
        // A copy that is not noted must be done.
        recorded.or_else(|error| relaxed(|| queue.stream().synchronize()).and(Err(error)))
    }
}

impl Copies {
    fn wait_for_writes(&mut self) -> Result {
        if let Some(event) = &self.to {
            relaxed(|| event.synchronize()).map_err(gpu::failed("waiting for a copy"))?;
            self.to = None;
        }
        Ok(())
    }

    fn wait_for_all(&mut self) -> Result {
        self.wait_for_writes()?;
        while let Some((_, event)) = self.from.last() {
            relaxed(|| event.synchronize()).map_err(gpu::failed("waiting for a copy"))?;
            self.from.pop();
        }
        Ok(())
    }
}

impl<T> Drop for Pinned<T> {
    fn drop(&mut self) {
        // The memory must not go while the device uses it. On a device that has failed nothing does any more.
        let _ = self.copies().wait_for_all();
    }
}

impl<T> fmt::Debug for Pinned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pinned").field("len", &self.len).field("device", &self.device().label()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinned_memory_is_copied_from_and_to() {
        let device = Device::cpu();
        let stream = device.stream().unwrap();
        let from = Pinned::from_slice(&device, &[1u32, 2, 3]).unwrap();
        let mut buffer = stream.zeroed(5).unwrap();
        stream.write_pinned(&mut buffer.slice_mut(1..4).unwrap(), &from).unwrap();
        assert_eq!(stream.download(&buffer).unwrap(), [0, 1, 2, 3, 0]);
        let mut to = Pinned::zeroed(&device, 5).unwrap();
        assert_eq!(to.as_slice().unwrap(), [0; 5]);
        to.as_mut_slice().unwrap()[4] = 7;
        stream.read_pinned(&buffer, &mut to).unwrap();
        assert_eq!(to.as_slice().unwrap(), [0, 1, 2, 3, 0]);
        assert_eq!((to.len(), to.is_empty()), (5, false));
    }

    #[test]
    fn other_lengths_and_too_much_memory_are_errors() {
        let device = Device::cpu();
        let stream = device.stream().unwrap();
        let mut pinned = Pinned::<u32>::zeroed(&device, 3).unwrap();
        let mut buffer = stream.zeroed::<u32>(4).unwrap();
        assert!(matches!(stream.write_pinned(&mut buffer, &pinned), Err(Error::Size(_))));
        assert!(matches!(stream.read_pinned(&buffer, &mut pinned), Err(Error::Size(_))));
        let bytes = |made: Result<Pinned<u64>>| match made {
            Err(Error::OutOfMemory { bytes, .. }) => bytes,
            other => panic!("{other:?}"),
        };
        assert_eq!(bytes(Pinned::zeroed(&device, usize::MAX)), u64::MAX);
        assert_eq!(bytes(Pinned::zeroed(&device, 1 << 58)), 1 << 61);
        assert!(Pinned::<u64>::zeroed(&device, 0).unwrap().as_slice().unwrap().is_empty());
    }

    #[test]
    fn copies_of_pinned_memory_are_not_captured() {
        let device = Device::cpu();
        let stream = device.stream().unwrap();
        let (pinned, mut buffer) =
            (Pinned::<u32>::zeroed(&device, 3).unwrap(), stream.zeroed::<u32>(3).unwrap());
        let captured = stream.capture(|stream| stream.write_pinned(&mut buffer, &pinned));
        assert!(matches!(captured, Err(Error::Misuse(_))), "{captured:?}");
    }
}

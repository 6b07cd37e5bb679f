//! Memory in which each thread, or each block, has its own elements.

use core::marker::PhantomData;
use core::ptr::NonNull;

use crate::block::Leader;
use crate::{DeviceCopy, Index};

/// An array in global memory of which each thread reaches the elements that are its own: those at an [`Index`] that it holds.
///
/// With [`PerBlock`] an element belongs to a block: `&mut Slots<f32, PerBlock>` is for one result of each block.
///
/// The parameter of a kernel is `&mut Slots<T>`, for which the host passes `&mut Buffer<T>`.
#[derive(Debug)]
pub struct Slots<T, O: Owner = PerThread> {
    start: NonNull<T>,
    len: usize,
    elements: PhantomData<(T, O)>,
}

mod sealed {
    pub trait Sealed {}
}

/// To whom the elements of [`Slots`] belong.
pub trait Owner: sealed::Sealed + 'static {
    /// The end of the type's text, for host and device to compare.
    #[doc(hidden)]
    const SHAPE: &'static str;
}

/// Elements that belong to threads: each to the one that holds its [`Index`].
#[derive(Debug)]
pub struct PerThread;

/// Elements that belong to blocks: each to the one with its number, whose first thread reaches it by [`block::leader`](crate::block::leader).
///
/// ```
/// use warpsmith::prelude::*;
///
/// # warpsmith::module!(cpu);
/// /// The largest value of each block, for blocks of one warp.
/// #[kernel]
/// pub fn largest(x: &[u32], y: &mut Slots<u32, PerBlock>) {
///     let largest = warp::max(warp::ALL, x[thread::index().get()]);
///     if let Some(leader) = block::leader() {
///         y.set(leader, largest);
///     }
/// }
/// # fn main() -> warpsmith::Result {
/// # let device = Device::cpu();
/// # let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
/// # let x: Vec<u32> = (0..64).collect();
/// # let (x, mut y) = (stream.upload(&x)?, stream.zeroed(2)?);
/// # kernels.largest(&stream, Grid::new(2, 32), (&x, &mut y))?;
/// # assert_eq!(stream.download(&y)?, [31, 63]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PerBlock;

impl sealed::Sealed for PerThread {}
impl Owner for PerThread {
    const SHAPE: &'static str = "";
}
impl sealed::Sealed for PerBlock {}
impl Owner for PerBlock {
    const SHAPE: &'static str = ", PerBlock";
}

impl<T: DeviceCopy, O: Owner> Slots<T, O> {
    /// # Safety
    /// `start` is valid for reads and writes of `len` elements during the launch, and every thread of it that uses this memory
    /// does so through `Slots` with the same owners.
    #[inline(always)]
    pub(crate) unsafe fn new(start: NonNull<T>, len: usize) -> Self {
        Slots { start, len, elements: PhantomData }
    }

    /// Returns the number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the address of the first element.
    #[inline(always)]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.start.as_ptr()
    }

    /// Reads any element, without a check.
    ///
    /// # Safety
    /// `at` is less than the length, and no other thread writes the element, but before a barrier that both reach.
    #[inline(always)]
    pub unsafe fn read(&self, at: usize) -> T {
        debug_assert!(at < self.len, "element {at} of {}", self.len);
        // SAFETY: the caller's promise.
        unsafe { self.start.add(at).read() }
    }

    /// Writes any element, without a check.
    ///
    /// # Safety
    /// `at` is less than the length, and no other thread reads or writes the element, but before or after a barrier that both
    /// reach.
    #[inline(always)]
    pub unsafe fn write(&mut self, at: usize, value: T) {
        debug_assert!(at < self.len, "element {at} of {}", self.len);
        // SAFETY: the caller's promise.
        unsafe { self.start.add(at).write(value) }
    }
}

macro_rules! by_witness {
    ($owner:ty, $witness:ident: $type:ty, $at:ident, $whose:literal) => {
        impl<T: DeviceCopy> Slots<T, $owner> {
            #[doc = concat!("Returns the element ", $whose, ", to read; `None` past the end.")]
            #[inline(always)]
            #[cfg_attr(not(target_os = "cuda"), track_caller)]
            pub fn get(&self, $witness: $type) -> Option<&T> {
                let at = $witness.$at();
                // SAFETY: within the array; no other thread has the witness, and this one borrows all of its slots.
                (at < self.len).then(|| unsafe { self.start.add(at).as_ref() })
            }

            #[doc = concat!("Returns the element ", $whose, "; `None` past the end.")]
            #[inline(always)]
            #[cfg_attr(not(target_os = "cuda"), track_caller)]
            pub fn get_mut(&mut self, $witness: $type) -> Option<&mut T> {
                let at = $witness.$at();
                // SAFETY: as in `get`.
                (at < self.len).then(|| unsafe { self.start.add(at).as_mut() })
            }

            #[doc = concat!("Sets the element ", $whose, "; does nothing past the end.")]
            #[inline(always)]
            #[cfg_attr(not(target_os = "cuda"), track_caller)]
            pub fn set(&mut self, $witness: $type, value: T) {
                if let Some(place) = self.get_mut($witness) {
                    *place = value;
                }
            }
        }
    };
}

by_witness!(PerThread, index: Index, checked, "at this thread's index");
by_witness!(PerBlock, leader: Leader, block, "of this thread's block");

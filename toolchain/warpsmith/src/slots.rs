//! Memory in which each thread, warp or block has its own elements.

use core::marker::PhantomData;
use core::ptr::NonNull;

use crate::block::Leader;
use crate::thread::Position;
use crate::{DeviceCopy, Index, warp};

/// An array in global memory of which each thread reaches the elements that are its own: those at an [`Index`] that it holds.
///
/// | parameter of the kernel | owner of an element | what the host passes |
/// | --- | --- | --- |
/// | `&mut Slots<T>` | the thread that holds its [`Index`] | `&mut Buffer<T>` |
/// | `&mut Slots<T, PerWarp>` | the warp with its number: [`PerWarp`] | `&mut Buffer<T>` |
/// | `&mut Slots<T, PerBlock>` | the block with its number: [`PerBlock`] | `&mut Buffer<T>` |
/// | `&mut Slots<T, PerPosition>` | the thread at its row and column: [`PerPosition`] | `(&mut Buffer<T>, columns)` |
#[derive(Debug)]
pub struct Slots<T, O: Owner = PerThread> {
    start: NonNull<T>,
    size: O::Size,
    elements: PhantomData<T>,
}

mod sealed {
    pub trait Sealed {}
}

/// The owners of the elements of [`Slots`]: threads, warps or blocks.
pub trait Owner: sealed::Sealed + 'static {
    /// The end of the type's text, for host and device to compare.
    #[doc(hidden)]
    const SHAPE: &'static str;
    /// The number of elements, or of rows and columns.
    #[doc(hidden)]
    type Size: Copy + core::fmt::Debug;
    /// What the host passes.
    #[cfg(all(feature = "host", not(target_os = "cuda")))]
    #[doc(hidden)]
    type Argument<'h, T: DeviceCopy>;

    #[doc(hidden)]
    fn len(size: Self::Size) -> usize;

    #[cfg(all(feature = "host", not(target_os = "cuda")))]
    #[doc(hidden)]
    fn split<'h: 'h, T: DeviceCopy>(
        argument: Self::Argument<'h, T>,
    ) -> (&'h mut crate::DeviceSlice<T>, Self::Size);
}

macro_rules! by_number {
    ($owner:ty, $shape:literal) => {
        impl sealed::Sealed for $owner {}
        impl Owner for $owner {
            const SHAPE: &'static str = $shape;
            type Size = usize;
            #[cfg(all(feature = "host", not(target_os = "cuda")))]
            type Argument<'h, T: DeviceCopy> = &'h mut crate::DeviceSlice<T>;

            #[inline(always)]
            fn len(size: usize) -> usize {
                size
            }

            #[cfg(all(feature = "host", not(target_os = "cuda")))]
            fn split<'h: 'h, T: DeviceCopy>(
                argument: &'h mut crate::DeviceSlice<T>,
            ) -> (&'h mut crate::DeviceSlice<T>, usize) {
                let len = argument.len();
                (argument, len)
            }
        }
    };
}

by_number!(PerThread, "");
by_number!(PerWarp, ", PerWarp");
by_number!(PerBlock, ", PerBlock");

/// Elements that belong to threads: each to the one that holds its [`Index`].
#[derive(Debug)]
pub struct PerThread;

/// Elements of a matrix, row by row, that belong to the threads at their positions in the launch: row `y` and column `x` to the thread
/// that [`thread::position`](crate::thread::position) says is there. The host decides how many columns there are, so all threads agree.
///
/// ```
/// use warpsmith::prelude::*;
///
/// # warpsmith::module!(cpu);
/// /// The products of the numbers from 0 on.
/// #[kernel]
/// pub fn table(y: &mut Slots<u32, PerPosition>) {
///     if let Some(at) = thread::position() {
///         y.set(at, (at.row() * at.column()) as u32);
///     }
/// }
/// # fn main() -> warpsmith::Result {
/// # let device = Device::cpu();
/// # let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
/// let (columns, rows) = (3, 2);
/// let mut y = stream.zeroed(6)?;
/// kernels.table(&stream, Grid::covering_2d(columns, rows, (16, 16)), ((&mut y, columns),))?;
/// assert_eq!(stream.download(&y)?, [0, 0, 0, 0, 1, 2]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PerPosition;

/// Rows and columns of a matrix.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Sides {
    rows: usize,
    columns: usize,
}

impl sealed::Sealed for PerPosition {}
impl Owner for PerPosition {
    const SHAPE: &'static str = ", PerPosition";
    type Size = Sides;
    #[cfg(all(feature = "host", not(target_os = "cuda")))]
    type Argument<'h, T: DeviceCopy> = (&'h mut crate::DeviceSlice<T>, u32);

    #[inline(always)]
    fn len(size: Sides) -> usize {
        size.rows * size.columns
    }

    #[cfg(all(feature = "host", not(target_os = "cuda")))]
    fn split<'h: 'h, T: DeviceCopy>(
        (slice, columns): (&'h mut crate::DeviceSlice<T>, u32),
    ) -> (&'h mut crate::DeviceSlice<T>, Sides) {
        let columns = columns as usize;
        let rows = slice.len().checked_div(columns).unwrap_or(0);
        (slice, Sides { rows, columns })
    }
}

/// Elements that belong to warps: each to the one with its number in the launch, whose first thread reaches it by
/// [`warp::leader`]. The warps of the first block come first.
///
/// ```
/// use warpsmith::prelude::*;
///
/// # warpsmith::module!(cpu);
/// /// The largest value of each warp.
/// #[kernel]
/// pub fn largest(x: &[u32], y: &mut Slots<u32, PerWarp>) {
///     let largest = warp::max(warp::ALL, x[thread::index().get()]);
///     if let Some(leader) = warp::leader() {
///         y.set(leader, largest);
///     }
/// }
/// # fn main() -> warpsmith::Result {
/// # let device = Device::cpu();
/// # let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
/// # let x: Vec<u32> = (0..128).collect();
/// # let (x, mut y) = (stream.upload(&x)?, stream.zeroed(4)?);
/// # kernels.largest(&stream, Grid::new(2, 64), (&x, &mut y))?;
/// # assert_eq!(stream.download(&y)?, [31, 63, 95, 127]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PerWarp;

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

impl<T: DeviceCopy, O: Owner> Slots<T, O> {
    /// # Safety
    /// `start` is valid for reads and writes of as many elements during the launch, and every thread of it that uses this memory
    /// does so through `Slots` with the same owners and the same size.
    #[inline(always)]
    pub(crate) unsafe fn new(start: NonNull<T>, size: O::Size) -> Self {
        Slots { start, size, elements: PhantomData }
    }

    /// Returns the number of elements; of a matrix, of those in whole rows.
    #[inline(always)]
    pub fn len(&self) -> usize {
        O::len(self.size)
    }

    /// Returns whether there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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
        debug_assert!(at < self.len(), "element {at} of {}", self.len());
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
        debug_assert!(at < self.len(), "element {at} of {}", self.len());
        // SAFETY: the caller's promise.
        unsafe { self.start.add(at).write(value) }
    }
}

/// How a thread finds its element.
trait Witness<O: Owner> {
    /// Returns the element's number; `None` past the end.
    fn find(self, size: O::Size) -> Option<usize>;
}

impl Witness<PerThread> for Index {
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn find(self, size: usize) -> Option<usize> {
        let at = self.checked();
        (at < size).then_some(at)
    }
}

impl Witness<PerWarp> for warp::Leader {
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn find(self, size: usize) -> Option<usize> {
        let at = self.warp();
        (at < size).then_some(at)
    }
}

impl Witness<PerBlock> for Leader {
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn find(self, size: usize) -> Option<usize> {
        let at = self.block();
        (at < size).then_some(at)
    }
}

impl Witness<PerPosition> for Position {
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    fn find(self, size: Sides) -> Option<usize> {
        let (row, column) = self.checked();
        (row < size.rows && column < size.columns).then(|| row * size.columns + column)
    }
}

macro_rules! by_witness {
    ($owner:ty, $witness:ident: $type:ty, $whose:literal) => {
        impl<T: DeviceCopy> Slots<T, $owner> {
            #[doc = concat!("Returns the element ", $whose, ", to read; `None` past the end.")]
            #[inline(always)]
            #[cfg_attr(not(target_os = "cuda"), track_caller)]
            pub fn get(&self, $witness: $type) -> Option<&T> {
                let at = $witness.find(self.size)?;
                // SAFETY: within the array; no other thread has the witness, and this one borrows all of its slots.
                Some(unsafe { self.start.add(at).as_ref() })
            }

            #[doc = concat!("Returns the element ", $whose, "; `None` past the end.")]
            #[inline(always)]
            #[cfg_attr(not(target_os = "cuda"), track_caller)]
            pub fn get_mut(&mut self, $witness: $type) -> Option<&mut T> {
                let at = $witness.find(self.size)?;
                // SAFETY: as in `get`.
                Some(unsafe { self.start.add(at).as_mut() })
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

by_witness!(PerThread, index: Index, "at this thread's index");
by_witness!(PerWarp, leader: warp::Leader, "of this thread's warp");
by_witness!(PerBlock, leader: Leader, "of this thread's block");
by_witness!(PerPosition, position: Position, "at this thread's position");

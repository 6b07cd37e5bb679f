//! Memory that the threads of a block share.
//!
//! ```
//! use warpsmith::prelude::*;
//!
//! # warpsmith::module!(cpu);
//! /// Each block reverses its own piece of `x`.
//! #[kernel]
//! pub fn reverse(x: &[u32], y: &mut Slots<u32>) {
//!     let mut tile = shared!([u32; 256]);
//!     let i = thread::index();
//!     let all = tile.exchange(x[i.get()]); // each thread its own place, then a barrier
//!     y.set(i, all.get(block::threads() - 1 - thread::in_block()));
//! }
//! # fn main() -> warpsmith::Result {
//! # let device = Device::cpu();
//! # let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
//! # let (x, mut y) = (stream.upload(&[1, 2, 3, 4])?, stream.zeroed(4)?);
//! # kernels.reverse(&stream, Grid::new(2, 2), (&x, &mut y))?;
//! # assert_eq!(stream.download(&y)?, [2, 1, 4, 3]);
//! # Ok(())
//! # }
//! ```
//!
//! An array of atomics is for all threads at any time:
//!
//! ```
//! use warpsmith::prelude::*;
//!
//! # warpsmith::module!(cpu);
//! /// Counts how often each value below 16 occurs, first for each block.
//! #[kernel]
//! pub fn count(x: &[u8], counts: &[AtomicU32]) {
//!     let mut own = shared!([AtomicU32; 16]);
//!     own.fill(0);
//!     for i in thread::strided(x.len()) {
//!         own[x[i.get()] as usize].fetch_add(1, Ordering::Relaxed);
//!     }
//!     sync_threads();
//!     if let (Some(own), Some(all)) = (own.get(thread::in_block() as usize), counts.get(thread::in_block() as usize)) {
//!         all.fetch_add(own.load(Ordering::Relaxed), Ordering::Relaxed);
//!     }
//! }
//! # fn main() -> warpsmith::Result {
//! # let device = Device::cpu();
//! # let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
//! # let (x, mut counts) = (stream.upload(&[1, 2, 3, 3])?, stream.zeroed(16)?);
//! # kernels.count(&stream, Grid::new(2, 16), (&x, &mut counts))?;
//! # assert_eq!(stream.download(&counts)?[..4], [0, 1, 1, 2]);
//! # Ok(())
//! # }
//! ```

use core::marker::PhantomData;
#[cfg(not(target_os = "cuda"))]
use core::sync::atomic::AtomicU8;

use crate::atomic::Scope;
use crate::tile::{Below, Tile};
use crate::{Atomic, DeviceCopy, back, block, thread};

/// A handle on shared memory: of the [`shared!`](crate::shared!) that made it, or of the launch's dynamic part. All threads of a
/// block that come to the same `shared!` have the same memory, whose content is anything at first.
#[derive(Debug)]
pub struct Shared<T: ?Sized> {
    start: *mut u8,
    bytes: usize,
    owner: back::Owner,
    content: PhantomData<*mut T>,
}

/// What an array of [`shared!`](crate::shared!) can be of.
///
/// Safe code reads plain data only after a barrier, and between two barriers writes it; atomics it uses at any time. So memory is of
/// one kind or of the other: whoever comes to the `shared!` has the same.
///
/// # Safety
/// Any bytes are a value, and every use through a [`Shared`] of it is sound, as long as threads reach barriers together.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be in shared memory",
    label = "neither plain data nor an array of atomics",
    note = "shared memory holds plain data (`DeviceCopy`), such as `[f32; 256]`, or an array of atomics, such as `[AtomicU32; 256]`"
)]
pub unsafe trait Content {
    /// Whether safe code has references to it, which can outlive the block where threads are simulated.
    #[doc(hidden)]
    const HAS_REFERENCES: bool;
}

// SAFETY: plain data, in which threads write between barriers.
unsafe impl<T: DeviceCopy> Content for T {
    const HAS_REFERENCES: bool = false;
}
// SAFETY: numbers with atomic access only.
unsafe impl<T: DeviceCopy, S: Scope, const N: usize> Content for [Atomic<T, S>; N] {
    const HAS_REFERENCES: bool = true;
}

impl<T: Content> Shared<T> {
    /// # Safety
    /// `start` is the address of memory shared by the block, of the size and alignment of `T`, for the whole launch.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn new(start: *mut u8) -> Self {
        // SAFETY: the caller's promise.
        let start = unsafe { back::shared_pointer(start) };
        Shared { start, bytes: size_of::<T>(), owner: back::owner(), content: PhantomData }
    }

    #[inline(always)]
    #[track_caller]
    pub(crate) fn check_owner(&self) {
        back::check_owner(self.owner, "shared memory");
    }

    /// Returns the address. Reading and writing there is unsafe: barriers must keep apart what threads write and others read.
    #[inline(always)]
    pub fn as_ptr(&self) -> *mut T {
        self.start.cast()
    }
}

/// As [`Shared::new`], with an error that says so where `T` cannot be in shared memory.
///
/// # Safety
/// As [`Shared::new`].
#[doc(hidden)]
#[inline(always)]
pub unsafe fn __new<T: Content>(start: *mut u8) -> Shared<T> {
    // SAFETY: the caller's promise.
    unsafe { Shared::new(start) }
}

impl<T: DeviceCopy, const N: usize> Shared<[T; N]> {
    /// Returns the array as one whose length is known at run time.
    #[inline(always)]
    pub fn into_slice(self) -> Shared<[T]> {
        Shared { start: self.start, bytes: self.bytes, owner: self.owner, content: PhantomData }
    }

    /// As [`Shared::exchange`] of a slice.
    #[inline(always)]
    #[track_caller]
    pub fn exchange(&mut self, value: T) -> Exchanged<'_, T> {
        back::check_owner(self.owner, "shared memory");
        exchange(self.start.cast(), N as u32, value)
    }

    /// Reads an element, without a check of its bounds.
    ///
    /// # Safety
    /// `at` is less than `N`, and no other thread writes the element, but before or after a barrier that both reach.
    #[inline(always)]
    pub unsafe fn read(&self, at: usize) -> T {
        debug_assert!(at < N, "element {at} of {N} in shared memory");
        // SAFETY: the caller's promise.
        unsafe { self.start.cast::<T>().add(at).read() }
    }

    /// Writes an element, without a check of its bounds.
    ///
    /// # Safety
    /// `at` is less than `N`, and no other thread reads or writes the element, but before or after a barrier that both reach.
    #[inline(always)]
    pub unsafe fn write(&mut self, at: usize, value: T) {
        debug_assert!(at < N, "element {at} of {N} in shared memory");
        // SAFETY: the caller's promise.
        unsafe { self.start.cast::<T>().add(at).write(value) }
    }

    /// Sets every element to `value`, the threads of the block each a part of them, and waits before and after.
    ///
    /// All threads of the block must call it with the same value.
    #[inline(always)]
    #[track_caller]
    pub fn fill(&mut self, value: T) {
        back::check_owner(self.owner, "shared memory");
        fill(N as u32, |at| {
            // SAFETY: within the array, and each element is written by one thread, between two barriers.
            unsafe { self.start.cast::<T>().add(at).write(value) };
        });
    }
}

/// Atomics that all threads of the block share: any thread may use any of them at any time.
impl<T: DeviceCopy, S: Scope, const N: usize> Shared<[Atomic<T, S>; N]> {
    /// Sets every atomic to `value`, the threads of the block each a part of them, and waits before and after.
    ///
    /// All threads of the block must call it with the same value.
    #[inline(always)]
    #[track_caller]
    pub fn fill(&mut self, value: T) {
        back::check_owner(self.owner, "shared memory");
        // Blocks of a cluster may use them at the same time.
        fill(N as u32, |at| {
            // SAFETY: within the array, which is used only atomically.
            unsafe { Atomic::<T, S>::from_ptr(self.start.cast::<T>().add(at)) }.set(value);
        });
    }

    /// Returns one of the atomics; `None` past the end.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    pub fn get(&self, at: usize) -> Option<&Atomic<T, S>> {
        back::check_owner(self.owner, "shared memory");
        // SAFETY: within the array, which is used only atomically.
        (at < N).then(|| unsafe { Atomic::from_ptr(self.start.cast::<T>().add(at)) })
    }
}

impl<T: DeviceCopy, S: Scope, const N: usize> core::ops::Index<usize> for Shared<[Atomic<T, S>; N]> {
    type Output = Atomic<T, S>;

    #[inline(always)]
    #[track_caller]
    fn index(&self, at: usize) -> &Atomic<T, S> {
        back::check_owner(self.owner, "shared memory");
        assert!(at < N, "element {at} of {N} in shared memory");
        // SAFETY: as in `get`. The address is no `Option` here, of which the compiler would look at each access whether it is null.
        unsafe { Atomic::from_ptr(self.start.cast::<T>().add(at)) }
    }
}

impl<T: DeviceCopy> Shared<[T]> {
    /// Returns the dynamic shared memory of the launch, as much as the host gave it with `Grid::shared_bytes`.
    ///
    /// Every call returns the same memory.
    #[inline(always)]
    pub fn dynamic() -> Self {
        const { assert!(align_of::<T>() <= 16, "dynamic shared memory is aligned to 16 bytes") };
        let (start, bytes) = (back::dynamic_shared(), back::dynamic_shared_bytes());
        Shared { start, bytes, owner: back::owner(), content: PhantomData }
    }

    /// Returns the number of elements.
    #[inline(always)]
    pub fn len(&self) -> usize {
        const { assert!(size_of::<T>() > 0, "elements without a size") };
        self.bytes / size_of::<T>()
    }

    /// Returns whether there is no room for an element.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the address of the first element. Reading and writing there is unsafe: barriers must keep apart what threads write
    /// and others read.
    #[inline(always)]
    pub fn as_mut_ptr(&self) -> *mut T {
        self.start.cast()
    }

    /// Writes `value` to the thread's own place, that of its number in the block, waits for the whole block, and returns what
    /// all of them wrote.
    ///
    /// It also waits before it writes, so that no thread still reads what was exchanged before. A thread whose place is past the
    /// end writes nothing. All threads of the block must reach the same call.
    #[inline(always)]
    #[track_caller]
    pub fn exchange(&mut self, value: T) -> Exchanged<'_, T> {
        back::check_owner(self.owner, "shared memory");
        exchange(self.start.cast(), self.len() as u32, value)
    }
}

/// As [`Shared::exchange`] through two arrays, with the two barriers of one.
///
/// All threads of the block must reach the same call.
///
/// ```
/// use warpsmith::prelude::*;
/// use warpsmith::shared::exchange_both;
///
/// # warpsmith::module!(cpu);
/// /// Each thread multiplies its neighbours' values.
/// #[kernel]
/// pub fn neighbours(x: &[u32], y: &mut Slots<u32>) {
///     let (mut left, mut right) = (shared!([u32; 64]), shared!([u32; 64]));
///     let i = thread::index();
///     let own = x[i.get()];
///     let (left, right) = exchange_both(&mut left, own, &mut right, own + 1);
///     let (at, last) = (thread::in_block(), block::threads() - 1);
///     y.set(i, left.get(at.saturating_sub(1)) * right.get(last.min(at + 1)));
/// }
/// # fn main() -> warpsmith::Result {
/// # let device = Device::cpu();
/// # let (kernels, stream) = (Kernels::load(&device)?, device.stream()?);
/// # let (x, mut y) = (stream.upload(&[1, 2, 3])?, stream.zeroed(3)?);
/// # kernels.neighbours(&stream, Grid::new(1, 3), (&x, &mut y))?;
/// # assert_eq!(stream.download(&y)?, [3, 4, 8]);
/// # Ok(())
/// # }
/// ```
#[inline(always)]
#[track_caller]
pub fn exchange_both<'a, 'b, A: DeviceCopy, B: DeviceCopy, const N: usize, const M: usize>(
    first: &'a mut Shared<[A; N]>,
    to_first: A,
    second: &'b mut Shared<[B; M]>,
    to_second: B,
) -> (Exchanged<'a, A>, Exchanged<'b, B>) {
    let (own, threads) = (thread::in_block() as usize, block::threads());
    back::check_owner(first.owner, "shared memory");
    back::check_owner(second.owner, "shared memory");
    let (first, second) = (first.as_ptr().cast::<A>(), second.as_ptr().cast::<B>());
    block::sync_threads();
    // SAFETY: as in `exchange`, of either array.
    unsafe {
        if own < N {
            first.add(own).write(to_first);
        }
        if own < M {
            second.add(own).write(to_second);
        }
    }
    block::sync_threads();
    let len = |places: usize| if (threads as usize) < places { threads } else { places as u32 };
    let (in_first, in_second) = (len(N), len(M));
    (
        Exchanged { start: first, len: in_first, owner: back::owner(), handle: PhantomData },
        Exchanged { start: second, len: in_second, owner: back::owner(), handle: PhantomData },
    )
}

#[inline(always)]
#[track_caller]
fn fill(places: u32, set: impl Fn(usize)) {
    block::sync_threads();
    let (mut i, step) = (thread::in_block(), block::threads());
    while i < places {
        set(i as usize);
        i += step;
    }
    block::sync_threads();
}

#[inline(always)]
#[track_caller]
fn exchange<'a, T: DeviceCopy>(start: *mut T, places: u32, value: T) -> Exchanged<'a, T> {
    let (own, threads) = (thread::in_block(), block::threads());
    block::sync_threads();
    if own < places {
        // SAFETY: within the array. Only this thread writes there, and those that read wait for the barrier below, or have passed
        // the one above.
        unsafe { start.add(own as usize).write(value) };
    }
    block::sync_threads();
    let len = if threads < places { threads } else { places };
    Exchanged { start, len, owner: back::owner(), handle: PhantomData }
}

/// What the threads of a block exchanged, to read until the next exchange.
#[derive(Clone, Copy, Debug)]
pub struct Exchanged<'a, T> {
    start: *const T,
    len: u32,
    owner: back::Owner,
    handle: PhantomData<&'a T>,
}

impl<'a, T: DeviceCopy> Exchanged<'a, T> {
    /// Returns how many threads wrote a value.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty, reason = "a block has a thread")]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Returns the value of a thread of the block.
    ///
    /// # Panics
    /// If there is no such thread, or it had no place.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self, thread: u32) -> T {
        back::check_owner(self.owner, "shared memory");
        assert!(thread < self.len, "the value of thread {thread}, of {} that exchanged one", self.len);
        // SAFETY: written before the barrier in `exchange`, and by the next one at the earliest after all threads came there.
        unsafe { self.start.add(thread as usize).read() }
    }

    /// Returns the value of a thread of the block; `None` if there is no such thread.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    pub fn try_get(&self, thread: u32) -> Option<T> {
        back::check_owner(self.owner, "shared memory");
        // SAFETY: as in `get`.
        (thread < self.len).then(|| unsafe { self.start.add(thread as usize).read() })
    }

    /// Returns the values of the first `N` threads, to be indexed without further checks; `None` if there are fewer.
    #[inline(always)]
    pub fn first<const N: u32>(&self) -> Option<First<'a, T, N>> {
        (N <= self.len).then_some(First { start: self.start, owner: self.owner, handle: PhantomData })
    }

    /// Returns the values of the first threads as a tile, row by row, to be indexed without further checks; `None` if there are
    /// fewer.
    #[inline(always)]
    pub fn tile<const ROWS: u32, const COLUMNS: u32>(&self) -> Option<Tile<'a, T, ROWS, COLUMNS>> {
        let fits = ROWS as u64 * COLUMNS as u64 <= self.len as u64;
        // SAFETY: as in `get`; that there are as many was checked.
        fits.then(|| unsafe { Tile::of_all(self.start, self.owner) })
    }
}

/// The values of the first `N` threads of a block.
#[derive(Clone, Copy, Debug)]
pub struct First<'a, T, const N: u32> {
    start: *const T,
    owner: back::Owner,
    handle: PhantomData<&'a T>,
}

impl<T: DeviceCopy, const N: u32> First<'_, T, N> {
    /// Returns the value of a thread, without a check.
    #[inline(always)]
    #[cfg_attr(not(target_os = "cuda"), track_caller)]
    pub fn get(&self, thread: Below<N>) -> T {
        back::check_owner(self.owner, "shared memory");
        // SAFETY: as in `Exchanged::get`; that there are `N` was checked.
        unsafe { self.start.add(thread.index()).read() }
    }
}

/// Returns the memory of a `shared!` in the block that runs.
#[cfg(not(target_os = "cuda"))]
#[doc(hidden)]
#[track_caller]
pub fn __of_site<T: Content>(site: &'static AtomicU8) -> *mut u8 {
    back::shared_of_site(site.as_ptr(), size_of::<T>(), align_of::<T>(), T::HAS_REFERENCES)
}

//! The parameters of a kernel, by their types.
//!
//! A kernel's parameter may have any of these types, under whatever name:
//!
//! | parameter | what the host passes | in the kernel |
//! | --- | --- | --- |
//! | plain data: `f32`, `u32`, a struct; `bool` | the value | its own copy |
//! | `&[T]` | `&Buffer<T>`, or a part of one | read by all threads, written by none |
//! | `&mut Slots<T>` | `&mut Buffer<T>`, or a part of one | each thread writes its own elements |
//! | `&mut Slots<T, PerWarp>` | `&mut Buffer<T>`, or a part of one | each warp writes its own element |
//! | `&mut Slots<T, PerBlock>` | `&mut Buffer<T>`, or a part of one | each block writes its own element |
//! | `&mut Slots<T, PerPosition>` | that and a number of columns: `(&mut Buffer<T>, u32)` | each thread writes the element at its row and column |
//! | `&[Atomic<T>]` | `&mut Buffer<T>`, or a part of one | atomics that all threads share |

use core::ptr::NonNull;

use crate::atomic::Scope;
use crate::shape::Shape;
use crate::slots::Owner;
use crate::{Atomic, DeviceCopy, Slots};
#[cfg(all(feature = "host", not(target_os = "cuda")))]
use crate::{DeviceSlice, Launch, Result};

mod sealed {
    pub trait Sealed {}
}

/// A type that a kernel's parameter may have.
///
/// # Safety
/// `hold` is sound for what `lower` returned. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a kernel",
    label = "not a parameter of a kernel",
    note = "it can be plain data (`DeviceCopy`), `bool`, `&[T]`, `&mut Slots<T>` or `&[Atomic<T>]`, where `T` is plain data"
)]
pub unsafe trait Param: Sized + sealed::Sealed {
    /// What the type is, for host and device to compare.
    #[doc(hidden)]
    const SHAPE: Shape;
    /// The first of the two parameters in PTX.
    #[doc(hidden)]
    type First: Copy;
    /// The second one; `()` takes no place.
    #[doc(hidden)]
    type Second: Copy;
    /// What the thread keeps while the kernel runs.
    #[doc(hidden)]
    type Held;
    /// The type itself, but for as long as the thread keeps it: a kernel cannot ask for more, such as `'static`.
    #[doc(hidden)]
    type At<'x>;
    /// What the host passes.
    #[cfg(all(feature = "host", not(target_os = "cuda")))]
    type Argument<'h>;

    /// # Safety
    /// `lower` returned the two, and its argument is still borrowed or kept alive by the launch.
    #[doc(hidden)]
    unsafe fn hold(first: Self::First, second: Self::Second) -> Self::Held;

    #[doc(hidden)]
    fn take(held: &mut Self::Held) -> Self::At<'_>;

    /// Turns an argument into the parameters in PTX, and notes in `launch` which memory it uses.
    #[cfg(all(feature = "host", not(target_os = "cuda")))]
    #[doc(hidden)]
    fn lower(argument: Self::Argument<'_>, launch: &mut Launch<'_>) -> Result<(Self::First, Self::Second)>;
}

impl<T: DeviceCopy> sealed::Sealed for T {}
// SAFETY: the value itself.
unsafe impl<T: DeviceCopy> Param for T {
    const SHAPE: Shape = T::SHAPE;
    type First = T;
    type Second = ();
    type Held = T;
    type At<'x> = T;
    #[cfg(all(feature = "host", not(target_os = "cuda")))]
    type Argument<'h> = T;

    #[inline(always)]
    unsafe fn hold(first: T, (): ()) -> T {
        first
    }

    #[inline(always)]
    fn take(held: &mut T) -> T {
        *held
    }

    #[cfg(all(feature = "host", not(target_os = "cuda")))]
    fn lower(argument: T, _launch: &mut Launch<'_>) -> Result<(T, ())> {
        Ok((argument, ()))
    }
}

impl sealed::Sealed for bool {}
// SAFETY: the value itself.
unsafe impl Param for bool {
    const SHAPE: Shape = Shape::of(&[b"bool"]);
    type First = bool;
    type Second = ();
    type Held = bool;
    type At<'x> = bool;
    #[cfg(all(feature = "host", not(target_os = "cuda")))]
    type Argument<'h> = bool;

    #[inline(always)]
    unsafe fn hold(first: bool, (): ()) -> bool {
        first
    }

    #[inline(always)]
    fn take(held: &mut bool) -> bool {
        *held
    }

    #[cfg(all(feature = "host", not(target_os = "cuda")))]
    fn lower(argument: bool, _launch: &mut Launch<'_>) -> Result<(bool, ())> {
        Ok((argument, ()))
    }
}

impl<T: DeviceCopy> sealed::Sealed for &[T] {}
// SAFETY: the host borrows the buffer for the launch, so that nobody writes it. A reference to no elements is one to read-only
// memory for the compiler: loads become `ld.global.nc`.
unsafe impl<'a, T: DeviceCopy> Param for &'a [T] {
    const SHAPE: Shape = Shape::of(&[b"&[", T::SHAPE.bytes(), b"]"]);
    type First = &'a [T; 0];
    type Second = usize;
    type Held = &'a [T];
    type At<'x> = &'x [T];
    #[cfg(all(feature = "host", not(target_os = "cuda")))]
    type Argument<'h> = &'h DeviceSlice<T>;

    #[inline(always)]
    unsafe fn hold(first: &'a [T; 0], second: usize) -> &'a [T] {
        // SAFETY: the caller's promise.
        unsafe { core::slice::from_raw_parts(first.as_ptr(), second) }
    }

    #[inline(always)]
    fn take<'x>(held: &'x mut &'a [T]) -> &'x [T] {
        held
    }

    #[cfg(all(feature = "host", not(target_os = "cuda")))]
    fn lower(argument: &DeviceSlice<T>, launch: &mut Launch<'_>) -> Result<(&'a [T; 0], usize)> {
        let start = launch.reads(argument)?;
        // SAFETY: an aligned address that is not null, for no elements.
        Ok((unsafe { &*start.cast::<[T; 0]>() }, argument.len()))
    }
}

impl<T: DeviceCopy, O: Owner> sealed::Sealed for &mut Slots<T, O> {}
// SAFETY: the host borrows the buffer mutably for the launch, so that only its threads use it, and they do through `Slots`.
unsafe impl<T: DeviceCopy, O: Owner> Param for &mut Slots<T, O> {
    const SHAPE: Shape = Shape::of(&[b"&mut Slots<", T::SHAPE.bytes(), O::SHAPE.as_bytes(), b">"]);
    type First = NonNull<T>;
    type Second = O::Size;
    type Held = Slots<T, O>;
    type At<'x> = &'x mut Slots<T, O>;
    #[cfg(all(feature = "host", not(target_os = "cuda")))]
    type Argument<'h> = O::Argument<'h, T>;

    #[inline(always)]
    unsafe fn hold(first: NonNull<T>, second: O::Size) -> Slots<T, O> {
        // SAFETY: the caller's promise.
        unsafe { Slots::new(first, second) }
    }

    #[inline(always)]
    fn take(held: &mut Slots<T, O>) -> &mut Slots<T, O> {
        held
    }

    #[cfg(all(feature = "host", not(target_os = "cuda")))]
    fn lower(argument: O::Argument<'_, T>, launch: &mut Launch<'_>) -> Result<(NonNull<T>, O::Size)> {
        let (slice, size) = O::split(argument);
        // SAFETY: memory of a device is nowhere at 0.
        Ok((unsafe { NonNull::new_unchecked(launch.writes(slice)?) }, size))
    }
}

impl<T: DeviceCopy, S: Scope> sealed::Sealed for &[Atomic<T, S>] {}
// SAFETY: the host borrows the buffer mutably for the launch, so that only its threads use it, and they do atomically.
unsafe impl<'a, T: DeviceCopy, S: Scope> Param for &'a [Atomic<T, S>] {
    const SHAPE: Shape = Shape::of(&[b"&[Atomic<", T::SHAPE.bytes(), b">]"]);
    type First = *mut T;
    type Second = usize;
    type Held = &'a [Atomic<T, S>];
    type At<'x> = &'x [Atomic<T, S>];
    #[cfg(all(feature = "host", not(target_os = "cuda")))]
    type Argument<'h> = &'h mut DeviceSlice<T>;

    #[inline(always)]
    unsafe fn hold(first: *mut T, second: usize) -> &'a [Atomic<T, S>] {
        // SAFETY: the caller's promise; an atomic is its value in memory.
        unsafe { core::slice::from_raw_parts(first.cast(), second) }
    }

    #[inline(always)]
    fn take<'x>(held: &'x mut &'a [Atomic<T, S>]) -> &'x [Atomic<T, S>] {
        held
    }

    #[cfg(all(feature = "host", not(target_os = "cuda")))]
    fn lower(argument: &mut DeviceSlice<T>, launch: &mut Launch<'_>) -> Result<(*mut T, usize)> {
        Ok((launch.writes(argument)?, argument.len()))
    }
}

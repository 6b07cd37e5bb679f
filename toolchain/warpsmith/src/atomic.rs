//! Atomics for threads of a block, of a device, or of the whole system.
//!
//! `core::sync::atomic` compiles for the device, but there `swap` and every `fetch_*` ignore their ordering
//! ([rust-lang/rust#179553](https://github.com/rust-lang/rust/issues/179553)): a lock built from them protects nothing. These types
//! put fences around the access, so `Acquire` and `Release` mean what they say.
//!
//! A kernel gets them as `&[AtomicU32]`, for which the host passes `&mut Buffer<u32>`.

use core::cell::UnsafeCell;
use core::marker::PhantomData;
pub use core::sync::atomic::Ordering;

use crate::{DeviceCopy, back};

/// Who sees an atomic access in its order.
pub trait Scope: sealed::Sealed + 'static {
    #[doc(hidden)]
    fn fence();
    #[doc(hidden)]
    fn fence_all();
}

/// The threads of a block.
#[derive(Debug)]
pub struct Block;
/// All threads of a device.
#[derive(Debug)]
pub struct Device;
/// All threads of all devices, and the host.
#[derive(Debug)]
pub struct System;

mod sealed {
    pub trait Sealed {}
}

macro_rules! scopes {
    ($($scope:ident, $fence:ident, $all:ident;)*) => { $(
        impl sealed::Sealed for $scope {}
        impl Scope for $scope {
            #[inline(always)]
            fn fence() {
                back::$fence();
            }
            #[inline(always)]
            fn fence_all() {
                back::$all();
            }
        }
    )* };
}

scopes! {
    Block, fence_block_acq_rel, fence_block;
    Device, fence_device_acq_rel, fence_device;
    System, fence_system_acq_rel, fence_system;
}

/// A number that threads share: atomic accesses with the orderings of `core`, for the threads in `S`.
///
/// The access itself is atomic for the whole device in each scope (plain loads, stores and `compare_exchange` for the whole
/// system); the scope decides how far its ordering reaches, and with that what the fences cost.
#[repr(transparent)]
pub struct Atomic<T, S: Scope = Device> {
    value: UnsafeCell<T>,
    scope: PhantomData<S>,
}

// SAFETY: every access through a shared reference is atomic.
unsafe impl<T: DeviceCopy + Send, S: Scope> Sync for Atomic<T, S> {}
// SAFETY: a number.
unsafe impl<T: DeviceCopy + Send, S: Scope> Send for Atomic<T, S> {}

/// An atomic `u32`, by default for the threads of a device.
pub type AtomicU32<S = Device> = Atomic<u32, S>;
/// An atomic `i32`, by default for the threads of a device.
pub type AtomicI32<S = Device> = Atomic<i32, S>;
/// An atomic `u64`, by default for the threads of a device.
pub type AtomicU64<S = Device> = Atomic<u64, S>;
/// An atomic `i64`, by default for the threads of a device.
pub type AtomicI64<S = Device> = Atomic<i64, S>;
/// An atomic `f32`, by default for the threads of a device.
pub type AtomicF32<S = Device> = Atomic<f32, S>;
/// An atomic `f64`, by default for the threads of a device.
pub type AtomicF64<S = Device> = Atomic<f64, S>;

impl<T: DeviceCopy, S: Scope> Atomic<T, S> {
    /// Makes an atomic of a value.
    pub const fn new(value: T) -> Self {
        Atomic { value: UnsafeCell::new(value), scope: PhantomData }
    }

    /// Returns the address.
    #[inline(always)]
    pub const fn as_ptr(&self) -> *mut T {
        self.value.get()
    }

    /// Returns a value in memory as an atomic.
    ///
    /// # Safety
    /// `p` is valid and aligned for `'a`, and while it lives every other access to the value is atomic, or ordered before or
    /// after by barriers.
    #[inline(always)]
    pub const unsafe fn from_ptr<'a>(p: *mut T) -> &'a Self {
        // SAFETY: the same layout; the caller's promise.
        unsafe { &*p.cast::<Self>() }
    }

    /// Sets the value, for whatever type.
    #[inline(always)]
    pub(crate) fn set(&self, value: T) {
        use core::sync::atomic::{AtomicU32, AtomicU64};
        // SAFETY: valid and aligned as `self` is. Types of another size have no methods that would use it meanwhile.
        unsafe {
            match size_of::<T>() {
                4 if align_of::<T>() >= 4 => {
                    AtomicU32::from_ptr(self.as_ptr().cast())
                        .store(core::mem::transmute_copy(&value), Relaxed);
                }
                8 if align_of::<T>() >= 8 => {
                    AtomicU64::from_ptr(self.as_ptr().cast())
                        .store(core::mem::transmute_copy(&value), Relaxed);
                }
                _ => self.as_ptr().write(value),
            }
        }
    }

    /// Returns the value, which no one else can reach now.
    #[inline(always)]
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

/// The fence before an access with this ordering.
#[inline(always)]
fn before<S: Scope>(order: Ordering) {
    match order {
        Ordering::Release | Ordering::AcqRel => S::fence(),
        Ordering::SeqCst => S::fence_all(),
        _ => {}
    }
}

/// The fence after an access with this ordering.
#[inline(always)]
fn after<S: Scope>(order: Ordering, has_changed: impl FnOnce() -> bool) {
    match order {
        Ordering::Acquire | Ordering::AcqRel => S::fence(),
        Ordering::SeqCst => S::fence_all(),
        _ => {}
    }
    back::after_atomic(has_changed);
}

use Ordering::Relaxed;

macro_rules! integers {
    ($($t:ty, $core:ident;)*) => { $(
        impl<S: Scope> Atomic<$t, S> {
            #[inline(always)]
            fn core(&self) -> &core::sync::atomic::$core {
                // SAFETY: valid and aligned as `self` is, and every access is atomic.
                unsafe { core::sync::atomic::$core::from_ptr(self.value.get()) }
            }

            /// Returns the value. `order` is `Relaxed`, `Acquire` or `SeqCst`.
            #[inline(always)]
            pub fn load(&self, order: Ordering) -> $t {
                if matches!(order, Ordering::SeqCst) {
                    S::fence_all();
                }
                let value = self.core().load(Relaxed);
                after::<S>(order, || false);
                value
            }

            /// Sets the value. `order` is `Relaxed`, `Release` or `SeqCst`.
            #[inline(always)]
            pub fn store(&self, value: $t, order: Ordering) {
                before::<S>(order);
                self.core().store(value, Relaxed);
                back::after_atomic(|| true);
            }

            integers! { @fetch $t;
                /// Sets the value and returns the one before.
                swap
                /// Adds, wrapping around, and returns the value before.
                fetch_add
                /// Subtracts, wrapping around, and returns the value before.
                fetch_sub
                /// Sets the smaller of the two and returns the value before.
                fetch_min
                /// Sets the larger of the two and returns the value before.
                fetch_max
                /// Sets the bits that both have and returns the value before.
                fetch_and
                /// Sets the bits that either has and returns the value before.
                fetch_or
                /// Sets the bits that one of the two has and returns the value before.
                fetch_xor
            }

            /// Sets `new` if the value is `current`; returns the value before, as an error if it was another.
            ///
            /// # Errors
            /// The value, if it is not `current`.
            #[inline(always)]
            pub fn compare_exchange(
                &self,
                current: $t,
                new: $t,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$t, $t> {
                before::<S>(success);
                let result = self.core().compare_exchange(current, new, Relaxed, Relaxed);
                after::<S>(if result.is_ok() { success } else { failure }, || result.is_ok());
                result
            }
        }
    )* };
    (@fetch $t:ty; $($(#[$doc:meta])* $name:ident)*) => { $(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name(&self, value: $t, order: Ordering) -> $t {
            before::<S>(order);
            let old = self.core().$name(value, Relaxed);
            after::<S>(order, || old != self.core().load(Relaxed));
            old
        }
    )* };
}

integers! {
    u32, AtomicU32;
    i32, AtomicI32;
    u64, AtomicU64;
    i64, AtomicI64;
}

macro_rules! floats {
    ($($t:ty, $bits:ty, $add:ident;)*) => { $(
        impl<S: Scope> Atomic<$t, S> {
            #[inline(always)]
            fn bits(&self) -> &Atomic<$bits, S> {
                // SAFETY: the same size and alignment, and every access is atomic.
                unsafe { Atomic::from_ptr(self.value.get().cast()) }
            }

            /// Returns the value. `order` is `Relaxed`, `Acquire` or `SeqCst`.
            #[inline(always)]
            pub fn load(&self, order: Ordering) -> $t {
                <$t>::from_bits(self.bits().load(order))
            }

            /// Sets the value. `order` is `Relaxed`, `Release` or `SeqCst`.
            #[inline(always)]
            pub fn store(&self, value: $t, order: Ordering) {
                self.bits().store(value.to_bits(), order);
            }

            /// Sets the value and returns the one before.
            #[inline(always)]
            pub fn swap(&self, value: $t, order: Ordering) -> $t {
                <$t>::from_bits(self.bits().swap(value.to_bits(), order))
            }

            /// Adds and returns the value before. In which order several threads add is not determined, and with it the rounding.
            #[inline(always)]
            pub fn fetch_add(&self, value: $t, order: Ordering) -> $t {
                before::<S>(order);
                // SAFETY: `self` is valid and aligned, and every access to it atomic.
                let old = unsafe { back::$add(self.value.get(), value) };
                after::<S>(order, || true);
                old
            }

            /// Sets the smaller of the two, of a number and NaN the number, and returns the value before. A loop: no device has an
            /// instruction for it.
            #[inline(always)]
            pub fn fetch_min(&self, value: $t, order: Ordering) -> $t {
                self.fetch_by(order, |old| old.min(value))
            }

            /// Sets the larger of the two, of a number and NaN the number, and returns the value before. A loop: no device has an
            /// instruction for it.
            #[inline(always)]
            pub fn fetch_max(&self, value: $t, order: Ordering) -> $t {
                self.fetch_by(order, |old| old.max(value))
            }

            #[inline(always)]
            fn fetch_by(&self, order: Ordering, change: impl Fn($t) -> $t) -> $t {
                before::<S>(order);
                let mut old = self.bits().load(Relaxed);
                loop {
                    let new = change(<$t>::from_bits(old)).to_bits();
                    match self.bits().compare_exchange(old, new, Relaxed, Relaxed) {
                        Ok(_) => break,
                        Err(now) => old = now,
                    }
                }
                after::<S>(order, || true);
                <$t>::from_bits(old)
            }

            /// Sets `new` if the bits of the value are those of `current`; returns the value before, as an error if it was
            /// another.
            ///
            /// # Errors
            /// The value, if it is not `current`.
            #[inline(always)]
            pub fn compare_exchange(
                &self,
                current: $t,
                new: $t,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$t, $t> {
                let result = self.bits().compare_exchange(current.to_bits(), new.to_bits(), success, failure);
                result.map(<$t>::from_bits).map_err(<$t>::from_bits)
            }
        }
    )* };
}

floats! {
    f32, u32, add_f32;
    f64, u64, add_f64;
}

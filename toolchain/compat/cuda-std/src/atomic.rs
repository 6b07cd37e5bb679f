//! Floats that threads change together, for a block, the device or the system.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use warpsmith::Atomic;
use warpsmith::atomic::{Block, Device, System};

macro_rules! atomics {
    ($($(#[$doc:meta])* $name:ident, $t:ty, $bits:ty, $core:ty, $scope:ty $(, $unsafe:ident)?;)*) => { $(
        $(#[$doc])*
        #[derive(Debug)]
        #[repr(transparent)]
        pub struct $name(UnsafeCell<$t>);

        // SAFETY: all accesses are atomic.
        unsafe impl Sync for $name {}

        #[allow(clippy::missing_safety_doc)]
        impl $name {
            /// Makes an atomic.
            pub const fn new(value: $t) -> Self {
                Self(UnsafeCell::new(value))
            }

            /// Returns the value.
            pub fn into_inner(self) -> $t {
                self.0.into_inner()
            }

            #[inline(always)]
            fn float(&self) -> &Atomic<$t, $scope> {
                // SAFETY: the value is there as long as `self`, and only accessed by atomics.
                unsafe { Atomic::from_ptr(self.0.get()) }
            }

            #[inline(always)]
            fn bits(&self) -> &Atomic<$bits, $scope> {
                const { assert!(align_of::<$t>() == align_of::<$core>()) };
                // SAFETY: as above, and a number of the same size and alignment.
                unsafe { Atomic::from_ptr(self.0.get().cast()) }
            }

            /// Adds, and returns the value before.
            #[inline(always)]
            pub $($unsafe)? fn fetch_add(&self, value: $t, order: Ordering) -> $t {
                self.float().fetch_add(value, order)
            }

            /// Subtracts, and returns the value before.
            #[inline(always)]
            pub $($unsafe)? fn fetch_sub(&self, value: $t, order: Ordering) -> $t {
                self.float().fetch_add(-value, order)
            }

            /// Puts a value there, and returns the one before.
            #[inline(always)]
            pub $($unsafe)? fn swap(&self, value: $t, order: Ordering) -> $t {
                self.float().swap(value, order)
            }

            /// And, of the bits; returns the value before.
            #[inline(always)]
            pub $($unsafe)? fn fetch_and(&self, value: $t, order: Ordering) -> $t {
                <$t>::from_bits(self.bits().fetch_and(value.to_bits(), order))
            }

            /// Or, of the bits; returns the value before.
            #[inline(always)]
            pub $($unsafe)? fn fetch_or(&self, value: $t, order: Ordering) -> $t {
                <$t>::from_bits(self.bits().fetch_or(value.to_bits(), order))
            }

            /// Exclusive or, of the bits; returns the value before.
            #[inline(always)]
            pub $($unsafe)? fn fetch_xor(&self, value: $t, order: Ordering) -> $t {
                <$t>::from_bits(self.bits().fetch_xor(value.to_bits(), order))
            }

            /// Reads.
            #[inline(always)]
            pub $($unsafe)? fn load(&self, order: Ordering) -> $t {
                self.float().load(order)
            }

            /// Writes.
            #[inline(always)]
            pub $($unsafe)? fn store(&self, value: $t, order: Ordering) {
                self.float().store(value, order);
            }
        }
    )* };
}

atomics! {
    /// An `f32` that threads of the device change.
    AtomicF32, f32, u32, AtomicU32, Device;
    /// An `f64` that threads of the device change.
    AtomicF64, f64, u64, AtomicU64, Device;
    /// An `f32` that threads of one block change: unsafe, as others might.
    BlockAtomicF32, f32, u32, AtomicU32, Block, unsafe;
    /// An `f64` that threads of one block change: unsafe, as others might.
    BlockAtomicF64, f64, u64, AtomicU64, Block, unsafe;
    /// An `f32` that threads of several devices and the host change.
    SystemAtomicF32, f32, u32, AtomicU32, System;
    /// An `f64` that threads of several devices and the host change.
    SystemAtomicF64, f64, u64, AtomicU64, System;
}

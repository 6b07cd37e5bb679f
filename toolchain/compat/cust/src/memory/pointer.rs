//! Addresses of memory.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ptr;

use super::DeviceCopy;
use crate::sys::CUdeviceptr;

/// An address in the memory of a device. The host cannot follow it; as an argument of a launch it is the kernel's pointer.
#[repr(transparent)]
pub struct DevicePointer<T: DeviceCopy> {
    address: CUdeviceptr,
    of: PhantomData<*mut T>,
}

// SAFETY: an address, which only unsafe code follows.
unsafe impl<T: DeviceCopy> Send for DevicePointer<T> {}
// SAFETY: as above.
unsafe impl<T: DeviceCopy> Sync for DevicePointer<T> {}
// SAFETY: an address of the device.
unsafe impl<T: DeviceCopy> DeviceCopy for DevicePointer<T> {}

/// An address of memory that host and device both use.
#[repr(transparent)]
pub struct UnifiedPointer<T: DeviceCopy>(*mut T);

// SAFETY: an address that the device can follow, too.
unsafe impl<T: DeviceCopy> DeviceCopy for UnifiedPointer<T> {}

macro_rules! addresses {
    ($($name:ident, $self:ident => $address:expr;)*) => { $(
        impl<T: DeviceCopy> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T: DeviceCopy> Copy for $name<T> {}

        impl<T: DeviceCopy> PartialEq for $name<T> {
            fn eq(&self, other: &Self) -> bool {
                self.cmp(other) == Ordering::Equal
            }
        }

        impl<T: DeviceCopy> Eq for $name<T> {}

        impl<T: DeviceCopy> PartialOrd for $name<T> {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl<T: DeviceCopy> Ord for $name<T> {
            fn cmp(&self, other: &Self) -> Ordering {
                self.address().cmp(&other.address())
            }
        }

        impl<T: DeviceCopy> Hash for $name<T> {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.address().hash(state);
            }
        }

        impl<T: DeviceCopy> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:#x})", stringify!($name), self.address())
            }
        }

        impl<T: DeviceCopy> fmt::Pointer for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Pointer::fmt(&ptr::without_provenance::<T>(self.address() as usize), f)
            }
        }

        impl<T: DeviceCopy> $name<T> {
            fn address(&$self) -> u64 {
                $address
            }

            /// Returns whether the address is 0.
            pub fn is_null(self) -> bool {
                self.address() == 0
            }

            /// Returns the address `count` elements on.
            ///
            /// # Safety
            /// It is in the same allocation, or at its end.
            pub unsafe fn offset(self, count: isize) -> Self {
                self.wrapping_offset(count)
            }

            /// Returns the address `count` elements on.
            ///
            /// # Safety
            /// It is in the same allocation, or at its end.
            #[allow(clippy::should_implement_trait)]
            pub unsafe fn add(self, count: usize) -> Self {
                self.wrapping_add(count)
            }

            /// Returns the address `count` elements back.
            ///
            /// # Safety
            /// It is in the same allocation.
            #[allow(clippy::should_implement_trait)]
            pub unsafe fn sub(self, count: usize) -> Self {
                self.wrapping_sub(count)
            }

            /// Returns the address `count` elements on.
            pub fn wrapping_add(self, count: usize) -> Self {
                self.wrapping_offset(count as isize)
            }

            /// Returns the address `count` elements back.
            pub fn wrapping_sub(self, count: usize) -> Self {
                self.wrapping_offset((count as isize).wrapping_neg())
            }
        }
    )* };
}

addresses! {
    DevicePointer, self => self.address;
    UnifiedPointer, self => self.0.addr() as u64;
}

impl<T: DeviceCopy> DevicePointer<T> {
    /// Returns the address as a pointer, which the host cannot follow.
    pub fn as_ptr(&self) -> *const T {
        ptr::without_provenance(self.address as usize)
    }

    /// Returns the address as a pointer, which the host cannot follow.
    pub fn as_mut_ptr(&self) -> *mut T {
        ptr::without_provenance_mut(self.address as usize)
    }

    /// Returns the address.
    pub fn as_raw(&self) -> CUdeviceptr {
        self.address
    }

    /// Makes a pointer of an address.
    pub fn from_raw(ptr: CUdeviceptr) -> Self {
        Self { address: ptr, of: PhantomData }
    }

    /// Returns the address 0.
    pub fn null() -> Self {
        Self::from_raw(0)
    }

    /// Returns the address `count` elements on.
    pub fn wrapping_offset(self, count: isize) -> Self {
        let bytes = (count as i64).wrapping_mul(size_of::<T>() as i64);
        Self::from_raw(self.address.wrapping_add_signed(bytes))
    }

    /// Returns the address as one of another type.
    pub fn cast<U: DeviceCopy>(self) -> DevicePointer<U> {
        DevicePointer::from_raw(self.address)
    }
}

impl<T: DeviceCopy> UnifiedPointer<T> {
    /// Makes a pointer of an address.
    ///
    /// # Safety
    /// It is one of memory that host and device both use, or 0.
    pub unsafe fn wrap(ptr: *mut T) -> Self {
        Self(ptr)
    }

    /// Returns the address.
    pub fn as_raw(self) -> *const T {
        self.0
    }

    /// Returns the address.
    pub fn as_raw_mut(&mut self) -> *mut T {
        self.0
    }

    /// Returns the address 0.
    pub fn null() -> Self {
        Self(ptr::null_mut())
    }

    /// Returns the address `count` elements on.
    pub fn wrapping_offset(self, count: isize) -> Self {
        Self(self.0.wrapping_offset(count))
    }
}

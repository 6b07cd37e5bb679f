//! Data that can be copied between host and device.

use crate::shape::Shape;

/// Plain data: its bytes may be copied between host and device, and any bytes are a value of it.
///
/// Numbers, arrays of plain data, and structs with `#[repr(C)]` and `#[derive(DeviceCopy)]`. Not `bool`, `char` and enums, which
/// have bytes that are no value: memory of a device may hold anything. A `bool` can still be a scalar argument of a kernel.
///
/// A GPU's memory is aligned to 256 bytes: a type that asks for more is only for the CPU, and a buffer of it is an error elsewhere.
///
/// # Safety
/// Every pattern of bytes is a valid value, and the type holds no reference and no address of the host's memory that a device
/// would follow.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not plain data that can be copied to a device",
    label = "not `DeviceCopy`",
    note = "numbers and arrays of them are; a struct is with `#[repr(C)]`, `#[derive(Clone, Copy, DeviceCopy)]` and fields that are",
    note = "a kernel's parameter may also be `bool`, `&[T]`, `&mut Slots<T>` or `&[Atomic<T>]`, where `T` is plain data"
)]
pub unsafe trait DeviceCopy: Copy + 'static {
    /// What host and device compare before a launch: size and alignment, unless `#[derive(DeviceCopy)]` says more.
    #[doc(hidden)]
    const SHAPE: Shape = Shape::opaque(size_of::<Self>(), align_of::<Self>());
}

macro_rules! plain {
    ($($t:ty)*) => { $(
        // SAFETY: a number, of which every pattern of bits is a value.
        unsafe impl DeviceCopy for $t {
            const SHAPE: Shape = Shape::of(&[stringify!($t).as_bytes()]);
        }
    )* };
}

plain!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);

// SAFETY: the elements are plain data, one after the other.
unsafe impl<T: DeviceCopy, const N: usize> DeviceCopy for [T; N] {
    const SHAPE: Shape = Shape::array(&T::SHAPE, N);
}
// SAFETY: an address is a number; using it is unsafe.
unsafe impl<T: 'static> DeviceCopy for *const T {
    const SHAPE: Shape = Shape::of(&[b"*const"]);
}
// SAFETY: as above.
unsafe impl<T: 'static> DeviceCopy for *mut T {
    const SHAPE: Shape = Shape::of(&[b"*mut"]);
}

/// Adds atomically where there is no instruction for it.
///
/// # Safety
/// `p` is valid and aligned, and every other access atomic.
#[cfg(not(target_os = "cuda"))]
pub(crate) unsafe fn add_f32(p: *mut f32, value: f32) -> f32 {
    use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
    // SAFETY: the caller's promise.
    let bits = unsafe { AtomicU32::from_ptr(p.cast()) };
    let add = |old| Some((f32::from_bits(old) + value).to_bits());
    let (Ok(old) | Err(old)) = bits.fetch_update(Relaxed, Relaxed, add);
    f32::from_bits(old)
}

/// Adds atomically where there is no instruction for it.
///
/// # Safety
/// `p` is valid and aligned, and every other access atomic.
#[cfg(not(target_os = "cuda"))]
pub(crate) unsafe fn add_f64(p: *mut f64, value: f64) -> f64 {
    use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
    // SAFETY: the caller's promise.
    let bits = unsafe { AtomicU64::from_ptr(p.cast()) };
    let add = |old| Some((f64::from_bits(old) + value).to_bits());
    let (Ok(old) | Err(old)) = bits.fetch_update(Relaxed, Relaxed, add);
    f64::from_bits(old)
}

//! Data that is copied to a device and back.

/// Data that may be copied bytewise to and from a device.
///
/// # Safety
/// The type has no padding and no pointers, and every bit pattern is a value of it.
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($t:ty),*) => { $(
        // SAFETY: numbers, and structs of numbers without padding.
        unsafe impl Plain for $t {}
    )* };
}
plain!(u8, u16, u32, u64, i32, i64, f32, f64, [f32; 2], [f64; 3], [i64; 4], [u8; 2], [u32; 3]);
plain!(antwarp_core::lin_kernighan::merge::Merged);
plain!(antwarp_core::papers::ants::colony::ColonyState, antwarp_core::papers::search::WalkState);
plain!(antwarp_core::papers::local_search::best::DescentState);

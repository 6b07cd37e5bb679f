//! A drop-in for `cust_core`: the trait [`DeviceCopy`] and its derive macro, for hosts and kernels alike.

#![no_std]

pub use _hidden::DeviceCopy;
pub use warpsmith_compat_macros::DeviceCopyCore as DeviceCopy;

/// The trait alone, without the macro of the same name.
#[doc(hidden)]
pub mod _hidden {
    use core::marker::PhantomData;
    use core::mem::MaybeUninit;
    use core::num::*;

    /// A type whose bytes can be copied to a device and back.
    ///
    /// # Safety
    /// The type holds no reference to the host's memory.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be copied to a device",
        note = "a type of your own can be with `#[derive(Clone, Copy, DeviceCopy)]`, if its fields can"
    )]
    pub unsafe trait DeviceCopy: Copy {}

    macro_rules! copy {
        ($($t:ty)*) => { $(
            // SAFETY: it holds no reference.
            unsafe impl DeviceCopy for $t {}
        )* };
    }

    macro_rules! copy_of {
        ($($($t:ident)::+)*) => { $(
            // SAFETY: it holds no reference but those of its parts.
            unsafe impl<T: DeviceCopy> DeviceCopy for $($t)::+<T> {}
        )* };
    }

    macro_rules! tuples {
        ($($($t:ident)*;)*) => { $(
            // SAFETY: it holds no reference but those of its parts.
            unsafe impl<$($t: DeviceCopy),*> DeviceCopy for ($($t,)*) {}
        )* };
    }

    copy! {
        () bool char u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64
        NonZeroU8 NonZeroU16 NonZeroU32 NonZeroU64 NonZeroU128 NonZeroUsize
        NonZeroI8 NonZeroI16 NonZeroI32 NonZeroI64 NonZeroI128 NonZeroIsize
    }
    copy_of!(Option MaybeUninit Wrapping);
    tuples! {
        A; A B; A B C; A B C D; A B C D E; A B C D E F; A B C D E F G; A B C D E F G H;
    }

    // SAFETY: it holds no reference but those of its parts.
    unsafe impl<T: DeviceCopy, E: DeviceCopy> DeviceCopy for Result<T, E> {}
    // SAFETY: an address; following it is unsafe.
    unsafe impl<T: ?Sized> DeviceCopy for *const T {}
    // SAFETY: as above.
    unsafe impl<T: ?Sized> DeviceCopy for *mut T {}
    // SAFETY: no bytes.
    unsafe impl<T: ?Sized> DeviceCopy for PhantomData<T> {}
    // SAFETY: its elements hold none.
    unsafe impl<T: DeviceCopy, const N: usize> DeviceCopy for [T; N] {}

    #[cfg(feature = "glam")]
    copy! {
        glam::Vec2 glam::Vec3 glam::Vec3A glam::Vec4 glam::DVec2 glam::DVec3 glam::DVec4
        glam::I64Vec2 glam::I64Vec3 glam::I64Vec4 glam::U64Vec2 glam::U64Vec3 glam::U64Vec4
        glam::USizeVec2 glam::USizeVec3 glam::USizeVec4 glam::IVec2 glam::IVec3 glam::IVec4 glam::UVec2 glam::UVec3 glam::UVec4
        glam::BVec2 glam::BVec3 glam::BVec4
        glam::Mat2 glam::Mat3 glam::Mat3A glam::Mat4 glam::DMat2 glam::DMat3 glam::DMat4
        glam::Quat glam::DQuat glam::Affine2 glam::Affine3A glam::DAffine2 glam::DAffine3
    }

    #[cfg(feature = "vek")]
    copy_of! {
        vek::Vec2 vek::Vec3 vek::Vec4 vek::Extent2 vek::Extent3 vek::Mat2 vek::Mat3 vek::Mat4
        vek::CubicBezier2 vek::CubicBezier3 vek::Quaternion
    }

    #[cfg(feature = "mint")]
    copy_of! {
        mint::Vector2 mint::Vector3 mint::Vector4 mint::Point2 mint::Point3 mint::Quaternion
        mint::ColumnMatrix2 mint::ColumnMatrix3 mint::ColumnMatrix4
        mint::RowMatrix2 mint::RowMatrix3 mint::RowMatrix4
    }

    #[cfg(feature = "half")]
    copy!(half::f16 half::bf16);

    #[cfg(feature = "num-complex")]
    copy_of!(num_complex::Complex);
}

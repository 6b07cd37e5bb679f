//! How an argument of a launch becomes a parameter of a kernel, decided by its type, under whatever name that goes.
//!
//! A slice, a string and a pointer to a slice are two parameters: the address and the length. Everything else is one.

use core::marker::PhantomData;

/// Finds out what kind of type `T` is: [`Is::KIND`] is a constant of the type itself for the ones below, and [`Plain::KIND`]
/// otherwise. It works for types that are known where it is written, which those of a kernel's parameters are.
#[derive(Debug)]
pub struct Is<T: ?Sized>(PhantomData<T>);

/// One parameter.
pub const PLAIN: u8 = 0;
/// `&[T]`
pub const SLICE: u8 = 1;
/// `&str`
pub const TEXT: u8 = 2;
/// `*const [T]`
pub const POINTER: u8 = 3;
/// `*mut [T]`
pub const POINTER_MUT: u8 = 4;

impl<T> Is<&[T]> {
    /// The kind.
    pub const KIND: u8 = SLICE;
}

impl Is<&str> {
    /// The kind.
    pub const KIND: u8 = TEXT;
}

impl<T> Is<*const [T]> {
    /// The kind.
    pub const KIND: u8 = POINTER;
}

impl<T> Is<*mut [T]> {
    /// The kind.
    pub const KIND: u8 = POINTER_MUT;
}

/// The kind of all other types.
pub trait Plain {
    /// The kind.
    const KIND: u8 = PLAIN;
}

impl<T: ?Sized> Plain for Is<T> {}

/// A parameter of kind `KIND` and type `T`.
#[derive(Debug)]
pub struct Select<const KIND: u8, T>(PhantomData<T>);

/// The parameters in PTX of one in Rust.
///
/// # Safety
/// `join` is sound for the two parameters that a launch passes.
#[diagnostic::on_unimplemented(
    message = "this type cannot be a parameter of a kernel: it is not `Copy`",
    note = "pass `&[T]` for what threads read, and `*mut T` for what they write"
)]
pub unsafe trait Parameter {
    /// The type itself.
    type Whole;
    /// The first parameter.
    type First;
    /// The second one; `()` takes no place.
    type Second;
    /// Makes the value.
    ///
    /// # Safety
    /// The launch passed the two.
    unsafe fn join(first: Self::First, second: Self::Second) -> Self::Whole;
}

// SAFETY: the value itself.
unsafe impl<T: Copy> Parameter for Select<PLAIN, T> {
    type Whole = T;
    type First = T;
    type Second = ();

    #[inline(always)]
    unsafe fn join(first: T, (): ()) -> T {
        first
    }
}

// SAFETY: nobody writes what a slice refers to. A reference to no elements is one to memory that is only read for the compiler, so
// that loads become `ld.global.nc`.
unsafe impl<'a, T> Parameter for Select<SLICE, &'a [T]> {
    type Whole = &'a [T];
    type First = &'a [T; 0];
    type Second = usize;

    #[inline(always)]
    unsafe fn join(first: &'a [T; 0], second: usize) -> &'a [T] {
        // SAFETY: the caller's promise.
        unsafe { core::slice::from_raw_parts(first.as_ptr(), second) }
    }
}

// SAFETY: as above.
unsafe impl<'a> Parameter for Select<TEXT, &'a str> {
    type Whole = &'a str;
    type First = &'a [u8; 0];
    type Second = usize;

    #[inline(always)]
    unsafe fn join(first: &'a [u8; 0], second: usize) -> &'a str {
        // SAFETY: the caller's promise.
        unsafe { core::str::from_utf8_unchecked(core::slice::from_raw_parts(first.as_ptr(), second)) }
    }
}

// SAFETY: an address and a length.
unsafe impl<T> Parameter for Select<POINTER, *const [T]> {
    type Whole = *const [T];
    type First = *const T;
    type Second = usize;

    #[inline(always)]
    unsafe fn join(first: *const T, second: usize) -> *const [T] {
        core::ptr::slice_from_raw_parts(first, second)
    }
}

// SAFETY: an address and a length.
unsafe impl<T> Parameter for Select<POINTER_MUT, *mut [T]> {
    type Whole = *mut [T];
    type First = *mut T;
    type Second = usize;

    #[inline(always)]
    unsafe fn join(first: *mut T, second: usize) -> *mut [T] {
        core::ptr::slice_from_raw_parts_mut(first, second)
    }
}

/// The entry of a kernel.
#[cfg(target_os = "cuda")]
#[doc(hidden)]
#[macro_export]
#[allow_internal_unstable(abi_ptx)]
macro_rules! __entry {
    ($export:expr, $function:ident, $(($first:ident $second:ident $type:ty))*) => {
        #[allow(unused_imports)]
        use $crate::__private::Plain as _;

        #[allow(improper_ctypes_definitions, clippy::too_many_arguments)]
        #[unsafe(export_name = $export)]
        pub unsafe extern "ptx-kernel" fn __entry(
            $(
                $first: <$crate::__private::Select<{ <$crate::__private::Is<$type>>::KIND }, $type> as
                    $crate::__private::Parameter>::First,
                $second: <$crate::__private::Select<{ <$crate::__private::Is<$type>>::KIND }, $type> as
                    $crate::__private::Parameter>::Second,
            )*
        ) {
            // SAFETY: a launch is unsafe, and promises arguments that fit the kernel.
            unsafe {
                $function($(
                    <$crate::__private::Select<{ <$crate::__private::Is<$type>>::KIND }, $type> as
                        $crate::__private::Parameter>::join($first, $second),
                )*)
            }
        }
    };
}

//! Shared memory: [`shared_array!`](crate::shared_array!), statics with `#[address_space(shared)]`, and what a launch adds.

use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

use warpsmith::shared::Shared;

/// A variable in shared memory.
///
/// # Safety
/// `address` returns the address of shared memory that is large enough and aligned for `Value`.
#[doc(hidden)]
pub unsafe trait Symbol {
    /// The type of the variable.
    type Value;
    /// Returns its address.
    fn address() -> *mut Self::Value;
}

/// What `#[address_space(shared)] static mut NAME: T` makes of `NAME` on the device: it dereferences to a `T`.
///
/// Its use needs no `unsafe`, but is as unsafe as that of a `static mut`: what other threads write at the same time must not be
/// read. `&raw mut *NAME` is its address.
#[derive(Debug)]
pub struct Static<S>(PhantomData<S>);

impl<S: Symbol> Static<S> {
    /// The variable.
    #[doc(hidden)]
    pub const NEW: Self = Static(PhantomData);

    /// Returns the address.
    #[inline(always)]
    pub fn address(&self) -> *mut S::Value {
        S::address()
    }
}

impl<S: Symbol> Deref for Static<S> {
    type Target = S::Value;

    #[inline(always)]
    fn deref(&self) -> &S::Value {
        // SAFETY: the memory is there for the whole launch; the type's documentation says who may write it.
        unsafe { &*S::address() }
    }
}

impl<S: Symbol> DerefMut for Static<S> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut S::Value {
        // SAFETY: as above.
        unsafe { &mut *S::address() }
    }
}

/// Tells the compiler that an address is one in shared memory, so that accesses become `ld.shared` and `st.shared`.
///
/// # Safety
/// It is one, of at least one byte.
#[doc(hidden)]
#[inline(always)]
pub unsafe fn __in_shared_memory(start: *mut u8) -> *mut u8 {
    // SAFETY: the caller's promise.
    unsafe { Shared::<u8>::new(start) }.as_ptr()
}

/// Makes a type the [`Symbol`] of a variable. `cuda_builder` declares it: it finds the comment in the PTX. A declaration of assembly
/// cannot stand inside a function, where these variables mostly are, with types and lengths that only the function knows.
#[cfg(target_os = "cuda")]
#[doc(hidden)]
#[macro_export]
#[allow_internal_unstable(asm_experimental_arch)]
macro_rules! __shared_symbol {
    ($tag:ident, $type:ty, $symbol:literal) => {
        // SAFETY: the variable is declared with the type's size and alignment.
        unsafe impl $crate::shared::Symbol for $tag {
            type Value = $type;

            #[inline(always)]
            fn address() -> *mut $type {
                // SAFETY: takes the address of a variable.
                unsafe {
                    let start: *mut u8;
                    ::core::arch::asm!(
                        concat!("//@shared ", $symbol, " {align} {size}"),
                        concat!("mov.b64 {0}, ", $symbol, ";"),
                        "cvta.shared.u64 {0}, {0};",
                        out(reg64) start,
                        align = const ::core::mem::align_of::<$type>(),
                        size = const ::core::mem::size_of::<$type>(),
                        options(pure, nomem, nostack, preserves_flags),
                    );
                    $crate::shared::__in_shared_memory(start).cast()
                }
            }
        }
    };
}

/// Returns a `*mut T` to `N` values in shared memory: `shared_array![T; N]`. All threads of a block that come to the same place in the
/// source get the same memory, whose content is anything at first.
#[cfg(target_os = "cuda")]
#[macro_export]
macro_rules! shared_array {
    ($type:ty; $len:expr) => {{
        #[$crate::address_space(shared)]
        static mut ARRAY: [::core::mem::MaybeUninit<$type>; $len] =
            [const { ::core::mem::MaybeUninit::uninit() }; $len];
        ARRAY.address().cast::<$type>()
    }};
}

/// Returns a `*mut T` to `N` values in shared memory: `shared_array![T; N]`. On the host the memory is a static's, and the same for all
/// threads; its content is anything at first.
#[cfg(not(target_os = "cuda"))]
#[macro_export]
macro_rules! shared_array {
    ($type:ty; $len:expr) => {{
        static mut ARRAY: [::core::mem::MaybeUninit<$type>; $len] =
            [const { ::core::mem::MaybeUninit::uninit() }; $len];
        (&raw mut ARRAY).cast::<$type>()
    }};
}

/// Returns the start of the shared memory that the launch adds, which is aligned to 16 bytes.
#[inline(always)]
pub fn dynamic_shared_mem<T>() -> *mut T {
    Shared::<[u8]>::dynamic().as_mut_ptr().cast()
}

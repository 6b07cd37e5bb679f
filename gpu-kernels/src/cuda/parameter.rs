//! Kernel parameters that point to device memory.
//!
//! The compiler reads a parameter of type `&[T; 0]` through the read-only cache and keeps values in registers; a raw pointer's
//! values are reloaded after stores that may alias. A reference promises that nobody writes during the launch, so the choice of
//! type is part of each kernel's contract (`antwarp_core::kernels`).

/// An array that is not written during the launch.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct In<T: 'static>(&'static [T; 0]);

impl<T> In<T> {
    /// Returns its first element.
    #[inline(always)]
    pub fn as_ptr(self) -> *const T {
        self.0.as_ptr()
    }
}

/// An array that the kernel writes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct InOut<T>(*mut T);

impl<T> InOut<T> {
    /// Returns its first element.
    #[inline(always)]
    pub fn as_ptr(self) -> *mut T {
        self.0
    }
}

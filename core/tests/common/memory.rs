//! Arrays as a device would hand them out: at a 16-byte boundary, full of rubbish, and with guards around them.

use antwarp_core::team::Slots;
use std::marker::PhantomData;
use std::ops::Deref;

const RUBBISH: u128 = u128::from_ne_bytes([0xa5; 16]);

/// A plain number: any bits are a value of it.
pub trait Number: Copy {}
impl Number for u8 {}
impl Number for u16 {}
impl Number for u32 {}
impl Number for i32 {}
impl Number for i64 {}
impl Number for u64 {}
impl Number for f32 {}
impl Number for f64 {}

/// An array of numbers between two guards, which it checks at its end.
pub struct Array<T> {
    words: Vec<u128>,
    length: usize,
    of: PhantomData<T>,
}

impl<T: Number> Array<T> {
    /// `length` elements of rubbish.
    pub fn rubbish(length: usize) -> Self {
        Array { words: vec![RUBBISH; (length * size_of::<T>()).div_ceil(16) + 2], length, of: PhantomData }
    }

    pub fn of(values: &[T]) -> Self {
        let mut array = Array::<T>::rubbish(values.len());
        // SAFETY: the array has room for the values.
        unsafe { array.start().copy_from_nonoverlapping(values.as_ptr(), values.len()) }
        array
    }

    pub fn start(&mut self) -> *mut T {
        self.words[1..].as_mut_ptr().cast()
    }

    pub fn slots(&mut self) -> Slots<T> {
        // SAFETY: the callers keep the array for as long as they use its slots.
        unsafe { Slots::new(self.start(), self.length) }
    }
}

impl<T: Number> Deref for Array<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        // SAFETY: the words behind the first hold `length` elements, and any bits are a number.
        unsafe { std::slice::from_raw_parts(self.words[1..].as_ptr().cast(), self.length) }
    }
}

impl<T> Drop for Array<T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let used = self.length * size_of::<T>();
        // SAFETY: bytes of the words.
        let bytes =
            unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast::<u8>(), self.words.len() * 16) };
        let guards = bytes[..16].iter().chain(&bytes[16 + used..]);
        assert!(guards.copied().all(|b| b == 0xa5), "written outside an array");
    }
}

//! Node ids: 16 bits wide where an instance allows it, else 32.

use crate::group::SIZE;

/// An unsigned integer that holds a node of an instance, and its number of nodes as the sentinel "no node".
pub trait NodeId: Copy + Send + Sync + 'static {
    /// Bytes of one id: 2 or 4.
    const BYTES: u32;
    /// Returns the id of node `node`, which must fit.
    fn new(node: u32) -> Self;
    /// Returns the node's number.
    fn get(self) -> u32;
    /// Loads a group of ids.
    ///
    /// # Safety
    /// `start` is aligned to 16 bytes and valid for reads of [`SIZE`] ids.
    unsafe fn load_group(start: *const Self) -> [u32; SIZE];
    /// Loads four ids.
    ///
    /// # Safety
    /// `start` is aligned to the size of four ids and valid for reads of them.
    unsafe fn load_four(start: *const Self) -> [u32; 4];
    /// Replaces two ids.
    ///
    /// # Safety
    /// `start` is aligned to the size of two ids and valid for writes of them.
    unsafe fn store_two(start: *mut Self, ids: [u32; 2]);
}

/// 16 bytes at a 16-byte boundary, which a GPU reads in one instruction.
#[repr(C, align(16))]
struct Words(u32, u32, u32, u32);

impl NodeId for u16 {
    const BYTES: u32 = 2;
    #[inline(always)]
    fn new(node: u32) -> Self {
        node as u16
    }
    #[inline(always)]
    fn get(self) -> u32 {
        self as u32
    }
    #[inline(always)]
    unsafe fn load_group(start: *const Self) -> [u32; SIZE] {
        // SAFETY: aligned and readable for 16 bytes by the caller's promise.
        let w = unsafe { &*start.cast::<Words>() };
        let (a, b, c, d) = (u32::from_le(w.0), u32::from_le(w.1), u32::from_le(w.2), u32::from_le(w.3));
        [a & 0xffff, a >> 16, b & 0xffff, b >> 16, c & 0xffff, c >> 16, d & 0xffff, d >> 16]
    }
    #[inline(always)]
    unsafe fn load_four(start: *const Self) -> [u32; 4] {
        // SAFETY: aligned and readable for 8 bytes by the caller's promise.
        let w = u64::from_le(unsafe { *start.cast::<u64>() });
        let (low, high) = (w as u32, (w >> 32) as u32);
        [low & 0xffff, low >> 16, high & 0xffff, high >> 16]
    }
    #[inline(always)]
    unsafe fn store_two(start: *mut Self, [a, b]: [u32; 2]) {
        // SAFETY: aligned and writable for 4 bytes by the caller's promise.
        unsafe { *start.cast::<u32>() = (a & 0xffff | b << 16).to_le() }
    }
}

impl NodeId for u32 {
    const BYTES: u32 = 4;
    #[inline(always)]
    fn new(node: u32) -> Self {
        node
    }
    #[inline(always)]
    fn get(self) -> u32 {
        self
    }
    #[inline(always)]
    unsafe fn load_group(start: *const Self) -> [u32; SIZE] {
        // SAFETY: aligned and readable for 32 bytes by the caller's promise.
        let (v, w) = unsafe { (&*start.cast::<Words>(), &*start.add(4).cast::<Words>()) };
        [v.0, v.1, v.2, v.3, w.0, w.1, w.2, w.3]
    }
    #[inline(always)]
    unsafe fn load_four(start: *const Self) -> [u32; 4] {
        // SAFETY: aligned and readable for 16 bytes by the caller's promise.
        let w = unsafe { &*start.cast::<Words>() };
        [w.0, w.1, w.2, w.3]
    }
    #[inline(always)]
    unsafe fn store_two(start: *mut Self, [a, b]: [u32; 2]) {
        // SAFETY: aligned and writable for 8 bytes by the caller's promise.
        unsafe { *start.cast::<u64>() = (a as u64 | (b as u64) << 32).to_le() }
    }
}

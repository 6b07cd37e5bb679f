//! Fences: they order a thread's own accesses to memory for others that look.

use crate::back;

/// Orders the accesses before and after for the threads of the block.
#[inline(always)]
pub fn block() {
    back::fence_block();
}

/// Orders the accesses before and after for all threads of the device.
#[inline(always)]
pub fn device() {
    back::fence_device();
}

/// As [`device`], but only as acquire and release order: accesses before stay before, and what others wrote before they released is
/// visible after. It is cheaper than [`device`], which also gives all threads one order of their fences.
#[inline(always)]
pub fn device_acq_rel() {
    back::fence_device_acq_rel();
}

/// Orders the accesses before and after for all threads of all devices, and the host.
#[inline(always)]
pub fn system() {
    back::fence_system();
}

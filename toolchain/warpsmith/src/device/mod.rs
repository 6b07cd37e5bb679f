//! The instructions of the device.
//!
//! What several threads do together is an LLVM intrinsic, never `asm!`: the compiler knows that it must not copy, move or merge
//! an intrinsic marked convergent, and it does all three to inline assembly.

use core::arch::asm;

mod runtime;

unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.tid.x"]
    pub safe fn tid_x() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.tid.y"]
    pub safe fn tid_y() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.tid.z"]
    pub safe fn tid_z() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ntid.x"]
    pub safe fn ntid_x() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ntid.y"]
    pub safe fn ntid_y() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ntid.z"]
    pub safe fn ntid_z() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.x"]
    pub safe fn ctaid_x() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.y"]
    pub safe fn ctaid_y() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.z"]
    pub safe fn ctaid_z() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.nctaid.x"]
    pub safe fn nctaid_x() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.nctaid.y"]
    pub safe fn nctaid_y() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.nctaid.z"]
    pub safe fn nctaid_z() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
    pub safe fn lane() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.clock64"]
    pub safe fn clock() -> u64;
    #[link_name = "llvm.nvvm.read.ptx.sreg.globaltimer"]
    pub safe fn nanoseconds() -> u64;

    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.all"]
    safe fn barrier_all(id: u32);
    #[link_name = "llvm.nvvm.barrier.cta.red.popc.aligned.all"]
    safe fn barrier_popc(id: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.barrier.cta.red.and.aligned.all"]
    safe fn barrier_and(id: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.barrier.cta.red.or.aligned.all"]
    safe fn barrier_or(id: u32, predicate: bool) -> bool;

    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.count"]
    safe fn barrier_count(id: u32, threads: u32);
    #[link_name = "llvm.nvvm.barrier.cluster.arrive.aligned"]
    safe fn cluster_arrive();
    #[link_name = "llvm.nvvm.barrier.cluster.wait.aligned"]
    safe fn cluster_wait();
    #[link_name = "llvm.nvvm.read.ptx.sreg.cluster.ctarank"]
    safe fn cluster_ctarank() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.cluster.nctarank"]
    safe fn cluster_nctarank() -> u32;
    #[link_name = "llvm.nvvm.mapa"]
    safe fn mapa(p: *mut u8, rank: u32) -> *mut u8;

    #[link_name = "llvm.nvvm.bar.warp.sync"]
    pub safe fn sync_warp(mask: u32);
    #[link_name = "llvm.nvvm.activemask"]
    pub safe fn active_mask() -> u32;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    pub safe fn ballot(mask: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.vote.all.sync"]
    pub safe fn all(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.any.sync"]
    pub safe fn any(mask: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.match.any.sync.i32"]
    pub safe fn match_any_u32(mask: u32, value: u32) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i64"]
    pub safe fn match_any_u64(mask: u32, value: u64) -> u32;
    #[link_name = "llvm.nvvm.match.all.sync.i32p"]
    safe fn match_all_i32p(mask: u32, value: u32) -> Matched;
    #[link_name = "llvm.nvvm.match.all.sync.i64p"]
    safe fn match_all_i64p(mask: u32, value: u64) -> Matched;

    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    pub safe fn shuffle(mask: u32, value: u32, from: u32, bounds: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    pub safe fn shuffle_up(mask: u32, value: u32, by: u32, bounds: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    pub safe fn shuffle_down(mask: u32, value: u32, by: u32, bounds: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    pub safe fn shuffle_xor(mask: u32, value: u32, by: u32, bounds: u32) -> u32;

    #[link_name = "llvm.nvvm.redux.sync.add"]
    safe fn redux_sync_add(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umin"]
    safe fn redux_sync_umin(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.umax"]
    safe fn redux_sync_umax(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.min"]
    safe fn redux_sync_min(value: u32, mask: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.max"]
    safe fn redux_sync_max(value: u32, mask: u32) -> u32;

    #[link_name = "llvm.nvvm.membar.cta"]
    pub safe fn fence_block();
    #[link_name = "llvm.nvvm.membar.gl"]
    pub safe fn fence_device();
    #[link_name = "llvm.nvvm.membar.sys"]
    pub safe fn fence_system();
    #[link_name = "llvm.nvvm.nanosleep"]
    pub safe fn pause(nanoseconds: u32);

    #[link_name = "llvm.nvvm.reflect"]
    fn reflect(name: *const u8) -> u32;
    #[link_name = "llvm.nvvm.isspacep.shared"]
    fn is_shared(p: *const u8) -> bool;
    #[link_name = "llvm.trap"]
    safe fn llvm_trap();

    #[link_name = "llvm.nvvm.atomic.load.add.f32.p0"]
    fn atomic_add_f32(p: *mut f32, value: f32) -> f32;
    #[link_name = "llvm.nvvm.atomic.load.add.f64.p0"]
    fn atomic_add_f64(p: *mut f64, value: f64) -> f64;

    #[link_name = "llvm.nvvm.cp.async.commit.group"]
    fn copy_commit();
}

#[repr(C)]
struct Matched(u32, bool);

/// Whether the architecture decides about `redux`.
pub const HAS_REDUX: bool = true;

#[inline(always)]
pub fn architecture() -> u32 {
    // LLVM puts a number in the place of the call, for the architecture of the last crate, in which this is inlined. The text must
    // be a constant of that crate: a static of this one is unknown there before the crates are linked, and LLVM crashes.
    // SAFETY: the name of a parameter of the compiler, with its NUL.
    unsafe { reflect(c"__CUDA_ARCH".as_ptr().cast()) / 10 }
}

#[inline(always)]
pub fn sync_threads() {
    barrier_all(0);
}

#[inline(always)]
pub fn sync_threads_count(predicate: bool) -> u32 {
    barrier_popc(0, predicate)
}

#[inline(always)]
pub fn sync_threads_and(predicate: bool) -> bool {
    barrier_and(0, predicate)
}

#[inline(always)]
pub fn sync_threads_or(predicate: bool) -> bool {
    barrier_or(0, predicate)
}

#[inline(always)]
pub fn sync_warps(id: u32, warps: u32) {
    barrier_count(id, 32 * warps);
}

/// The first architecture with clusters. Elsewhere a cluster is one block.
const WITH_CLUSTERS: u32 = 90;

#[inline(always)]
pub fn cluster_rank() -> u32 {
    if architecture() >= WITH_CLUSTERS { cluster_ctarank() } else { 0 }
}

#[inline(always)]
pub fn cluster_blocks() -> u32 {
    if architecture() >= WITH_CLUSTERS { cluster_nctarank() } else { 1 }
}

#[inline(always)]
pub fn sync_cluster() {
    if architecture() >= WITH_CLUSTERS {
        cluster_arrive();
        cluster_wait();
    } else {
        barrier_all(0);
    }
}

/// Returns the address at which the shared memory of another block of the cluster is seen.
#[inline(always)]
pub fn of_cluster(p: *mut u8, rank: u32) -> *mut u8 {
    if architecture() >= WITH_CLUSTERS { mapa(p, rank) } else { p }
}

#[inline(always)]
pub fn match_all_u32(mask: u32, value: u32) -> bool {
    match_all_i32p(mask, value).1
}

#[inline(always)]
pub fn match_all_u64(mask: u32, value: u64) -> bool {
    match_all_i64p(mask, value).1
}

macro_rules! redux {
    ($($name:ident, $sync:ident;)*) => { $(
        #[inline(always)]
        pub fn $name(mask: u32, value: u32) -> u32 {
            $sync(value, mask)
        }
    )* };
}

redux! {
    redux_add, redux_sync_add;
    redux_umin, redux_sync_umin;
    redux_umax, redux_sync_umax;
    redux_min, redux_sync_min;
    redux_max, redux_sync_max;
}

/// What blocks have arrived at the barrier of a cooperative launch: the top bit flips when all have.
///
/// The host lets no two cooperative launches of a module overlap, so one counter is enough.
static ARRIVED: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);

/// The first block adds what is missing to the top bit, every other block 1: when all have been here, the top bit has flipped and
/// the rest is 0 again.
#[inline(always)]
pub fn sync_grid() {
    use core::sync::atomic::Ordering::Relaxed;
    barrier_all(0);
    if tid_x() | tid_y() | tid_z() == 0 {
        const FLIP: u32 = 1 << 31;
        let blocks = nctaid_x() * nctaid_y() * nctaid_z();
        let is_first = ctaid_x() | ctaid_y() | ctaid_z() == 0;
        fence_device();
        let before = ARRIVED.fetch_add(if is_first { FLIP - (blocks - 1) } else { 1 }, Relaxed);
        while (before ^ ARRIVED.load(Relaxed)) & FLIP == 0 {}
        fence_device();
    }
    barrier_all(0);
}

#[inline(always)]
pub fn trap() -> ! {
    llvm_trap();
    // SAFETY: the instruction ends the launch.
    unsafe { core::hint::unreachable_unchecked() }
}

/// A fence that orders as acquire and release do.
#[inline(always)]
pub fn fence_block_acq_rel() {
    // SAFETY: touches nothing but the order of accesses; without `nomem` the compiler keeps to it as well.
    unsafe { asm!("fence.acq_rel.cta;", options(nostack, preserves_flags)) }
}

/// As [`fence_block_acq_rel`], for the device.
#[inline(always)]
pub fn fence_device_acq_rel() {
    // SAFETY: as above.
    unsafe { asm!("fence.acq_rel.gpu;", options(nostack, preserves_flags)) }
}

/// As [`fence_block_acq_rel`], for the system.
#[inline(always)]
pub fn fence_system_acq_rel() {
    // SAFETY: as above.
    unsafe { asm!("fence.acq_rel.sys;", options(nostack, preserves_flags)) }
}

/// # Safety
/// `p` is valid for atomic access.
#[inline(always)]
pub unsafe fn add_f32(p: *mut f32, value: f32) -> f32 {
    // SAFETY: the caller's promise.
    unsafe { atomic_add_f32(p, value) }
}

/// # Safety
/// `p` is valid for atomic access.
#[inline(always)]
pub unsafe fn add_f64(p: *mut f64, value: f64) -> f64 {
    // SAFETY: the caller's promise.
    unsafe { atomic_add_f64(p, value) }
}

/// Called after each atomic access, with whether it changed the value; a simulation lets others run there.
#[inline(always)]
pub fn after_atomic(_has_changed: impl FnOnce() -> bool) {}

/// Tells the compiler that a pointer is one into shared memory, so that accesses become `ld.shared` and `st.shared`.
///
/// # Safety
/// It is one.
#[inline(always)]
pub unsafe fn shared_pointer(p: *mut u8) -> *mut u8 {
    // SAFETY: the caller's promise. The pass that finds address spaces rewrites pointer arithmetic only, so there is some: by a
    // zero that the compiler cannot see, and that ptxas folds.
    unsafe {
        let zero: usize;
        asm!("mov.b64 {0}, 0;", out(reg64) zero, options(pure, nomem, nostack, preserves_flags));
        core::hint::assert_unchecked(is_shared(p));
        p.byte_add(zero)
    }
}

core::arch::global_asm!(".extern .shared .align 16 .b8 warpsmith_dynamic_shared[];");

/// Returns the dynamic shared memory of the block.
#[inline(always)]
pub fn dynamic_shared() -> *mut u8 {
    // SAFETY: takes the address of the variable declared above.
    unsafe {
        let p: *mut u8;
        asm!(
            "mov.b64 {0}, warpsmith_dynamic_shared;",
            "cvta.shared.u64 {0}, {0};",
            out(reg64) p,
            options(pure, nomem, nostack, preserves_flags)
        );
        shared_pointer(p)
    }
}

/// Returns the bytes of dynamic shared memory of the launch.
#[inline(always)]
pub fn dynamic_shared_bytes() -> usize {
    let bytes: u32;
    // SAFETY: reads a special register.
    unsafe {
        asm!("mov.u32 {0}, %dynamic_smem_size;", out(reg32) bytes, options(pure, nomem, nostack, preserves_flags));
    }
    bytes as usize
}

/// Copies `BYTES` (4, 8 or 16) from global to shared memory, asynchronously from `sm_80` on.
///
/// # Safety
/// `to` is in shared and `from` in global memory, both aligned to `BYTES`.
#[inline(always)]
pub unsafe fn copy_async<const BYTES: usize>(to: *mut u8, from: *const u8) {
    // SAFETY: the caller's promise.
    unsafe {
        if architecture() < 80 {
            let mut i = 0;
            while i < BYTES / 4 {
                *to.cast::<u32>().add(i) = *from.cast::<u32>().add(i);
                i += 1;
            }
            return;
        }
        let (at, source): (u64, u64);
        asm!("cvta.to.shared.u64 {0}, {1};", out(reg64) at, in(reg64) to, options(pure, nomem, nostack));
        asm!("cvta.to.global.u64 {0}, {1};", out(reg64) source, in(reg64) from, options(pure, nomem, nostack));
        match BYTES {
            16 => {
                asm!("cp.async.cg.shared.global [{0}], [{1}], 16;", in(reg64) at, in(reg64) source, options(nostack))
            }
            8 => {
                asm!("cp.async.ca.shared.global [{0}], [{1}], 8;", in(reg64) at, in(reg64) source, options(nostack))
            }
            _ => {
                asm!("cp.async.ca.shared.global [{0}], [{1}], 4;", in(reg64) at, in(reg64) source, options(nostack))
            }
        }
    }
}

/// Waits until at most `LEFT` groups of asynchronous copies are under way.
#[inline(always)]
pub fn copy_wait<const LEFT: u32>() {
    if architecture() >= 80 {
        // SAFETY: waits for this thread's own copies; without `nomem`, no access moves across it.
        unsafe { asm!("cp.async.wait_group {0};", const LEFT, options(nostack)) }
    }
}

/// Ends a group of asynchronous copies.
#[inline(always)]
pub fn copy_group() {
    if architecture() >= 80 {
        // SAFETY: concerns this thread's own copies.
        unsafe { copy_commit() }
    }
}

/// The owner of an index or of shared memory: there is only one here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner;

/// What belongs to no thread.
pub const ANYONE: Owner = Owner;

#[inline(always)]
pub fn owner() -> Owner {
    Owner
}

#[inline(always)]
pub fn check_owner(_of: Owner, _what: &str) {}

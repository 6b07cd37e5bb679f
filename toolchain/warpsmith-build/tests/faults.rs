//! Faults of rustc and LLVM that the builder's flags keep away, and those that its checks find. Each test compiles a kernel with the
//! cure and without it: where the fault is gone, the cure can go.

use std::fs;

use common::{
    NEIGHBOURS, build, build_plain, builder, flags_without, kernels, scratch, toolchain, toolchains,
    write_crate,
};
use warpsmith_build::{BuildError, compile, ptx};

mod common;

/// The shape that jump threading breaks, with a barrier, a vote and a shuffle; and what merging branches breaks.
const COLLECTIVES: &str = r#"
use core::arch::nvptx::{_syncthreads, _thread_idx_x};

unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn ballot(mask: u32, yes: bool) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shuffle(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.activemask"]
    fn mask_of_active() -> u32;
}

#[inline(always)]
fn active() -> u32 {
    unsafe { mask_of_active() }
}

/// Runs a collective after some threads have set a flag, which decides what they do with its result.
#[inline(always)]
unsafe fn after_a_flag(out: *mut u32, collective: impl FnOnce(u32) -> u32) {
    unsafe {
        let thread = _thread_idx_x() as u32;
        let mut flag = false;
        if thread < 16 {
            *out.add(thread as usize + 128) = 1;
            flag = true;
        }
        let value = collective(thread);
        *out.add(thread as usize) = if flag { 2 * value + 1 } else { 3 * value + 2 };
    }
}

KERNEL canary(out: *mut u32) {
    unsafe { after_a_flag(out, |thread| { _syncthreads(); thread }) }
}
KERNEL canary_of_votes(out: *mut u32) {
    unsafe { after_a_flag(out, |thread| ballot(!0, thread % 3 == 0)) }
}
KERNEL canary_of_shuffles(out: *mut u32) {
    unsafe { after_a_flag(out, |thread| shuffle(!0, thread, 5, 31)) }
}
KERNEL active_on_two_ways(n: u32, out: *mut u32) {
    unsafe { *out = if n > _thread_idx_x() as u32 { active() } else { active() } }
}
"#;

/// Returns how often each kernel of [`COLLECTIVES`] has its collective.
fn collectives(ptx: &str) -> [usize; 4] {
    let parts = ptx::split(ptx);
    let count = |name: &str, op: &str| {
        let kernel = parts.kernels.iter().find(|kernel| kernel.name == name).unwrap();
        kernel.text.lines().filter(|line| line.trim_start().starts_with(op)).count()
    };
    [
        count("canary", "bar"),
        count("canary_of_votes", "vote.sync.ballot"),
        count("canary_of_shuffles", "shfl.sync.idx"),
        count("active_on_two_ways", "activemask"),
    ]
}

#[test]
fn collectives_stay_where_they_are_at_each_level_of_each_compiler() {
    let dir = scratch("collectives");
    write_crate(&dir, "collectives", &kernels(COLLECTIVES));
    for toolchain in toolchains() {
        for level in ["1", "2", "3", "s"] {
            let built = builder(&dir, compile::FLAGS).opt_level(level).build_with(&toolchain).unwrap();
            let text = fs::read_to_string(&built.files[0].path).unwrap();
            assert_eq!(collectives(&text), [1, 1, 1, 2], "level {level} of {toolchain:?}");
            let report = fs::read_to_string(&built.files[0].report).unwrap();
            assert!(!report.contains("divergent in") && !report.contains("fault:"), "{level}: {report}");
        }
    }
}

/// The checks find it by the copies' places in the source, too: in all three kinds.
#[test]
fn with_jump_threading_collectives_are_refused() {
    let Some(toolchain) = toolchain() else { return };
    match build("threaded", &kernels(COLLECTIVES), &flags_without("JumpThreading"), &toolchain) {
        Err(BuildError::Check { faults, .. }) => {
            let has =
                |words: &[&str]| faults.iter().any(|fault| words.iter().all(|word| fault.contains(word)));
            assert!(has(&["canary holds 2 barriers, not 1"]), "{faults:?}");
            assert!(has(&["canary:", "src/lib.rs:", "barrier", "2 copies"]), "{faults:?}");
            assert!(has(&["canary_of_votes:", "vote", "2 copies"]), "{faults:?}");
            assert!(has(&["canary_of_shuffles:", "shfl", "2 copies"]), "{faults:?}");
        }
        other => panic!("this rustc keeps collectives in place by itself, the flag can go: {other:?}"),
    }
}

#[test]
fn when_branches_are_merged_so_are_masks() {
    let Some(toolchain) = toolchain() else { return };
    let dir = scratch("merged");
    write_crate(&dir, "merged", &kernels(COLLECTIVES));
    let merged = collectives(&build_plain(&dir, &flags_without("MatchBranchSimplification"), &toolchain));
    assert_eq!(merged, [1, 1, 1, 1], "this rustc keeps both calls by itself, the flag can go");
}

/// Both addresses depend on `back`, so neither of them is the other plus a constant.
#[test]
fn strength_reduction_would_read_from_a_wrong_address() {
    let dir = scratch("neighbours");
    write_crate(&dir, "neighbours", NEIGHBOURS);
    for toolchain in toolchains() {
        let loads = |flags: &[&str]| -> Vec<String> {
            let ptx = build_plain(&dir, flags, &toolchain);
            ptx.lines().filter(|line| line.contains("ld.global.b32")).map(str::to_string).collect()
        };
        let right = loads(compile::FLAGS);
        assert!(right.len() == 2 && right.iter().all(|load| !load.contains('+')), "{toolchain:?}: {right:?}");
        let wrong = loads(&flags_without("slsr"));
        assert!(
            wrong.len() == 2 && wrong[1].contains("+-4]"),
            "the pass of {} is right by itself, the flag can go: {wrong:?}",
            toolchain.version
        );
    }
}

/// Builds a crate with one kernel, and returns its text and its report, or the error.
fn one(name: &str, body: &str) -> Option<Result<(String, String), String>> {
    let toolchain = toolchain()?;
    let built = build(name, &kernels(body), compile::FLAGS, &toolchain);
    let read = |path: &std::path::Path| fs::read_to_string(path).unwrap();
    Some(built.map(|b| (read(&b.files[0].path), read(&b.files[0].report))).map_err(|error| error.to_string()))
}

#[test]
fn orderings_that_are_not_obeyed_are_refused() {
    let swap = |ordering: &str| {
        format!(
            "use core::sync::atomic::{{AtomicU32, Ordering}};\n\
             KERNEL lock(p: *mut u32) {{\n    let lock = unsafe {{ AtomicU32::from_ptr(p) }};\n    \
             while lock.swap(1, Ordering::{ordering}) == 1 {{}}\n    let _ = lock.compare_exchange(1, 2, Ordering::AcqRel, Ordering::Relaxed);\n}}\n"
        )
    };
    let Some(refused) = one("ordering", &swap("Acquire")) else { return };
    let error = refused.unwrap_err();
    assert!(error.contains("lock: src/lib.rs:") || error.contains("lib.rs:"), "{error}");
    assert!(error.contains("atomicrmw xchg") && error.contains("//@allow lock ordering"), "{error}");
    let (text, _) = one("ordering", &swap("Relaxed")).unwrap().unwrap();
    // What the PTX shows: the exchange has no ordering, whatever the source asks for.
    let allowed = format!("core::arch::global_asm!(\"//@allow lock ordering\");\n{}", swap("Acquire"));
    let (with_ordering, _) = one("ordering", &allowed).unwrap().unwrap();
    let exchange = |text: &str| text.lines().find(|line| line.contains(".exch.")).unwrap().trim().to_string();
    assert_eq!(exchange(&with_ordering), exchange(&text), "LLVM obeys the ordering now, the check can go");
}

#[test]
fn comparing_slices_needs_no_library() {
    let body = "KERNEL same(a: *const u8, b: *const u8, n: usize, out: *mut u32) {\n    \
                let of = |p| unsafe { core::slice::from_raw_parts(p, n) };\n    \
                unsafe { *out = (of(a) == of(b)) as u32 };\n}\n";
    let Some(built) = one("slices", body) else { return };
    let (text, _) = built.unwrap();
    assert!(text.contains(", memcmp, ("), "this LLVM compares by itself, the definition can go");
    assert_eq!(text.matches(".func  (.param .b32 func_retval0) memcmp\n").count(), 1, "{text}");
    assert!(!text.contains(".extern .func"), "{text}");
}

#[test]
fn a_remainder_of_floats_is_told() {
    let Some(built) =
        one("remainder", "KERNEL rest(x: f32, y: f32, out: *mut f32) {\n    unsafe { *out = x % y };\n}\n")
    else {
        return;
    };
    let (text, report) = built.unwrap();
    assert!(report.contains("remainder in rest: ") && report.contains("frem float"), "{report}");
    // x - trunc(x / y) * y, which loses all digits of a large quotient.
    assert!(text.contains("div.rn.f32") && text.contains("cvt.rzi.f32.f32"), "exact now? {text}");
}

#[test]
fn a_wide_conversion_has_an_explanation() {
    let Some(built) =
        one("wide", "KERNEL wide(x: u128, out: *mut f64) {\n    unsafe { *out = x as f64 };\n}\n")
    else {
        return;
    };
    let error = built.expect_err("this LLVM converts by itself, the explanation can go");
    assert!(error.contains("`u128` or `i128`"), "{error}");
}

#[test]
fn a_barrier_in_assembly_is_refused() {
    let Some(built) =
        one("assembly", "KERNEL wait() {\n    unsafe { core::arch::asm!(\"bar.sync 0;\") };\n}\n")
    else {
        return;
    };
    let error = built.unwrap_err();
    assert!(error.contains("wait: ") && error.contains("//@allow wait assembly"), "{error}");
}

#[test]
fn a_barrier_of_some_threads_is_told() {
    let body = "use core::arch::nvptx::{_syncthreads, _thread_idx_x};\n\
                KERNEL some(out: *mut u32) {\n    if unsafe { _thread_idx_x() } < 16 {\n        \
                unsafe { _syncthreads(); *out = 1 };\n    }\n}\n";
    let Some(built) = one("some", body) else { return };
    let (_, report) = built.unwrap();
    assert!(report.contains("divergent in some: bar"), "{report}");
}

#[test]
fn a_crate_without_kernels_is_refused() {
    let Some(built) = one("nothing", "pub fn forgotten(x: u32) -> u32 {\n    x\n}\n") else { return };
    let error = built.unwrap_err();
    assert!(error.contains("there is no kernel: write `#[kernel]`"), "{error}");
}

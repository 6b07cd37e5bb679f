//! Faults of rustc and LLVM that the builder's flags keep away, and those that its checks find. Each test compiles a kernel with the
//! cure and without it: where the fault is gone, the cure can go.

use common::{
    CANARY, NEIGHBOURS, build, build_plain, flags_without, scratch, toolchain, toolchains, write_crate,
};
use warpsmith_build::{BuildError, compile};

mod common;

#[test]
fn with_jump_threading_the_canary_is_refused() {
    let Some(toolchain) = toolchain() else { return };
    match build("threaded", CANARY, &flags_without("JumpThreading"), &toolchain) {
        Err(BuildError::Check { faults, .. }) => {
            assert_eq!(faults, ["canary holds 2 barriers, not 1: barriers are copied or lost"]);
        }
        other => panic!("this rustc keeps barriers in place by itself, the flag can go: {other:?}"),
    }
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

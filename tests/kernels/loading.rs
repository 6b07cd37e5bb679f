//! The embedded PTX: every kernel the host knows, no other, and the driver takes each.

use std::collections::BTreeSet;

use antwarp::backend::cuda::{Device, kernel_names, kernels, load_function, ptx, texts};

use crate::gpu::gpu;
use crate::{
    acs, best_moves, chains, construct_candidates, construct_full, genetic, judge, lin_kernighan,
    local_search, rounds, tour_costs, trails, walks,
};

fn all_names() -> BTreeSet<String> {
    kernel_names().into_iter().chain(["block_canary".to_string()]).collect()
}

#[test]
fn every_ptx_text_holds_the_kernels_the_host_knows_and_no_other() {
    if let Err(why) = kernels() {
        println!("skipped: {why}");
        return;
    }
    assert!(!texts().is_empty(), "no PTX in a build with kernels");
    for (architecture, text) in texts() {
        let embedded: BTreeSet<String> = ptx::entries(text).map(str::to_string).collect();
        assert_eq!(embedded, all_names(), "sm_{architecture}");
    }
}

#[test]
fn every_kernel_has_a_test() {
    let families = [
        construct_full::NAMES,
        construct_candidates::NAMES,
        judge::NAMES,
        lin_kernighan::NAMES,
        tour_costs::NAMES,
        trails::NAMES,
        best_moves::NAMES,
        chains::NAMES,
        local_search::NAMES,
        rounds::NAMES,
        acs::NAMES,
        genetic::NAMES,
        walks::NAMES,
    ];
    let tested: BTreeSet<String> = families.concat().into_iter().map(str::to_string).collect();
    assert_eq!(tested, kernel_names().into_iter().collect());
}

/// Loads every kernel of a PTX text.
fn load_all(device: &Device, (architecture, text): (u32, &str)) {
    for name in all_names() {
        if let Err(e) = load_function(device.context(), text, &name) {
            panic!("sm_{architecture}: {e}");
        }
    }
}

#[test]
fn every_kernel_of_the_oldest_ptx_loads() {
    let Some(gpu) = gpu() else { return };
    load_all(&gpu, *texts().iter().min_by_key(|t| t.0).expect("PTX where a device was opened"));
}

#[test]
fn every_kernel_of_newer_ptx_loads() {
    let Some(gpu) = gpu() else { return };
    let oldest = texts().iter().map(|t| t.0).min();
    for &text in texts().iter().filter(|t| Some(t.0) != oldest) {
        match Device::open_with(0, Some(text.0)) {
            Ok(_) => load_all(&gpu, text),
            Err(why) => println!("skipped: sm_{}: {why}", text.0),
        }
    }
}

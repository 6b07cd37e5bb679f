//! The embedded PTX: every kernel the host knows, no other, and the driver takes each.

use std::collections::BTreeSet;

use antwarp::backend::cuda::{Device, kernel_names, kernels, texts};

use crate::gpu::gpu;
use crate::harness::ignore;
use crate::papers::{
    acs, best_moves, construct_candidates, construct_full, genetic, local_search, trails, walks,
};
use crate::{judge, lin_kernighan, small_tours, tour_costs};

tests![
    every_ptx_text_holds_the_kernels_the_host_knows_and_no_other,
    a_kernel_s_text_is_the_whole_without_the_others,
    every_kernel_has_a_test,
    every_kernel_of_the_oldest_ptx_loads,
    every_kernel_of_newer_ptx_loads
];

fn all_names() -> BTreeSet<String> {
    kernel_names().into_iter().chain(["block_canary".to_string()]).collect()
}

fn every_ptx_text_holds_the_kernels_the_host_knows_and_no_other() {
    if let Err(why) = kernels() {
        return ignore(why);
    }
    assert!(!texts().is_empty(), "no PTX in a build with kernels");
    for ptx in texts() {
        let text = ptx.text().unwrap();
        let entries: Vec<&str> = text.lines().filter_map(entry).collect();
        assert_eq!(entries, ptx.names().collect::<Vec<_>>(), "sm_{}", ptx.capability);
        let embedded: BTreeSet<String> = entries.into_iter().map(str::to_string).collect();
        assert_eq!(embedded, all_names(), "sm_{}", ptx.capability);
    }
}

/// The name of the kernel that begins in this line of PTX.
fn entry(line: &str) -> Option<&str> {
    line.strip_prefix(".visible .entry ")?.split('(').next()
}

/// What the driver is to be given for a kernel: the text without the others.
fn without_others(text: &str, name: &str) -> String {
    let mut only = String::new();
    let mut inside_other = false;
    for line in text.lines() {
        inside_other |= entry(line).is_some_and(|kernel| kernel != name);
        if !inside_other {
            only.extend([line, "\n"]);
        }
        inside_other &= line != "}";
    }
    only
}

fn a_kernel_s_text_is_the_whole_without_the_others() {
    if let Err(why) = kernels() {
        return ignore(why);
    }
    for ptx in texts() {
        let text = ptx.text().unwrap();
        for name in ptx.names() {
            let same = ptx.only(name).expect("a kernel of the text") == without_others(&text, name);
            assert!(same, "sm_{}: {name}", ptx.capability);
        }
        assert!(ptx.only("no_such_kernel").is_err());
    }
}

fn every_kernel_has_a_test() {
    let families = [
        construct_full::NAMES,
        construct_candidates::NAMES,
        judge::NAMES,
        lin_kernighan::NAMES,
        small_tours::NAMES,
        tour_costs::NAMES,
        trails::NAMES,
        best_moves::NAMES,
        local_search::NAMES,
        acs::NAMES,
        genetic::NAMES,
        walks::NAMES,
    ];
    let tested: BTreeSet<String> = families.concat().into_iter().map(str::to_string).collect();
    assert_eq!(tested, kernel_names().into_iter().collect());
}

/// Loads every kernel of a device's PTX text.
fn load_all(device: &Device) {
    for name in all_names() {
        if let Err(e) = device.function(&name) {
            panic!("{}: {e}", device.machine().details);
        }
    }
}

fn every_kernel_of_the_oldest_ptx_loads() {
    let Some(_gpu) = gpu() else { return };
    let oldest = texts().iter().map(|ptx| ptx.capability).min();
    load_all(&Device::open_with(0, oldest).unwrap_or_else(|e| panic!("{e}")));
}

fn every_kernel_of_newer_ptx_loads() {
    let Some(_gpu) = gpu() else { return };
    let oldest = texts().iter().map(|ptx| ptx.capability).min();
    for ptx in texts().iter().filter(|ptx| Some(ptx.capability) != oldest) {
        match Device::open_with(0, Some(ptx.capability)) {
            Ok(device) => load_all(&device),
            Err(why) => println!("skipped: sm_{}: {why}", ptx.capability),
        }
    }
}

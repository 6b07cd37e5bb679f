//! What the driver refuses comes back as an error that says what and why.

use std::io::Write as _;

use antwarp::backend::cuda::{Buffer, Device};
use antwarp::engine::BackendError;
use warpsmith::image::{Image, Images, Part};

use crate::gpu::gpu;

tests![
    an_array_that_does_not_fit_is_named,
    a_kernel_that_is_not_there_is_refused,
    bad_ptx_is_refused_in_the_drivers_words
];

fn an_array_that_does_not_fit_is_named() {
    let Some(gpu) = gpu() else { return };
    // 8 TiB: more than any GPU has, and within its address space.
    match Buffer::<u64>::zeroed(gpu.stream(), "the absurd array", 1 << 40) {
        Err(BackendError::OutOfMemory { place: "device", what, .. }) => assert_eq!(what, "the absurd array"),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("8 TiB allocated"),
    }
    let after = Buffer::<u64>::zeroed(gpu.stream(), "a small array", 3).expect("memory after the failure");
    assert_eq!(after.to_vec(gpu.stream()).expect("its elements"), [0; 3]);
}

fn a_kernel_that_is_not_there_is_refused() {
    let Some(gpu) = gpu() else { return };
    match gpu.function("no_such_kernel").map(drop) {
        Err(BackendError::PtxRefused { kernel, log }) => {
            assert_eq!(kernel, "no_such_kernel");
            assert!(!log.is_empty());
        }
        other => panic!("{other:?}"),
    }
}

/// A text with one kernel, packed as the build script does it.
fn packed(name: &'static str, kernel: &str) -> &'static Images {
    let common = ".version 7.0\n.target sm_70\n.address_size 64\n";
    let mut all = Vec::new();
    let mut pack = |text: &str| {
        let start = all.len();
        let mut packed = flate2::write::DeflateEncoder::new(&mut all, flate2::Compression::default());
        packed.write_all(text.as_bytes()).and_then(|()| packed.finish().map(drop)).unwrap();
        start..all.len()
    };
    let (common_part, kernel_part) = (pack(common), pack(kernel));
    let parts = vec![Part { name, at: common.len(), packed: kernel_part }];
    let image = Image { capability: 70, packed: all.leak(), common: common_part, parts: parts.leak() };
    Box::leak(Box::new(Images { texts: vec![image].leak(), missing: None, compiler: None }))
}

fn bad_ptx_is_refused_in_the_drivers_words() {
    let Some(_gpu) = gpu() else { return };
    let images = packed("bad", ".visible .entry bad()\n{\n\tabsurd.u32 %r1;\n}\n");
    // SAFETY: the kernel is not launched.
    let device = unsafe { Device::open_for(0, images, Some(70)) }.unwrap_or_else(|e| panic!("{e}"));
    match device.function("bad").map(drop) {
        Err(BackendError::PtxRefused { kernel, log }) => {
            assert_eq!(kernel, "bad");
            // The error's own name is in the first line, the driver's messages are in the others.
            assert!(log.lines().skip(1).any(|line| !line.trim().is_empty()), "no words of the driver: {log}");
        }
        other => panic!("{other:?}"),
    }
}

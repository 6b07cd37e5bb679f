//! What the driver refuses comes back as an error that says what and why.

use antwarp::backend::cuda::{Buffer, load_function, load_text, texts};
use antwarp::engine::BackendError;

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
    for ptx in texts() {
        match load_function(gpu.context(), ptx, "no_such_kernel").map(drop) {
            Err(BackendError::PtxRefused { kernel, log }) => {
                assert_eq!(kernel, "no_such_kernel");
                assert!(!log.is_empty());
            }
            other => panic!("{other:?}"),
        }
    }
}

fn bad_ptx_is_refused_in_the_drivers_words() {
    let Some(gpu) = gpu() else { return };
    let text =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry bad()\n{\n\tabsurd.u32 %r1;\n}\n";
    match load_text(gpu.context(), text.to_string(), "bad").map(drop) {
        Err(BackendError::PtxRefused { kernel, log }) => {
            assert_eq!(kernel, "bad");
            // The error's own name is in the first line, the driver's messages are in the others.
            assert!(log.lines().skip(1).any(|line| !line.trim().is_empty()), "no words of the driver: {log}");
        }
        other => panic!("{other:?}"),
    }
}

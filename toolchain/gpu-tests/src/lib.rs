//! Runs the tests of warpsmith's kernels on the GPUs of the machine: `cargo test`. The library itself is empty.

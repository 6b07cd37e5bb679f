//! Compiles a `no_std` crate of CUDA kernels to PTX from a build script.

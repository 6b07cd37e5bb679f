//! CUDA for Rust kernels: the only place with intrinsics, named as in CUDA (and as in `cuda_std`), so that a port to another
//! Rust-to-PTX compiler replaces only this folder.

pub mod block;
pub mod grid;
pub mod parameter;
pub mod shared;
pub mod thread;
pub mod warp;

pub use block::Block;
pub use warp::Warp;

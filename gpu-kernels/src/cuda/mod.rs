//! Teams of CUDA threads, made of the device side of `warpsmith`.

pub mod block;
pub mod grid;
pub mod parameter;
pub mod shared;
pub mod thread;
pub mod warp;

pub use block::Block;
pub use warp::Warp;

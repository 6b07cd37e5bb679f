//! The one GPU that all tests share, and buffers that show where a kernel writes what it should not.

use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use antwarp::backend::cuda::{Buffer, Device};
use antwarp::engine::Plain;
use antwarp_core::node::NodeId;
use warpsmith::Function;

use crate::harness::ignore;

/// The device, for one test at a time.
pub struct Gpu(MutexGuard<'static, Device>);

impl Deref for Gpu {
    type Target = Device;

    fn deref(&self) -> &Device {
        &self.0
    }
}

/// The GPU; `None` where there is none, and the test counts as ignored.
///
/// # Panics
/// If there is none and `ANTWARP_REQUIRE_GPU=1` says that there must be.
pub fn gpu() -> Option<Gpu> {
    static DEVICE: OnceLock<Result<Mutex<Device>, String>> = OnceLock::new();
    match DEVICE.get_or_init(|| Device::open(0).map(Mutex::new).map_err(|e| e.to_string())) {
        Ok(device) => Some(Gpu(device.lock().unwrap_or_else(PoisonError::into_inner))),
        Err(why) => {
            assert!(!is_set("ANTWARP_REQUIRE_GPU"), "ANTWARP_REQUIRE_GPU is set, but {why}");
            ignore(format!("no GPU to compare with: {why}"));
            None
        }
    }
}

/// Why a test of large sizes alone is ignored where sizes have to be small.
pub const LARGE: &str = "ANTWARP_TEST_SMALL asks for small sizes";

/// Whether sizes have to be small.
pub fn small() -> bool {
    is_set("ANTWARP_TEST_SMALL")
}

/// Those of `sizes` that are to be tested.
pub fn sizes(sizes: &[u32]) -> impl Iterator<Item = u32> {
    sizes.iter().copied().filter(|&n| n <= 64 || !small())
}

/// All of these, or the last two where sizes have to be small: of what differs little a slow tool needs no more.
pub fn some<T>(all: &[T]) -> &[T] {
    &all[if small() { all.len().saturating_sub(2) } else { 0 }..]
}

fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| !value.is_empty() && value != "0")
}

/// A value that no kernel writes by chance: every byte is 0xAA.
pub trait Poison: Plain + PartialEq + Default + std::fmt::Debug {
    /// The value.
    const POISON: Self;
}

impl Poison for u8 {
    const POISON: u8 = 0xaa;
}
impl Poison for u32 {
    const POISON: u32 = u32::from_ne_bytes([0xaa; 4]);
}
impl Poison for u64 {
    const POISON: u64 = u64::from_ne_bytes([0xaa; 8]);
}
impl Poison for i64 {
    const POISON: i64 = i64::from_ne_bytes([0xaa; 8]);
}
impl Poison for f32 {
    const POISON: f32 = f32::from_bits(u32::POISON);
}

/// Elements behind each guarded array. None where sizes are small: compute-sanitizer sees for itself, and better,
/// what lies beyond an array.
pub fn guard<T: Poison>() -> Vec<T> {
    vec![T::POISON; if small() { 0 } else { 64 }]
}

/// A copy of `data` on the device.
pub fn upload<T: Plain>(device: &Device, data: &[T]) -> Buffer<T> {
    Buffer::from_slice(device.stream(), "test data", data).expect("test data")
}

/// A copy of `data` on the device, poison behind it.
pub fn guarded<T: Poison>(device: &Device, data: &[T]) -> Buffer<T> {
    upload(device, &[data, &guard::<T>()].concat())
}

/// `len` poisoned elements on the device, and more poison behind them.
pub fn poisoned<T: Poison>(device: &Device, len: usize) -> Buffer<T> {
    guarded(device, &vec![T::POISON; len])
}

/// The elements of a guarded array, whose guard must be as it was.
pub fn download<T: Poison>(device: &Device, what: &str, buffer: &Buffer<T>) -> Vec<T> {
    if buffer.is_empty() {
        return Vec::new();
    }
    let mut data = buffer.to_vec(device.stream()).unwrap_or_else(|e| panic!("{what}: {e}"));
    let guard = guard::<T>();
    let behind = data.split_off(data.len() - guard.len());
    assert_eq!(behind, guard, "{what}: written behind the array's end");
    data
}

/// Node ids as the bytes of their type.
pub fn id_bytes<I: NodeId>(ids: &[u32]) -> Vec<u8> {
    match I::BYTES {
        2 => ids.iter().flat_map(|&v| (v as u16).to_ne_bytes()).collect(),
        _ => ids.iter().flat_map(|&v| v.to_ne_bytes()).collect(),
    }
}

/// The node ids in these bytes.
pub fn ids<I: NodeId>(bytes: &[u8]) -> Vec<u32> {
    match I::BYTES {
        2 => bytes.chunks_exact(2).map(|b| u16::from_ne_bytes([b[0], b[1]]).into()).collect(),
        _ => bytes.chunks_exact(4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect(),
    }
}

/// Loads a kernel.
pub fn load(device: &Device, name: &str) -> (String, Function) {
    (name.to_string(), device.function(name).unwrap_or_else(|e| panic!("{e}")))
}

/// The first difference of two slices, in a message that fits a screen.
#[track_caller]
pub fn assert_same<T: PartialEq + std::fmt::Debug>(what: &str, gpu: &[T], cpu: &[T]) {
    assert_eq!(gpu.len(), cpu.len(), "{what}: lengths on the GPU and the CPU");
    if let Some(i) = gpu.iter().zip(cpu).position(|(g, c)| g != c) {
        let count = gpu.iter().zip(cpu).filter(|(g, c)| g != c).count();
        panic!(
            "{what}: {count} of {} differ; the first is {i}: {:?} on the GPU, {:?} on the CPU",
            gpu.len(),
            gpu[i],
            cpu[i]
        );
    }
}

//! A double of the NVIDIA driver that fails on request. It is a shared library with the driver's functions that antwarp
//! calls, to be found as `libcuda.so` before the real one.
//!
//! Where there is a real driver (`libcuda.so.1`), every call goes on to it. Elsewhere it pretends to be one GPU: memory is main
//! memory, and kernels do nothing.
//!
//! - `DRIVER_FAILS` = `K:CODE`: the K-th call, from 1, gives this `CUresult` and does nothing. After any code but that of too
//!   little memory all later calls fail likewise, as those of a lost device do.
//!   With the code 600, "not ready", kernels that are launched from the K-th call on never end, and whoever waits for them waits for ever.
//! - `DRIVER_CALLS`: a file to which every call appends a line: its name, its result, and `+handle` or `-handle` for what it
//!   made, or was to give back, or the name of the kernel that it looked for.

// The driver's interface (CUDA driver API, cuda.h), whose names and arguments these are.
#![allow(non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::{Mutex, OnceLock, PoisonError};

type Result = c_uint;
type Handle = *mut c_void;
/// An address in device memory.
type Address = u64;

const SUCCESS: Result = 0;
const OUT_OF_MEMORY: Result = 2;
const NOT_READY: Result = 600;

/// What waits for kernels.
const WAITS: [&str; 8] = [
    "cuCtxSynchronize",
    "cuStreamSynchronize",
    "cuEventSynchronize",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemFree_v2",
    "cuModuleUnload",
    "cuDevicePrimaryCtxRelease_v2",
];

unsafe extern "C" {
    fn dlopen(name: *const c_char, flags: c_int) -> Handle;
    fn dlsym(library: Handle, name: *const c_char) -> Handle;
    fn calloc(count: usize, size: usize) -> Handle;
    fn free(memory: Handle);
}

/// What is asked for, and how far it is.
struct Plan {
    fails: Option<(u64, Result)>,
    state: Mutex<State>,
    /// The real driver, or null.
    real: usize,
}

struct State {
    calls: u64,
    /// What all calls give, once the device is lost.
    lost: Option<Result>,
    /// A kernel never ends.
    hangs: bool,
    log: Option<File>,
    /// The last handle that was made up.
    last: usize,
}

fn plan() -> &'static Plan {
    static PLAN: OnceLock<Plan> = OnceLock::new();
    PLAN.get_or_init(|| {
        let fails = std::env::var("DRIVER_FAILS").ok().map(|text| {
            let (call, code) = text.split_once(':').expect("DRIVER_FAILS is K:CODE");
            (call.parse().expect("K is a number"), code.parse().expect("CODE is a number"))
        });
        let log = std::env::var_os("DRIVER_CALLS").map(|path| {
            OpenOptions::new().create(true).append(true).open(path).expect("DRIVER_CALLS can be written")
        });
        const NOW: c_int = 2;
        // SAFETY: a NUL-terminated name.
        let real = unsafe { dlopen(c"libcuda.so.1".as_ptr(), NOW) } as usize;
        Plan { fails, state: Mutex::new(State { calls: 0, lost: None, hangs: false, log, last: 0 }), real }
    })
}

/// What the call that begins now has to give instead of doing its work.
fn verdict(name: &str) -> Option<Result> {
    let plan = plan();
    let mut state = plan.state.lock().unwrap_or_else(PoisonError::into_inner);
    state.calls += 1;
    if let Some((call, NOT_READY)) = plan.fails {
        state.hangs |= state.calls >= call && name.starts_with("cuLaunch");
        let hangs = state.hangs;
        drop(state);
        while hangs && WAITS.contains(&name) {
            std::thread::park();
        }
        return match name {
            "cuEventQuery" if hangs => Some(NOT_READY),
            _ if hangs && name.starts_with("cuLaunch") => Some(SUCCESS),
            _ => None,
        };
    }
    if state.lost.is_none()
        && let Some((_, code)) = plan.fails.filter(|&(call, _)| call == state.calls)
    {
        if code == OUT_OF_MEMORY {
            return Some(code);
        }
        state.lost = Some(code);
    }
    state.lost
}

fn note(name: &str, result: Result, what: &str) {
    let mut state = plan().state.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(log) = &mut state.log {
        log.write_all(format!("{name} {result} {what}\n").as_bytes()).expect("DRIVER_CALLS can be written");
    }
}

/// A handle of something that has no memory.
fn made_up() -> Handle {
    let mut state = plan().state.lock().unwrap_or_else(PoisonError::into_inner);
    state.last += 16;
    state.last as Handle
}

/// Calls the real driver's function of this name if there is one, else does what is written here.
macro_rules! calls {
    ($(fn $name:ident($($p:ident: $t:ty),*) $(makes $made:ident)? $(gives $given:ident)? $(names $named:ident)? $body:block)*) => { $(
        /// As in the CUDA driver API.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($p: $t),*) -> Result {
            let name = stringify!($name);
            let result = match verdict(name) {
                Some(code) => code,
                None if plan().real != 0 => {
                    let symbol = std::ffi::CString::new(name).expect("a name");
                    // SAFETY: the real driver's function of this name takes these arguments.
                    unsafe {
                        let function = dlsym(plan().real as Handle, symbol.as_ptr());
                        assert!(!function.is_null(), "the driver has no {name}");
                        let function: unsafe extern "C" fn($($t),*) -> Result = std::mem::transmute(function);
                        function($($p),*)
                    }
                }
                None => {
                    // SAFETY: the caller keeps to the driver's interface: pointers are valid for what they are for.
                    #[allow(unused_unsafe)]
                    unsafe { $body }
                    SUCCESS
                }
            };
            #[allow(unused_mut, unused_assignments)]
            let mut what = String::new();
            // SAFETY: a call that succeeded has written what it made.
            $(if result == SUCCESS { what = format!("+{:#x}", unsafe { *$made } as u64) })?
            $(what = format!("-{:#x}", $given as u64);)?
            // SAFETY: a NUL-terminated name.
            $(what = unsafe { CStr::from_ptr($named) }.to_string_lossy().into_owned();)?
            note(name, result, &what);
            result
        }
    )* };
}

/// An attribute of the pretended GPU, by its number in `CUdevice_attribute`.
fn attribute(number: c_int) -> c_int {
    match number {
        1 => 1024,            // threads a block
        10 => 32,             // a warp
        16 => 4,              // multiprocessors
        8 => 48 << 10,        // shared memory of a block
        81 | 97 => 227 << 10, // shared memory of a multiprocessor, of a block that asks for it
        39 => 2048,           // threads of a multiprocessor
        75 => 9,              // compute capability
        95 | 115 => 1,        // cooperative launches, pools of memory
        _ => 0,
    }
}

calls! {
    fn cuInit(_flags: c_uint) {}
    fn cuDriverGetVersion(version: *mut c_int) { *version = 13_000 }
    fn cuDeviceGetCount(count: *mut c_int) { *count = 1 }
    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) { *device = ordinal }
    fn cuDeviceGetName(name: *mut c_char, len: c_int, _device: c_int) {
        let text = c"a driver's double".to_bytes_with_nul();
        let len = text.len().min(len as usize);
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, len);
    }
    fn cuDeviceGetAttribute(value: *mut c_int, number: c_int, _device: c_int) { *value = attribute(number) }
    fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: c_int) { *bytes = 8 << 30 }
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) { (*free, *total) = (7 << 30, 8 << 30) }
    fn cuDevicePrimaryCtxRetain(context: *mut Handle, _device: c_int) { *context = 1 as Handle }
    fn cuDevicePrimaryCtxRelease_v2(_device: c_int) {}
    fn cuCtxSetCurrent(_context: Handle) {}
    fn cuCtxGetCurrent(context: *mut Handle) { *context = std::ptr::null_mut() }
    fn cuCtxSynchronize() {}

    fn cuStreamCreate(stream: *mut Handle, _flags: c_uint) makes stream { *stream = made_up() }
    fn cuStreamDestroy_v2(stream: Handle) gives stream {}
    fn cuStreamSynchronize(_stream: Handle) {}
    fn cuStreamWaitEvent(_stream: Handle, _event: Handle, _flags: c_uint) {}

    fn cuEventCreate(event: *mut Handle, _flags: c_uint) makes event { *event = made_up() }
    fn cuEventDestroy_v2(event: Handle) gives event {}
    fn cuEventRecord(_event: Handle, _stream: Handle) {}
    fn cuEventQuery(_event: Handle) {}
    fn cuEventSynchronize(_event: Handle) {}
    fn cuEventElapsedTime(ms: *mut f32, _from: Handle, _to: Handle) { *ms = 1.0 }
    fn cuEventElapsedTime_v2(ms: *mut f32, _from: Handle, _to: Handle) { *ms = 1.0 }

    fn cuMemAlloc_v2(address: *mut Address, bytes: usize) makes address { *address = calloc(bytes, 1) as Address }
    fn cuMemFree_v2(address: Address) gives address { free(address as Handle) }
    fn cuMemAllocAsync(address: *mut Address, bytes: usize, _stream: Handle) makes address {
        *address = calloc(bytes, 1) as Address
    }
    fn cuMemFreeAsync(address: Address, _stream: Handle) gives address { free(address as Handle) }
    fn cuMemsetD8Async(address: Address, value: u8, bytes: usize, _stream: Handle) {
        std::ptr::write_bytes(address as *mut u8, value, bytes)
    }
    fn cuMemcpyHtoDAsync_v2(to: Address, from: *const c_void, bytes: usize, _stream: Handle) {
        std::ptr::copy_nonoverlapping(from.cast::<u8>(), to as *mut u8, bytes)
    }
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: Address, bytes: usize, _stream: Handle) {
        std::ptr::copy_nonoverlapping(from as *const u8, to.cast(), bytes)
    }
    fn cuMemcpyDtoDAsync_v2(to: Address, from: Address, bytes: usize, _stream: Handle) {
        std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes)
    }

    fn cuLinkCreate_v2(_count: c_uint, _options: *mut c_uint, _values: *mut Handle, state: *mut Handle) makes state {
        *state = made_up()
    }
    fn cuLinkAddData_v2(
        _state: Handle, _kind: c_uint, _data: Handle, _size: usize, _name: *const c_char, _count: c_uint,
        _options: *mut c_uint, _values: *mut Handle
    ) {}
    fn cuLinkComplete(_state: Handle, binary: *mut Handle, size: *mut usize) {
        static NOTHING: [u8; 16] = [0; 16];
        (*binary, *size) = (NOTHING.as_ptr().cast_mut().cast(), NOTHING.len())
    }
    fn cuLinkDestroy(state: Handle) gives state {}
    fn cuModuleLoadData(module: *mut Handle, _image: *const c_void) makes module { *module = made_up() }
    fn cuModuleUnload(module: Handle) gives module {}
    fn cuModuleGetFunction(function: *mut Handle, _module: Handle, name: *const c_char) names name { *function = made_up() }
    fn cuFuncGetAttribute(value: *mut c_int, number: c_int, _function: Handle) {
        // Threads that a block may have; of registers and memory there is no need.
        *value = if number == 0 { 1024 } else { 0 }
    }
    fn cuFuncSetAttribute(_function: Handle, _number: c_int, _value: c_int) {}
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut c_int, _function: Handle, _threads: c_int, _shared: usize, _flags: c_uint
    ) { *blocks = 2 }
    fn cuLaunchKernel(
        _function: Handle, _gx: c_uint, _gy: c_uint, _gz: c_uint, _bx: c_uint, _by: c_uint, _bz: c_uint, _shared: c_uint,
        _stream: Handle, _parameters: *mut Handle, _extra: *mut Handle
    ) {}
    fn cuLaunchCooperativeKernel(
        _function: Handle, _gx: c_uint, _gy: c_uint, _gz: c_uint, _bx: c_uint, _by: c_uint, _bz: c_uint, _shared: c_uint,
        _stream: Handle, _parameters: *mut Handle
    ) {}
}

/// The words for a code; never counted, and never refused.
fn words(code: Result) -> &'static CStr {
    match code {
        OUT_OF_MEMORY => c"CUDA_ERROR_OUT_OF_MEMORY",
        700 => c"CUDA_ERROR_ILLEGAL_ADDRESS",
        _ => c"CUDA_ERROR_UNKNOWN",
    }
}

/// The name of a code.
///
/// # Safety
/// `text` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(code: Result, text: *mut *const c_char) -> Result {
    // SAFETY: the caller's promise.
    unsafe { *text = words(code).as_ptr() };
    SUCCESS
}

/// As the name.
///
/// # Safety
/// `text` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(code: Result, text: *mut *const c_char) -> Result {
    // SAFETY: the caller's promise.
    unsafe { cuGetErrorName(code, text) }
}

//! A double of the NVIDIA driver that fails on request. It is a shared library with the functions of the driver that these crates and
//! antwarp call, except those for graphs, to be found as `libcuda.so` before the real one.
//!
//! Where there is a real driver (`libcuda.so.1`), every call goes on to it. Elsewhere it pretends to be one GPU: memory is main
//! memory, and kernels do nothing. The environment says more:
//!
//! - `DRIVER_FAILS` = `K:CODE`: the K-th call, from 1, gives this `CUresult` and does nothing. After any code but that of too
//!   little memory all later calls fail likewise, as those of a lost device do. In place of K there may be the name of a function,
//!   whose first call is meant.
//!   With the code 600, "not ready", kernels that are launched from the K-th call on never end, and whoever waits for them waits for ever.
//! - `DRIVER_CALLS`: a file to which every call appends a line: its name, its result, and `+handle` or `-handle` for what it
//!   made, or was to give back, or the name of the kernel that it looked for.
//! - `DRIVER_ALONE`: there is no real driver behind it.
//! - `DRIVER_VERSION` = `12040`: the CUDA version of the pretended driver, 13000 by default. `DRIVER_DEVICES`: its GPUs, 1 by default.
//! - `DRIVER_RECORD`: a file. A launch copies it to the address that the last global variable of a module holds.

#![cfg(target_os = "linux")]
// The driver's interface (CUDA driver API, cuda.h), whose names and arguments these are.
#![allow(non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
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
    fn aligned_alloc(align: usize, size: usize) -> Handle;
    fn dlopen(name: *const c_char, flags: c_int) -> Handle;
    fn dlsym(library: Handle, name: *const c_char) -> Handle;
    fn calloc(count: usize, size: usize) -> Handle;
    fn free(memory: Handle);
}

/// What is asked for, and how far it is.
struct Plan {
    fails: Option<(Which, Result)>,
    state: Mutex<State>,
    /// The real driver, or null.
    real: usize,
}

/// The call that fails.
#[derive(PartialEq, Eq)]
enum Which {
    /// By its number.
    Call(u64),
    /// The first of this name.
    Named(String),
}

struct State {
    calls: u64,
    /// What all calls give, once the device is lost.
    lost: Option<Result>,
    /// The named call has failed.
    has_failed: bool,
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
            let which = call.parse().map_or_else(|_| Which::Named(call.into()), Which::Call);
            (which, code.parse().expect("CODE is a number"))
        });
        let log = std::env::var_os("DRIVER_CALLS").map(|path| {
            OpenOptions::new().create(true).append(true).open(path).expect("DRIVER_CALLS can be written")
        });
        const NOW: c_int = 2;
        let is_alone = std::env::var_os("DRIVER_ALONE").is_some();
        // SAFETY: a NUL-terminated name.
        let real = if is_alone { 0 } else { unsafe { dlopen(c"libcuda.so.1".as_ptr(), NOW).addr() } };
        Plan {
            fails,
            state: Mutex::new(State { calls: 0, lost: None, has_failed: false, hangs: false, log, last: 0 }),
            real,
        }
    })
}

/// What the call that begins now has to give instead of doing its work.
fn verdict(name: &str) -> Option<Result> {
    let plan = plan();
    let mut state = plan.state.lock().unwrap_or_else(PoisonError::into_inner);
    state.calls += 1;
    let (number, has_failed) = (state.calls, state.has_failed);
    let is_meant = |which: &Which| match which {
        Which::Call(call) => *call == number,
        Which::Named(named) => !has_failed && named == name,
    };
    if let Some((Which::Call(call), NOT_READY)) = plan.fails {
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
        && let Some((_, code)) = plan.fails.as_ref().filter(|(which, _)| is_meant(which))
    {
        state.has_failed = true;
        if *code == OUT_OF_MEMORY {
            return Some(*code);
        }
        state.lost = Some(*code);
    }
    state.lost
}

fn note(name: &str, result: Result, what: &str) {
    let mut state = plan().state.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(log) = &mut state.log {
        log.write_all(format!("{name} {result} {what}\n").as_bytes()).expect("DRIVER_CALLS can be written");
    }
}

/// Memory of whole pages, as the driver's.
fn page_aligned(bytes: usize) -> Handle {
    const PAGE: usize = 4096;
    // SAFETY: the size is a multiple of the alignment, a power of two.
    unsafe { aligned_alloc(PAGE, bytes.next_multiple_of(PAGE)) }
}

/// A handle of something that has no memory.
fn made_up() -> Handle {
    let mut state = plan().state.lock().unwrap_or_else(PoisonError::into_inner);
    state.last += 16;
    state.last as Handle
}

/// Returns a number of the environment.
fn number(name: &str, usual: c_int) -> c_int {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// The limits of a context, by their number in `CUlimit`: the stack of a thread first.
static LIMITS: [AtomicUsize; 3] =
    [AtomicUsize::new(1024), AtomicUsize::new(1 << 20), AtomicUsize::new(8 << 20)];

/// What the last global variable that was asked for holds.
static VARIABLE: AtomicUsize = AtomicUsize::new(0);

/// Does what a kernel does that fails and says why.
fn leave_record() {
    let to = VARIABLE.load(Ordering::Relaxed) as *mut u8;
    if let Some(file) = std::env::var_os("DRIVER_RECORD").map(PathBuf::from) {
        let record = std::fs::read(file).expect("DRIVER_RECORD can be read");
        assert!(!to.is_null(), "no variable was set");
        // SAFETY: the test's record is of the size of that to which the variable points.
        unsafe { std::ptr::copy_nonoverlapping(record.as_ptr(), to, record.len()) };
    }
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
        1..=3 => 1024,        // threads a block, along x and y
        4 => 64,              // and along z
        5 => c_int::MAX,      // blocks along x
        6 | 7 => 65535,       // along y and z
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
    fn cuDriverGetVersion(version: *mut c_int) { *version = number("DRIVER_VERSION", 13_000) }
    fn cuDeviceGetCount(count: *mut c_int) { *count = number("DRIVER_DEVICES", 1) }
    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) { *device = ordinal }
    fn cuDeviceGetName(name: *mut c_char, len: c_int, _device: c_int) {
        let text = c"a driver's double".to_bytes_with_nul();
        let len = text.len().min(len as usize);
        std::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, len);
    }
    fn cuDeviceGetAttribute(value: *mut c_int, number: c_int, _device: c_int) { *value = attribute(number) }
    fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: c_int) { *bytes = 8 << 30 }
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) { (*free, *total) = (7 << 30, 8 << 30) }
    fn cuDeviceCanAccessPeer(can: *mut c_int, _device: c_int, _other: c_int) { *can = 0 }
    fn cuDeviceGetDefaultMemPool(pool: *mut Handle, _device: c_int) { *pool = made_up() }
    fn cuMemPoolSetAccess(_pool: Handle, _access: *const c_void, _count: usize) {}
    fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: c_int) { *context = (1 + device) as usize as Handle }
    fn cuDevicePrimaryCtxRelease_v2(_device: c_int) {}
    fn cuCtxSetCurrent(_context: Handle) {}
    fn cuCtxGetCurrent(context: *mut Handle) { *context = std::ptr::null_mut() }
    fn cuCtxEnablePeerAccess(_other: Handle, _flags: c_uint) {}
    fn cuCtxSynchronize() {}
    fn cuCtxGetLimit(value: *mut usize, limit: c_uint) { *value = LIMITS[limit as usize].load(Ordering::Relaxed) }
    fn cuCtxSetLimit(limit: c_uint, value: usize) { LIMITS[limit as usize].store(value, Ordering::Relaxed) }
    fn cuThreadExchangeStreamCaptureMode(_mode: *mut c_uint) {}

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
    fn cuMemHostAlloc(memory: *mut Handle, bytes: usize, _flags: c_uint) makes memory { *memory = page_aligned(bytes) }
    fn cuMemFreeHost(memory: Handle) gives memory { free(memory) }
    fn cuMemHostGetDevicePointer_v2(address: *mut Address, memory: Handle, _flags: c_uint) { *address = memory as Address }
    fn cuMemsetD8Async(address: Address, value: u8, bytes: usize, _stream: Handle) {
        std::ptr::write_bytes(address as *mut u8, value, bytes)
    }
    fn cuMemcpyHtoDAsync_v2(to: Address, from: *const c_void, bytes: usize, _stream: Handle) {
        std::ptr::copy_nonoverlapping(from.cast::<u8>(), to as *mut u8, bytes)
    }
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: Address, bytes: usize, _stream: Handle) {
        std::ptr::copy_nonoverlapping(from as *const u8, to.cast(), bytes)
    }
    fn cuMemcpyPeerAsync(
        to: Address, _to_context: Handle, from: Address, _from_context: Handle, bytes: usize, _stream: Handle
    ) {
        std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes)
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
    fn cuModuleGetGlobal_v2(address: *mut Address, bytes: *mut usize, _module: Handle, _name: *const c_char) {
        (*address, *bytes) = (VARIABLE.as_ptr() as Address, size_of::<usize>())
    }
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
    ) { leave_record() }
    fn cuLaunchKernelEx(
        _config: *const c_void, _function: Handle, _parameters: *mut Handle, _extra: *mut Handle
    ) { leave_record() }
    fn cuLaunchCooperativeKernel(
        _function: Handle, _gx: c_uint, _gy: c_uint, _gz: c_uint, _bx: c_uint, _by: c_uint, _bz: c_uint, _shared: c_uint,
        _stream: Handle, _parameters: *mut Handle
    ) {}
}

/// The words for a code; never counted, and never refused.
fn words(code: Result) -> &'static CStr {
    match code {
        OUT_OF_MEMORY => c"CUDA_ERROR_OUT_OF_MEMORY",
        100 => c"CUDA_ERROR_NO_DEVICE",
        221 => c"CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
        222 => c"CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        700 => c"CUDA_ERROR_ILLEGAL_ADDRESS",
        701 => c"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
        719 => c"CUDA_ERROR_LAUNCH_FAILED",
        803 => c"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
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

//! An opened CUDA device.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cudarc::driver::sys::{CUdevice_attribute as Attribute, CUevent_flags};
use cudarc::driver::{CudaContext, CudaFunction, CudaStream, DriverError, sys};

use super::module::{self, Image};
use crate::backend::Machine;
use crate::engine::{BackendError, Enough};

/// The facts that `antwarp devices` shows about a device.
#[derive(Clone, Debug)]
pub struct DeviceFacts {
    /// Its name.
    pub name: String,
    /// Compute capability: major, minor.
    pub capability: (u32, u32),
    /// Bytes of device memory.
    pub memory: u64,
    /// Multiprocessors.
    pub multiprocessors: usize,
    /// The CUDA version of the driver.
    pub driver: String,
    /// The kernels that this binary would use there, or why it has none.
    pub kernels: String,
}

/// An opened device with its stream and the PTX chosen for it.
pub struct Device {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    ptx: &'static Image,
    facts: DeviceFacts,
    /// Whether a launch was abandoned.
    is_busy: AtomicBool,
    /// All kernels: a module must not be unloaded while one of them runs.
    loaded: Mutex<Vec<CudaFunction>>,
    /// Kernels that are loaded once, by name.
    prepared: Mutex<HashMap<String, Prepared>>,
}

/// A kernel that is loaded once.
enum Prepared {
    /// By a thread of its own.
    Loading(JoinHandle<Result<CudaFunction, BackendError>>),
    Loaded(CudaFunction),
}

/// How long queued work may take, from the start of the wait, before it is abandoned once the run is over. The batch's results are
/// then lost, so batches are sized to take less.
pub(super) const GRACE: Duration = Duration::from_millis(500);
/// How long to wait in any case once the run is over: the work may be about to finish.
const LATE: Duration = Duration::from_millis(20);
/// The same as [`GRACE`] where many short launches are queued.
pub(super) const LONG_GRACE: Duration = Duration::from_secs(3);
/// How often to check whether kernels are loaded.
const PAUSE: Duration = Duration::from_millis(2);
/// How long to poll without a pause.
const SPIN: Duration = Duration::from_micros(200);

fn failed(doing: &'static str) -> impl Fn(DriverError) -> BackendError {
    move |source| BackendError::Driver { doing, source: source.into() }
}

/// Loads the driver and returns the number of devices, at least one.
pub(super) fn count() -> Result<usize, BackendError> {
    // SAFETY: it only tries to load the library.
    if !unsafe { sys::is_culib_present() } {
        return Err(BackendError::NoDriver);
    }
    match CudaContext::device_count() {
        Ok(n) if n > 0 => Ok(n as usize),
        Ok(_) => Err(BackendError::NoDevice(String::new())),
        Err(e) => Err(BackendError::NoDevice(format!(" ({e})"))),
    }
}

fn driver_version() -> Result<i32, BackendError> {
    let mut version = 0;
    // SAFETY: writes one integer.
    unsafe { sys::cuDriverGetVersion(&mut version) }
        .result()
        .map_err(failed("asking for the driver's version"))?;
    Ok(version)
}

fn facts(context: &CudaContext) -> Result<DeviceFacts, BackendError> {
    let fail = failed("asking for the device's properties");
    let (major, minor) = context.compute_capability().map_err(&fail)?;
    let driver = driver_version()?;
    let name = context.name().map_err(&fail)?;
    let capability = (major as u32, minor as u32);
    let kernels = match module::choose(None, 10 * capability.0 + capability.1, driver, &name) {
        Ok(ptx) => format!("sm_{}", ptx.capability),
        Err(why) => why.to_string(),
    };
    Ok(DeviceFacts {
        capability,
        memory: context.total_mem().map_err(&fail)? as u64,
        multiprocessors: context
            .attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
            .map_err(&fail)? as usize,
        driver: format!("{}.{}", driver / 1000, driver % 1000 / 10),
        kernels,
        name,
    })
}

/// Returns the facts about every CUDA device.
///
/// # Errors
/// If there is no driver, or no device.
pub fn devices() -> Result<Vec<DeviceFacts>, BackendError> {
    let open = |i| CudaContext::new(i).map_err(failed("opening the device"));
    (0..count()?).map(|i| facts(&*open(i)?)).collect()
}

impl Device {
    /// Opens device `ordinal` and chooses the PTX for it.
    ///
    /// # Errors
    /// If there are no kernels, no driver or no device, or one is too old: each has its own error.
    pub fn open(ordinal: usize) -> Result<Self, BackendError> {
        Device::open_with(ordinal, None)
    }

    /// As [`Device::open`], with the PTX for `architecture` (the compute capability times ten) if that is given.
    ///
    /// # Errors
    /// As [`Device::open`]; also if there is no such PTX, or the device cannot run it.
    pub fn open_with(ordinal: usize, architecture: Option<u32>) -> Result<Self, BackendError> {
        module::kernels()?;
        let n = count()?;
        if ordinal >= n {
            return Err(BackendError::NoSuchDevice(ordinal, n));
        }
        let context = CudaContext::new(ordinal).map_err(failed("opening the device"))?;
        // One stream orders everything here; events between slices would only cost time.
        // SAFETY: every buffer is used on one stream only, except for tours of Lin-Kernighan that GPUs share: their streams wait
        // for each other's events.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(failed("making a stream"))?;
        let facts = facts(&context)?;
        let capability = 10 * facts.capability.0 + facts.capability.1;
        let ptx = module::choose(architecture, capability, driver_version()?, &facts.name)?;
        let (is_busy, loaded, prepared) = (AtomicBool::new(false), Mutex::default(), Mutex::default());
        Ok(Device { context, stream, ptx, facts, is_busy, loaded, prepared })
    }

    /// Returns the machine, for reports.
    pub fn machine(&self) -> Machine {
        let f = &self.facts;
        Machine {
            backend: "cuda",
            device: f.name.clone(),
            units: f.multiprocessors,
            details: format!(
                "compute {}.{}, CUDA driver {}, sm_{} PTX",
                f.capability.0, f.capability.1, f.driver, self.ptx.capability
            ),
        }
    }

    /// Returns the stream for everything except Lin-Kernighan, which has its own streams.
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Returns the driver's context.
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    /// Returns the number of multiprocessors.
    pub fn multiprocessors(&self) -> u32 {
        self.facts.multiprocessors as u32
    }

    /// Returns the bytes of shared memory that one block can have.
    pub fn shared_limit(&self) -> u32 {
        let limit = Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        self.context.attribute(limit).map_or(48 << 10, |b| b as u32)
    }

    /// Compiles and loads a kernel.
    ///
    /// # Errors
    /// If the driver rejects it.
    pub fn function(&self, name: &str) -> Result<CudaFunction, BackendError> {
        let function = module::load_function(&self.context, self.ptx, name)?;
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).push(function.clone());
        Ok(function)
    }

    /// Begins to load kernels, each on a thread of its own: the driver may have to compile them. [`Device::prepared`] returns them.
    pub fn prepare(&self, names: impl IntoIterator<Item = String>) {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        for name in names.into_iter().filter(|name| !prepared.contains_key(name)).collect::<Vec<_>>() {
            let (context, ptx, own) = (self.context.clone(), self.ptx, name.clone());
            let load = move || module::load_function(&context, ptx, &own);
            // Without a thread it is loaded when it is needed.
            if let Ok(thread) = std::thread::Builder::new().spawn(load) {
                prepared.insert(name, Prepared::Loading(thread));
            }
        }
    }

    /// Waits until all kernels are loaded that [`Device::prepare`] began to load, or until `enough`.
    pub fn wait_until_prepared(&self, enough: Enough) {
        let is_loading = |one: &Prepared| matches!(one, Prepared::Loading(thread) if !thread.is_finished());
        let are_loaded = || {
            let prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
            !prepared.values().any(is_loading)
        };
        while !are_loaded() && !enough() {
            std::thread::sleep(PAUSE);
        }
    }

    /// As [`Device::function`], but a kernel is loaded once only: for kernels whose attributes are the same for all users.
    ///
    /// # Errors
    /// As [`Device::function`].
    pub fn prepared(&self, name: &str) -> Result<CudaFunction, BackendError> {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let function = match prepared.remove(name) {
            Some(Prepared::Loaded(function)) => function,
            Some(Prepared::Loading(thread)) => {
                let function = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
                self.loaded.lock().unwrap_or_else(PoisonError::into_inner).push(function.clone());
                function
            }
            None => self.function(name)?,
        };
        prepared.insert(name.to_string(), Prepared::Loaded(function.clone()));
        Ok(function)
    }

    /// Waits for everything queued so far; once interrupted by `enough`, for at most `grace` from the start of the wait.
    ///
    /// # Errors
    /// [`BackendError::Busy`] if the work was abandoned: the device's data is then unavailable until a later wait succeeds. Or if a
    /// kernel failed.
    pub fn wait(&self, enough: Enough, grace: Duration) -> Result<(), BackendError> {
        self.wait_on(&self.stream, enough, grace)
    }

    /// As [`Device::wait`], for work queued on another stream of the device.
    ///
    /// # Errors
    /// As [`Device::wait`].
    pub(super) fn wait_on(
        &self,
        stream: &Arc<CudaStream>,
        enough: Enough,
        grace: Duration,
    ) -> Result<(), BackendError> {
        let fail = failed("running kernels");
        let end = stream.record_event(Some(CUevent_flags::CU_EVENT_DISABLE_TIMING)).map_err(&fail)?;
        let (begun, mut over) = (Instant::now(), None);
        while !end.try_is_complete().map_err(&fail)? {
            if over.is_none() && enough() {
                over = Some(Instant::now());
            }
            if over.is_some_and(|over: Instant| over.elapsed() >= LATE) && begun.elapsed() >= grace {
                self.is_busy.store(true, Ordering::Relaxed);
                return Err(BackendError::Busy);
            }
            if begun.elapsed() >= SPIN {
                std::thread::sleep(SPIN / 4);
            }
        }
        self.is_busy.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Returns whether kernels here can read another device's memory, after asking the driver to allow it. If not, data is copied,
    /// possibly through the host.
    pub(super) fn reaches(&self, other: &Device) -> bool {
        let (own, other) = (&self.context, &other.context);
        let ask = || -> Result<bool, DriverError> {
            let mut can = 0;
            own.bind_to_thread()?;
            // SAFETY: the devices exist; `can` and `pool` are written to, and the descriptor lives for the call that reads it.
            unsafe {
                sys::cuDeviceCanAccessPeer(&mut can, own.cu_device(), other.cu_device()).result()?;
                if can == 0 {
                    return Ok(false);
                }
                let asked = sys::cuCtxEnablePeerAccess(other.cu_ctx(), 0);
                if asked != sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED {
                    asked.result()?;
                }
                // Buffers come from a pool, which has separate access rules.
                let mut pool = std::ptr::null_mut();
                sys::cuDeviceGetDefaultMemPool(&mut pool, other.cu_device()).result()?;
                let access = sys::CUmemAccessDesc {
                    location: sys::CUmemLocation {
                        type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                        id: own.cu_device(),
                    },
                    flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                };
                sys::cuMemPoolSetAccess(pool, &access, 1).result()?;
            }
            Ok(true)
        };
        own == other || ask().unwrap_or(false)
    }

    /// Abandons the queued work.
    pub(super) fn leave_behind(&self) {
        self.is_busy.store(true, Ordering::Relaxed);
    }

    /// Rejects operations that would wait for an abandoned launch.
    pub(super) fn check_idle(&self) -> Result<(), BackendError> {
        if self.is_busy.load(Ordering::Relaxed) { Err(BackendError::Busy) } else { Ok(()) }
    }
}

impl Drop for Device {
    /// If a launch was abandoned, resources that wait for its end when they are released are leaked until the process ends.
    fn drop(&mut self) {
        // The driver must not be left while it compiles.
        self.wait_until_prepared(&|| false);
        if self.is_busy.load(Ordering::Relaxed) {
            let loaded = self.loaded.get_mut().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget((std::mem::take(loaded), self.stream.clone(), self.context.clone()));
        }
    }
}

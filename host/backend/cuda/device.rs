//! An opened CUDA device.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use warpsmith::image::Images;
use warpsmith::{Function, Module, Properties, Stream};

use super::error::{failed, not_loaded};
use super::module::{self, EMBEDDED};
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

/// An opened device with its stream and the kernels chosen for it.
pub struct Device {
    device: warpsmith::Device,
    stream: Stream,
    module: Module,
    /// Bytes of shared memory that one block can have.
    shared_limit: u32,
    facts: DeviceFacts,
    /// Whether a launch was abandoned.
    is_busy: AtomicBool,
    /// Threads that load kernels, by the kernel's name.
    loading: Mutex<HashMap<String, Loading>>,
}

type Loading = JoinHandle<Result<Function, BackendError>>;

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

/// Loads the driver and returns the number of devices, at least one.
pub(super) fn count() -> Result<usize, BackendError> {
    warpsmith::Device::count().map_err(failed("asking for the devices"))
}

fn facts(properties: &Properties) -> DeviceFacts {
    let (major, minor) = properties.driver;
    DeviceFacts {
        name: properties.name.clone(),
        capability: properties.capability,
        memory: properties.memory,
        multiprocessors: properties.multiprocessors as usize,
        driver: format!("{major}.{minor}"),
        kernels: match module::choose(&EMBEDDED, properties, None) {
            Ok(image) => format!("sm_{}", image.capability),
            Err(why) => why.to_string(),
        },
    }
}

/// Returns the facts about every CUDA device.
///
/// # Errors
/// If there is no driver, or no device.
pub fn devices() -> Result<Vec<DeviceFacts>, BackendError> {
    let all = warpsmith::Device::list().map_err(failed("asking for the device's properties"))?;
    Ok(all.iter().map(facts).collect())
}

fn load(module: &Module, name: &str) -> Result<Function, BackendError> {
    module.function(name).map_err(|error| not_loaded(name, error))
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
        // SAFETY: the build script compiled these kernels from the sources of this build, and `launch` is made from their contract.
        unsafe { Device::open_for(ordinal, &EMBEDDED, architecture) }
    }

    /// As [`Device::open_with`], with other kernels.
    ///
    /// # Errors
    /// As [`Device::open_with`].
    ///
    /// # Safety
    /// Kernels of these names have the parameters that they have in this binary.
    pub unsafe fn open_for(
        ordinal: usize,
        images: &'static Images,
        architecture: Option<u32>,
    ) -> Result<Self, BackendError> {
        let device = warpsmith::Device::gpu(ordinal).map_err(failed("opening the device"))?;
        let properties = device.properties();
        let image = module::choose(images, &properties, architecture)?;
        // SAFETY: the caller's promise.
        let module = unsafe { Module::of(&device, image) };
        Ok(Device {
            stream: device.stream().map_err(failed("making a stream"))?,
            module,
            shared_limit: properties.block_shared_bytes,
            facts: facts(&properties),
            is_busy: AtomicBool::new(false),
            loading: Mutex::default(),
            device,
        })
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
                f.capability.0,
                f.capability.1,
                f.driver,
                self.module.architecture().unwrap_or(0)
            ),
        }
    }

    /// Returns the stream for everything except Lin-Kernighan, which has its own streams.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Makes another stream.
    pub(super) fn new_stream(&self) -> Result<Stream, BackendError> {
        self.device.stream().map_err(failed("making a stream"))
    }

    /// Returns the number of multiprocessors.
    pub fn multiprocessors(&self) -> u32 {
        self.facts.multiprocessors as u32
    }

    /// Returns the bytes of shared memory that one block can have.
    pub fn shared_limit(&self) -> u32 {
        self.shared_limit
    }

    /// Returns the bytes of device memory that are free now.
    pub(super) fn free_bytes(&self) -> Result<u64, BackendError> {
        let free = self.device.free_bytes().map_err(failed("asking for free memory"))?;
        Ok(free.unwrap_or(0))
    }

    fn loading(&self) -> MutexGuard<'_, HashMap<String, Loading>> {
        self.loading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to load kernels, each on a thread of its own: the driver may have to compile them. [`Device::function`] returns them.
    pub fn prepare(&self, names: impl IntoIterator<Item = String>) {
        let mut loading = self.loading();
        for name in names.into_iter().filter(|name| !loading.contains_key(name)).collect::<Vec<_>>() {
            let (module, own) = (self.module.clone(), name.clone());
            // Without a thread it is loaded when it is needed.
            if let Ok(thread) = std::thread::Builder::new().spawn(move || load(&module, &own)) {
                loading.insert(name, thread);
            }
        }
    }

    /// Waits until all kernels are loaded that [`Device::prepare`] began to load, or until `enough`.
    pub fn wait_until_prepared(&self, enough: Enough) {
        while !self.loading().values().all(JoinHandle::is_finished) && !enough() {
            std::thread::sleep(PAUSE);
        }
    }

    /// Returns a kernel. If it is not loaded yet, compiles and loads it.
    ///
    /// # Errors
    /// If the driver rejects it.
    pub fn function(&self, name: &str) -> Result<Function, BackendError> {
        let thread = self.loading().remove(name);
        match thread {
            Some(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            None => load(&self.module, name),
        }
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
        stream: &Stream,
        enough: Enough,
        grace: Duration,
    ) -> Result<(), BackendError> {
        let fail = failed("running kernels");
        let end = stream.mark().map_err(&fail)?;
        let (begun, mut over) = (Instant::now(), None);
        while !end.has_come().map_err(&fail)? {
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
        self.device.reaches(&other.device).unwrap_or(false)
    }

    /// Abandons the queued work.
    pub(super) fn leave_behind(&self) {
        self.is_busy.store(true, Ordering::Relaxed);
    }

    /// Returns whether a launch was abandoned that may still run.
    pub(super) fn is_abandoned(&self) -> bool {
        self.is_busy.load(Ordering::Relaxed)
    }

    /// Rejects operations that would wait for an abandoned launch.
    pub(super) fn check_idle(&self) -> Result<(), BackendError> {
        if self.is_abandoned() { Err(BackendError::Busy) } else { Ok(()) }
    }
}

impl Drop for Device {
    /// If a launch was abandoned, resources that wait for its end when they are released are leaked until the process ends.
    fn drop(&mut self) {
        // The driver must not be left while it compiles.
        self.wait_until_prepared(&|| false);
        if self.is_abandoned() {
            std::mem::forget((self.module.clone(), self.stream.clone(), self.device.clone()));
        }
    }
}

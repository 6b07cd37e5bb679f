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
    /// The CUDA version that the driver supports, as in `12.4`.
    pub driver: String,
    /// The kernels that this binary would use there, as in `sm_90`, or why it has none.
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

/// How long queued work may take, from the start of the wait, before it is abandoned once the run is over. The results of the
/// batch are then lost, so batches are sized to take less.
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
///
/// # Errors
/// If there is no driver, or no device.
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

/// Returns the facts about every CUDA device, in the driver's order: the index is the number that [`Device::open`] takes.
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
    /// Opens the device with this number, from 0, and chooses the PTX for it. Kernels are loaded later.
    ///
    /// # Errors
    /// If there are no kernels, no driver or no such device, or the driver or the device is too old: each has its own error.
    pub fn open(ordinal: usize) -> Result<Self, BackendError> {
        Device::open_with(ordinal, None)
    }

    /// As [`Device::open`], with the PTX for `architecture`, the compute capability times ten, if that is given.
    ///
    /// # Errors
    /// As [`Device::open`]; also if there is no such PTX, or the device cannot run it.
    pub fn open_with(ordinal: usize, architecture: Option<u32>) -> Result<Self, BackendError> {
        module::kernels()?;
        // SAFETY: the build script compiled these kernels from the sources of this build, and `launch` is made from their contract.
        unsafe { Device::open_for(ordinal, &EMBEDDED, architecture) }
    }

    /// As [`Device::open_with`], with the kernels of `images`.
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
    ///
    /// # Errors
    /// If the driver fails.
    pub(super) fn new_stream(&self) -> Result<Stream, BackendError> {
        self.device.stream().map_err(failed("making a stream"))
    }

    /// Returns the number of multiprocessors.
    pub fn multiprocessors(&self) -> u32 {
        self.facts.multiprocessors as u32
    }

    /// Returns the most bytes of dynamic shared memory that one block can have.
    pub fn shared_limit(&self) -> u32 {
        self.shared_limit
    }

    /// Returns the bytes of device memory that are free now.
    ///
    /// # Errors
    /// If the driver fails.
    pub(super) fn free_bytes(&self) -> Result<u64, BackendError> {
        let free = self.device.free_bytes().map_err(failed("asking for free memory"))?;
        Ok(free.unwrap_or(0))
    }

    fn loading(&self) -> MutexGuard<'_, HashMap<String, Loading>> {
        self.loading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts to load these kernels, each on a thread of its own: the driver may have to compile them. [`Device::function`]
    /// returns them, and reports what failed.
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

    /// Waits until all kernels that [`Device::prepare`] started to load are loaded, or until `enough`.
    pub fn wait_until_prepared(&self, enough: Enough) {
        while !self.loading().values().all(JoinHandle::is_finished) && !enough() {
            std::thread::sleep(PAUSE);
        }
    }

    /// Returns a kernel. Waits for it if [`Device::prepare`] started to load it, else loads it now.
    ///
    /// # Errors
    /// If there is no kernel of this name, or the driver rejects it.
    pub fn function(&self, name: &str) -> Result<Function, BackendError> {
        let thread = self.loading().remove(name);
        match thread {
            Some(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            None => load(&self.module, name),
        }
    }

    /// Waits for everything queued so far on [`Device::stream`]. Once `enough` returns true, it gives up 20 ms later, but not
    /// before `grace` has passed since the start of the wait.
    ///
    /// # Errors
    /// [`BackendError::Busy`] if it gave up: the device's data is then unavailable until a later wait succeeds. Or if a kernel
    /// failed.
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

    /// Asks the driver to let kernels here read another device's memory; returns whether they can. False also if the driver
    /// fails.
    pub(super) fn reaches(&self, other: &Device) -> bool {
        self.device.reaches(&other.device).unwrap_or(false)
    }

    /// Marks the queued work as abandoned, until a later wait succeeds.
    pub(super) fn leave_behind(&self) {
        self.is_busy.store(true, Ordering::Relaxed);
    }

    /// Returns whether a launch was abandoned that may still run.
    pub(super) fn is_abandoned(&self) -> bool {
        self.is_busy.load(Ordering::Relaxed)
    }

    /// Rejects operations that would wait for an abandoned launch.
    ///
    /// # Errors
    /// [`BackendError::Busy`] if there is one.
    pub(super) fn check_idle(&self) -> Result<(), BackendError> {
        if self.is_abandoned() { Err(BackendError::Busy) } else { Ok(()) }
    }
}

impl Drop for Device {
    /// Waits for kernels that are being loaded. If a launch was abandoned, leaks what would wait for its end when released.
    fn drop(&mut self) {
        // The driver must not be left while it compiles.
        self.wait_until_prepared(&|| false);
        if self.is_abandoned() {
            std::mem::forget((self.module.clone(), self.stream.clone(), self.device.clone()));
        }
    }
}

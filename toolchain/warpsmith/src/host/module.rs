//! From embedded PTX to kernels that can be launched.

use core::ffi::c_void;
use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::Deref;
use core::ptr::null_mut;
use std::collections::HashMap;
use std::format;
use std::string::{String, ToString};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::vec;
use std::vec::Vec;

use cudarc::driver::{CudaFunction, CudaModule, DriverError, sys};
use cudarc::nvrtc;

use super::buffer::Uses;
use super::device::Kind;
use super::failure::{self, Failure};
use super::gpu::{self, Gpu};
use super::image::{Image, Images, driver_for};
use super::queue::relaxed;
use super::signature::{self, Parameter};
use super::{Device, Error, Properties, Result, cache, stack};

/// The kernels of a program, for one device. Cheap to clone.
///
/// Each kernel is compiled by the driver when it is first needed, and kept on disk, in the folder that `WARPSMITH_CACHE` names, or
/// `warpsmith` in the user's folder for caches. Nothing is taken out of that folder; it may be removed at any time.
#[derive(Clone)]
pub struct Module(Arc<Inner>);

struct Inner {
    device: Device,
    /// The text for the device; `None` on the CPU.
    image: Option<&'static Image>,
    kernels: Mutex<HashMap<String, Arc<Slot>>>,
}

/// Where a kernel is once it is loaded. The driver compiles several kernels at the same time, on as many threads.
#[derive(Default)]
struct Slot {
    loaded: OnceLock<Arc<Loaded>>,
    /// Held by the thread that loads it.
    loading: Mutex<()>,
}

/// A kernel on a GPU.
pub(crate) struct Loaded {
    pub name: String,
    /// The architecture of its text, times ten.
    pub capability: u32,
    pub function: Handle,
    pub facts: KernelFacts,
    /// What its text declares.
    pub parameters: Vec<Parameter>,
    /// Their types, if it names them.
    pub types: Option<String>,
    /// Whether blocks may have all the dynamic shared memory that the device has for them.
    pub has_all_shared: Mutex<bool>,
    /// Keeps cooperative launches apart: their barrier counts in memory of the kernel.
    pub cooperative: Mutex<Uses>,
    /// Where it says why it fails. It goes after the function.
    _failure: Option<Arc<Failure>>,
}

/// A kernel's function, which is unloaded when this goes: what launches it must keep it until it has run.
pub(crate) struct Handle(ManuallyDrop<CudaFunction>);

impl Deref for Handle {
    type Target = CudaFunction;
    fn deref(&self) -> &CudaFunction {
        &self.0
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: it is not used again. The thread may be capturing a graph, to which this kernel does not belong.
        relaxed(|| unsafe { ManuallyDrop::drop(&mut self.0) });
    }
}

/// What a compiled kernel needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelFacts {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of local memory of a thread: stack, and registers that did not fit.
    pub local_bytes: u32,
    /// Bytes of static shared memory of a block.
    pub shared_bytes: u32,
    /// The most threads that a block can have.
    pub block_threads: u32,
}

/// An instance of a kernel with types, and its name on the device.
///
/// # Safety
/// The entry of this name is the kernel with these types.
#[diagnostic::on_unimplemented(
    message = "the kernel has no instance for these types",
    note = "a generic kernel is compiled for the types that its attribute names, as in `#[kernel(f32, f64)]`"
)]
pub unsafe trait Named {
    /// The name.
    const NAME: &'static str;
}

/// Shared memory that blocks of every kernel may have without asking.
const USUAL_SHARED: u32 = 48 << 10;

impl Loaded {
    /// Makes sure that blocks may have this much dynamic shared memory. Those that need more than the usual may have all: launches
    /// on several threads would lower each other's.
    pub fn make_room(&self, gpu: &Gpu, bytes: u32) -> Result {
        let own = self.facts.shared_bytes;
        if bytes <= USUAL_SHARED.saturating_sub(own) {
            return Ok(());
        }
        let all = gpu.limits.shared_bytes.saturating_sub(own);
        let mut has_all = self.has_all_shared.lock().unwrap_or_else(PoisonError::into_inner);
        if *has_all {
            return Ok(());
        }
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let bound = gpu.context.bind_to_thread();
        let set = bound.and_then(|()| self.function.set_attribute(attribute, all as i32));
        set.map_err(gpu::failed("asking for dynamic shared memory"))?;
        *has_all = true;
        Ok(())
    }
}

impl Module {
    /// Chooses the text for a device: of those that it can run the one for the newest architecture, or the one for the architecture that
    /// the environment variable `WARPSMITH_ARCH` names, written as `sm_70`.
    ///
    /// # Errors
    /// If the build has no kernels, or the device or the driver is too old for them, or `WARPSMITH_ARCH` names none of the build's
    /// architectures.
    ///
    /// # Safety
    /// The images are those of the kernels that are launched by the module, compiled from the same source.
    pub unsafe fn load(device: &Device, images: &'static Images) -> Result<Self> {
        let image = match device.kind() {
            Kind::Cpu(_) => None,
            Kind::Gpu(gpu) => {
                let named = std::env::var("WARPSMITH_ARCH").ok().filter(|name| !name.is_empty());
                let asked = named.as_deref().map(architecture_of).transpose()?;
                Some(images.newest(&gpu.properties, asked)?)
            }
        };
        Ok(Module::new(device, image))
    }

    /// Takes this text for a device, which [`Images::newest`] chose.
    ///
    /// # Safety
    /// As for [`Module::load`].
    pub unsafe fn of(device: &Device, image: &'static Image) -> Self {
        Module::new(device, (!device.is_cpu()).then_some(image))
    }

    fn new(device: &Device, image: Option<&'static Image>) -> Self {
        Module(Arc::new(Inner { device: device.clone(), image, kernels: Mutex::default() }))
    }

    /// Returns the device.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Returns the architecture whose kernels run, 90 for `sm_90`; `None` on the CPU.
    pub fn architecture(&self) -> Option<u32> {
        self.0.image.map(|image| image.capability)
    }

    /// Compiles and loads a kernel before its first launch, and returns what it needs; `None` on the CPU. While a graph is captured
    /// kernels cannot be loaded, so that this must be called before, or the kernel launched once.
    ///
    /// # Errors
    /// If there is no such kernel, or the driver rejects it.
    pub fn prepare(&self, kernel: &str) -> Result<Option<KernelFacts>> {
        match self.device().kind() {
            Kind::Cpu(_) => Ok(None),
            Kind::Gpu(_) => self.loaded(kernel).map(|loaded| Some(loaded.facts)),
        }
    }

    fn kernels(&self) -> MutexGuard<'_, HashMap<String, Arc<Slot>>> {
        self.0.kernels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_loaded(&self, kernel: &str) -> bool {
        self.kernels().get(kernel).is_some_and(|slot| slot.loaded.get().is_some())
    }

    pub(crate) fn loaded(&self, kernel: &str) -> Result<Arc<Loaded>> {
        let slot = {
            let mut kernels = self.kernels();
            match kernels.get(kernel) {
                Some(slot) => match slot.loaded.get() {
                    Some(loaded) => return Ok(loaded.clone()),
                    None => slot.clone(),
                },
                None => kernels.entry(kernel.to_string()).or_default().clone(),
            }
        };
        let _loading = slot.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = slot.loaded.get() {
            return Ok(loaded.clone());
        }
        let (Kind::Gpu(gpu), Some(image)) = (self.device().kind(), self.0.image) else {
            return Err(Error::NoSuchKernel(kernel.to_string()));
        };
        // Another stream may be one that this thread captures.
        let loaded = Arc::new(relaxed(|| load(gpu, image, kernel))?);
        Ok(slot.loaded.get_or_init(|| loaded).clone())
    }
}

impl Images {
    /// Returns the newest text that the device and its driver can run. `asked` asks for one architecture, 70 for `sm_70`.
    ///
    /// # Errors
    /// If there are no kernels, or none of that architecture, or the device or the driver is too old for them.
    pub fn newest(&'static self, properties: &Properties, asked: Option<u32>) -> Result<&'static Image> {
        choose(self, properties, asked)
    }
}

/// Reads the name of an architecture, as `sm_70`.
fn architecture_of(name: &str) -> Result<u32> {
    let number = name.strip_prefix("sm_").and_then(|number| number.parse().ok());
    number.ok_or_else(|| {
        Error::NoKernels(format!("WARPSMITH_ARCH={name} names no architecture: write it as sm_70"))
    })
}

fn choose(images: &'static Images, properties: &Properties, asked: Option<u32>) -> Result<&'static Image> {
    if let Some(why) = images.missing {
        return Err(Error::NoKernels(why.to_string()));
    }
    let (major, minor) = properties.capability;
    let capability = 10 * major + minor;
    let (mut needed, mut for_another) = (None, None);
    // For the device's own architecture, the text that is for it alone is the better one.
    let mut best: Option<(u32, bool, &'static Image)> = None;
    for image in images.texts {
        let is_asked = asked.is_none_or(|asked| asked == image.capability);
        if image.capability > capability || !is_asked {
            continue;
        }
        let (version, is_for_one) = image.head()?;
        if is_for_one && image.capability < capability {
            for_another = Some(image.capability);
            continue;
        }
        let oldest = driver_for(version);
        if oldest > properties.driver {
            needed = Some(needed.map_or(oldest, |other: (u32, u32)| other.min(oldest)));
        } else if best.is_none_or(|best| (best.0, best.1) < (image.capability, is_for_one)) {
            best = Some((image.capability, is_for_one, image));
        }
    }
    if let Some((.., best)) = best {
        return Ok(best);
    }
    if let Some(needed) = needed {
        return Err(Error::OldDriver { driver: properties.driver, needed });
    }
    if let Some(other) = for_another {
        return Err(Error::NoKernels(format!(
            "kernels of this build are for sm_{other}a alone, not for newer devices, and {} is sm_{capability}: build them for sm_{other}",
            properties.name
        )));
    }
    let lowest = images.texts.iter().map(|image| image.capability).min();
    let device = properties.name.clone();
    match (lowest, asked) {
        (Some(needed), None) => Err(Error::OldDevice { device, capability, needed }),
        (Some(_), Some(asked)) => Err(Error::NoKernels(format!(
            "sm_{asked}, which was asked for, is no architecture of the build that {device} (sm_{capability}) can run"
        ))),
        (None, _) => Err(Error::NoKernels("the build script compiled none".to_string())),
    }
}

/// Compiles one kernel of a text, or takes it from the cache, and loads it.
fn load(gpu: &Gpu, image: &Image, kernel: &str) -> Result<Loaded> {
    let text = image.only(kernel)?;
    let (is_stack_unknown, has_record) = (stack::is_unknown(&text, kernel), failure::is_written_by(&text));
    let parameters = signature::declared(&text, kernel).ok_or_else(|| {
        Error::NoKernels(format!(
            "the parameters of `{kernel}` cannot be read in the embedded PTX: build again"
        ))
    })?;
    let types = signature::types(&text).map(str::to_string);
    gpu.context.bind_to_thread().map_err(gpu::failed("loading kernels"))?;
    let (major, minor) = gpu.properties.capability;
    let lines = if has_lines(&text) { ", with lines" } else { "" };
    let key = cache::Key::new(&format!("driver {}, sm_{major}{minor}{lines}", gpu.driver), &text);
    let from_cache = cache::get(&key).and_then(|binary| load_binary(gpu, binary, kernel).ok());
    let (module, function) = match from_cache {
        Some(loaded) => loaded,
        None => {
            let binary = link(text).map_err(|(error, log)| gpu::not_loaded(kernel, error, &log))?;
            cache::put(&key, &binary);
            load_binary(gpu, binary, kernel).map_err(|error| gpu::not_loaded(kernel, error, ""))?
        }
    };
    let watch =
        has_record.then(|| gpu.spare().and_then(|spare| Failure::watch(spare, &module, kernel))).transpose();
    let watch = watch.map_err(gpu::failed("giving a kernel memory for its message"))?;
    if is_stack_unknown {
        gpu.make_stack();
    }
    let fail = gpu::failed("asking for what a kernel needs");
    let facts = KernelFacts {
        registers: function.num_regs().map_err(&fail)? as u32,
        local_bytes: function.local_size_bytes().map_err(&fail)? as u32,
        shared_bytes: function.shared_size_bytes().map_err(&fail)? as u32,
        block_threads: function.max_threads_per_block().map_err(&fail)? as u32,
    };
    Ok(Loaded {
        name: kernel.to_string(),
        capability: image.capability,
        function: Handle(ManuallyDrop::new(function)),
        facts,
        parameters,
        types,
        has_all_shared: Mutex::new(false),
        cooperative: Mutex::default(),
        _failure: watch,
    })
}

fn load_binary(
    gpu: &Gpu,
    binary: Vec<u8>,
    kernel: &str,
) -> core::result::Result<(Arc<CudaModule>, CudaFunction), DriverError> {
    let module = gpu.context.load_module(nvrtc::Ptx::from_binary(binary))?;
    let function = module.load_function(kernel)?;
    Ok((module, function))
}

/// Returns whether a text names the lines of its source.
fn has_lines(text: &str) -> bool {
    text.contains("\n\t.loc\t")
}

/// Compiles PTX with the driver's linker, which, unlike its loader, returns its messages.
fn link(text: String) -> core::result::Result<Vec<u8>, (DriverError, String)> {
    let mut log = vec![0u8; 8192];
    let mut options = [
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        sys::CUjit_option::CU_JIT_GENERATE_LINE_INFO,
    ];
    // A number is passed in place of a pointer.
    let mut values = [
        log.as_mut_ptr().cast::<c_void>(),
        core::ptr::without_provenance_mut(log.len()),
        core::ptr::without_provenance_mut(1),
    ];
    // Without the last option the driver drops the lines, and profilers show none.
    let count = if has_lines(&text) { 3 } else { 2 };
    let mut text = text.into_bytes();
    text.push(0);
    let mut state = null_mut();
    // SAFETY: options, log and text outlive the linker; the binary belongs to it and is copied before it is destroyed.
    let linked = unsafe {
        sys::cuLinkCreate_v2(count, options.as_mut_ptr(), values.as_mut_ptr(), &mut state).result().and_then(
            |()| {
                let binary = link_with(state, &mut text);
                let closed = sys::cuLinkDestroy(state).result();
                binary.and_then(|binary| closed.map(|()| binary))
            },
        )
    };
    linked.map_err(|error| {
        let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
        (error, String::from_utf8_lossy(&log[..end]).into_owned())
    })
}

/// # Safety
/// `state` is an open linker; `text` ends with a NUL.
unsafe fn link_with(state: sys::CUlinkState, text: &mut [u8]) -> core::result::Result<Vec<u8>, DriverError> {
    let (mut binary, mut size) = (null_mut(), 0usize);
    let kind = sys::CUjitInputType::CU_JIT_INPUT_PTX;
    // SAFETY: the caller's promise; `binary` and `size` describe memory of the linker.
    unsafe {
        let data = text.as_mut_ptr().cast();
        sys::cuLinkAddData_v2(state, kind, data, text.len(), c"kernels".as_ptr(), 0, null_mut(), null_mut())
            .result()?;
        sys::cuLinkComplete(state, &mut binary, &mut size).result()?;
        Ok(core::slice::from_raw_parts(binary.cast::<u8>(), size).to_vec())
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("device", self.device())
            .field("architecture", &self.architecture())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::image::Part;
    use std::boxed::Box;
    use std::io::Write as _;

    /// A text with one kernel, packed as a build script does it.
    fn image(capability: u32, version: &str) -> Image {
        image_for(&format!("sm_{capability}"), capability, version)
    }

    fn image_for(target: &str, capability: u32, version: &str) -> Image {
        let pack = |text: &str| {
            let mut packed = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
            packed.write_all(text.as_bytes()).unwrap();
            packed.finish().unwrap()
        };
        let (common, kernel) =
            (pack(&format!(".version {version}\n.target {target}\n// end\n")), pack("kernel\n"));
        let (first, all) = (common.len(), [common, kernel].concat());
        let at = format!(".version {version}\n.target {target}\n").len();
        let parts = vec![Part { name: "k", at, packed: first..all.len() }];
        Image {
            capability,
            packed: Box::leak(all.into_boxed_slice()),
            common: 0..first,
            parts: Box::leak(parts.into_boxed_slice()),
        }
    }

    fn images() -> &'static Images {
        let texts = Box::leak(vec![image(70, "7.0"), image(90, "8.0")].into_boxed_slice());
        Box::leak(Box::new(Images { texts, missing: None, compiler: None }))
    }

    fn device(capability: (u32, u32), driver: (u32, u32)) -> Properties {
        let mut properties = Device::cpu().properties();
        (properties.capability, properties.driver) = (capability, driver);
        properties.name = "a GPU".to_string();
        properties
    }

    #[test]
    fn the_newest_text_that_device_and_driver_can_run() {
        let chosen = |capability, driver, asked| {
            choose(images(), &device(capability, driver), asked).map(|image| image.capability)
        };
        assert_eq!(chosen((9, 0), (12, 0), None), Ok(90));
        assert_eq!(chosen((12, 0), (13, 0), None), Ok(90));
        assert_eq!(chosen((8, 6), (13, 0), None), Ok(70));
        assert_eq!(chosen((9, 0), (11, 8), None), Ok(70), "the driver does not read PTX 8.0");
        assert_eq!(chosen((9, 0), (12, 0), Some(70)), Ok(70));
        let old = chosen((7, 0), (10, 2), None).unwrap_err();
        assert_eq!(old, Error::OldDriver { driver: (10, 2), needed: (11, 0) });
        assert!(old.to_string().contains("update the driver"), "{old}");
        let old = chosen((6, 1), (13, 0), None).unwrap_err();
        assert!(old.to_string().contains("6.1") && old.to_string().contains("sm_61"), "{old}");
        assert!(matches!(chosen((8, 0), (13, 0), Some(90)), Err(Error::NoKernels(_))));
        assert_eq!(architecture_of("sm_70"), Ok(70));
        assert!(matches!(architecture_of("70"), Err(Error::NoKernels(_))));
        let none = Box::leak(Box::new(Images::none("no compiler: install one")));
        let none = choose(none, &device((9, 0), (13, 0)), None).unwrap_err();
        assert!(none.to_string().contains("no compiler: install one"), "{none}");
    }

    #[test]
    fn a_text_for_one_architecture_is_for_no_newer_device() {
        let chosen = |texts: Vec<Image>, capability| {
            let images = Box::leak(Box::new(Images { texts: texts.leak(), missing: None, compiler: None }));
            choose(images, &device(capability, (13, 0)), None).map(|image| image.head().unwrap().1)
        };
        let exact = || image_for("sm_90a, debug", 90, "8.0");
        assert_eq!(chosen(vec![image(90, "8.0"), exact()], (9, 0)), Ok(true));
        assert_eq!(chosen(vec![exact(), image(90, "8.0")], (9, 0)), Ok(true));
        assert_eq!(chosen(vec![exact(), image(70, "7.0")], (10, 0)), Ok(false));
        let newer = chosen(vec![exact()], (10, 0)).unwrap_err().to_string();
        assert!(newer.contains("sm_90a alone") && newer.contains("sm_100"), "{newer}");
        let older = chosen(vec![exact()], (8, 0)).unwrap_err();
        assert!(matches!(older, Error::OldDevice { needed: 90, .. }), "{older}");
    }

    #[test]
    fn a_text_is_put_together_again() {
        let image = image(90, "8.0");
        assert_eq!(image.only("k").unwrap(), ".version 8.0\n.target sm_90\nkernel\n// end\n");
        assert_eq!(image.text().unwrap(), image.only("k").unwrap());
        assert_eq!(image.head(), Ok(((8, 0), false)));
        assert_eq!(image.only("other"), Err(Error::NoSuchKernel("other".to_string())));
        let damaged = Image { packed: &image.packed[..10], ..image };
        assert!(matches!(damaged.text(), Err(Error::NoKernels(_))));
    }

    #[test]
    fn without_a_driver_there_is_the_cpu_and_an_error_with_the_remedy() {
        if gpu::count().is_ok() {
            return;
        }
        assert!(Device::best().unwrap().is_cpu());
        let error = Device::gpu(0).unwrap_err();
        assert!(error.to_string().contains("Device::cpu()"), "{error}");
    }
}

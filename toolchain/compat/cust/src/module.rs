//! Modules: compiled kernels, loaded into a context.

use std::ffi::{CStr, CString, c_void};
use std::fmt;
use std::fs;
use std::marker::PhantomData;
use std::path::Path;
use std::ptr;

use crate::context::{CurrentContext, ResourceLimit};
use crate::error::{CudaError, CudaResult, DropResult, call};
use crate::memory::{CopyDestination, DeviceCopy, DevicePointer, read, write};
use crate::sys;

/// Kernels in a context.
#[derive(Debug)]
pub struct Module {
    inner: sys::CUmodule,
}

// SAFETY: the driver's functions may be called from any thread.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

/// How much the driver optimises PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
#[repr(u32)]
pub enum OptLevel {
    O0 = 0,
    O1 = 1,
    O2 = 2,
    O3 = 3,
    O4 = 4,
}

/// The architecture for which the driver compiles PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
#[repr(u32)]
#[non_exhaustive]
pub enum JitTarget {
    Compute20 = 20,
    Compute21 = 21,
    Compute30 = 30,
    Compute32 = 32,
    Compute35 = 35,
    Compute37 = 37,
    Compute50 = 50,
    Compute52 = 52,
    Compute53 = 53,
    Compute60 = 60,
    Compute61 = 61,
    Compute62 = 62,
    Compute70 = 70,
    Compute72 = 72,
    Compute75 = 75,
    Compute80 = 80,
    Compute86 = 86,
}

/// What the driver takes if there is no machine code for the device itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum JitFallback {
    /// PTX, if there is some.
    PreferPtx = 0,
    /// Machine code of an older device that this one runs.
    PreferCompatibleBinary = 1,
}

/// How the driver compiles PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModuleJitOption {
    /// The most registers of a thread.
    MaxRegisters(u32),
    /// How much to optimise.
    OptLevel(OptLevel),
    /// For the device of the context, as without any option.
    DetermineTargetFromContext,
    /// For this architecture.
    Target(JitTarget),
    /// What to take if there is no machine code for the device itself.
    Fallback(JitFallback),
    /// With what a debugger needs. (The name is that of `cust`.)
    GenenerateDebugInfo(bool),
    /// With source lines.
    GenerateLineInfo(bool),
}

impl ModuleJitOption {
    /// Returns the options as the driver takes them.
    pub fn into_raw(opts: &[Self]) -> (Vec<sys::CUjit_option>, Vec<*mut c_void>) {
        use sys::CUjit_option as Name;
        let value = |n: u32| n as usize as *mut c_void;
        let raw = opts.iter().map(|option| match *option {
            Self::MaxRegisters(n) => (Name::CU_JIT_MAX_REGISTERS, value(n)),
            Self::OptLevel(level) => (Name::CU_JIT_OPTIMIZATION_LEVEL, value(level as u32)),
            Self::DetermineTargetFromContext => (Name::CU_JIT_TARGET_FROM_CUCONTEXT, ptr::null_mut()),
            Self::Target(target) => (Name::CU_JIT_TARGET, value(target as u32)),
            Self::Fallback(fallback) => (Name::CU_JIT_FALLBACK_STRATEGY, value(fallback as u32)),
            Self::GenenerateDebugInfo(on) => (Name::CU_JIT_GENERATE_DEBUG_INFO, value(on as u32)),
            Self::GenerateLineInfo(on) => (Name::CU_JIT_GENERATE_LINE_INFO, value(on as u32)),
        });
        raw.unzip()
    }
}

/// The stack that kernels with calls through pointers get, at least. Formatting text is made of such calls, and the driver cannot see how
/// deep they go: its default of 1 KiB is too little for a number.
const DEEP_STACK: usize = 8 << 10;

/// The first bytes of an ELF file.
const ELF: [u8; 4] = *b"\x7fELF";
/// The first bytes of a fat binary.
const FAT: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
/// The first bytes of all that the driver does not take for a text; the last one holds the address of a fat binary.
const CODE: [[u8; 4]; 3] = [ELF, FAT, 0x4662_43b1_u32.to_le_bytes()];

fn is_code(bytes: &[u8]) -> bool {
    CODE.iter().any(|magic| bytes.starts_with(magic))
}

/// Returns whether these are all bytes of an ELF file or a fat binary, by what its head says.
fn is_whole(bytes: &[u8]) -> bool {
    end(bytes).is_some_and(|end| end <= bytes.len() as u64)
}

/// Returns where machine code ends: its tables and what is loaded; `None` if it is of another kind, or even the head is cut off.
fn end(bytes: &[u8]) -> Option<u64> {
    let number = |at: u64, size: usize| -> Option<u64> {
        let at = usize::try_from(at).ok()?;
        let mut number = [0; 8];
        number[..size].copy_from_slice(bytes.get(at..at.checked_add(size)?)?);
        Some(u64::from_le_bytes(number))
    };
    if bytes.starts_with(&FAT) {
        // After magic and version: the size of the head, and of the rest.
        return number(6, 2)?.checked_add(number(8, 8)?);
    }
    // Of 64 bits, little-endian.
    if !bytes.starts_with(&ELF) || bytes.get(4..6)? != [2, 1] {
        return None;
    }
    let end_of = |table: u64, size: u64, count: u64| table.checked_add(size * count);
    let (segments, size, count) = (number(0x20, 8)?, number(0x36, 2)?, number(0x38, 2)?);
    let mut end =
        end_of(segments, size, count)?.max(end_of(number(0x28, 8)?, number(0x3a, 2)?, number(0x3c, 2)?)?);
    for i in 0..count {
        let segment = segments.checked_add(i * size)?;
        let (first, bytes) = (number(segment.checked_add(8)?, 8)?, number(segment.checked_add(32)?, 8)?);
        end = end.max(first.checked_add(bytes)?);
    }
    Some(end)
}

impl Module {
    /// Loads a file with PTX or machine code, which must be as for [`Module::from_cubin`].
    ///
    /// # Errors
    /// If the file cannot be read, or is cut off, or the driver rejects it, or there is no current context.
    pub fn from_file<P: AsRef<Path>>(path: P) -> CudaResult<Self> {
        let mut bytes = fs::read(path).map_err(|_| CudaError::FileNotFound)?;
        if is_code(&bytes) {
            return Self::from_code(&bytes, &[]);
        }
        bytes.push(0);
        let text = CStr::from_bytes_until_nul(&bytes).map_err(|_| CudaError::InvalidPtx)?;
        Self::from_ptx_cstr(text, &[])
    }

    /// Loads a fat binary: machine code and PTX for several architectures. It must be as for [`Module::from_cubin`].
    ///
    /// # Errors
    /// As [`Module::from_cubin`].
    pub fn from_fatbin<T: AsRef<[u8]>>(bytes: T, options: &[ModuleJitOption]) -> CudaResult<Self> {
        Self::from_code(bytes.as_ref(), options)
    }

    /// Loads machine code, as a compiler wrote it: the driver gets no length and believes what the file says about itself. Here only
    /// the kind of file is checked, and that it is not cut off.
    ///
    /// # Errors
    /// [`CudaError::InvalidImage`] if it is neither an ELF file nor a fat binary, or is cut off; or if the driver rejects it.
    pub fn from_cubin<T: AsRef<[u8]>>(bytes: T, options: &[ModuleJitOption]) -> CudaResult<Self> {
        Self::from_code(bytes.as_ref(), options)
    }

    fn from_code(bytes: &[u8], options: &[ModuleJitOption]) -> CudaResult<Self> {
        if !is_whole(bytes) {
            return Err(CudaError::InvalidImage);
        }
        // SAFETY: machine code that says how long it is, and is so long.
        unsafe { Self::load(bytes.as_ptr().cast(), options) }
    }

    /// Compiles PTX. If its kernels call through pointers, the stack limit of the context becomes 8 KiB, unless it is larger.
    ///
    /// # Errors
    /// If the driver rejects it, or it begins as machine code does, or there is no current context.
    pub fn from_ptx_cstr(cstr: &CStr, options: &[ModuleJitOption]) -> CudaResult<Self> {
        // A NUL does not end machine code.
        if is_code(cstr.to_bytes()) {
            return Err(CudaError::InvalidPtx);
        }
        let calls_through_pointers = cstr.to_bytes().windows(14).any(|w| w == b".callprototype");
        if calls_through_pointers
            && CurrentContext::get_resource_limit(ResourceLimit::StackSize)? < DEEP_STACK
        {
            CurrentContext::set_resource_limit(ResourceLimit::StackSize, DEEP_STACK)?;
        }
        // SAFETY: a text that ends with a NUL.
        unsafe { Self::load(cstr.as_ptr().cast(), options) }
    }

    /// As [`Module::from_ptx_cstr`], of a text that does not end with a NUL.
    ///
    /// # Errors
    /// As [`Module::from_ptx_cstr`], or if there is a NUL in the text.
    pub fn from_ptx<T: AsRef<str>>(string: T, options: &[ModuleJitOption]) -> CudaResult<Self> {
        let text = CString::new(string.as_ref()).map_err(|_| CudaError::InvalidPtx)?;
        Self::from_ptx_cstr(&text, options)
    }

    /// As [`Module::from_ptx`], without options.
    ///
    /// # Errors
    /// As [`Module::from_ptx`].
    #[allow(clippy::should_implement_trait)]
    pub fn from_str<T: AsRef<str>>(string: T) -> CudaResult<Self> {
        Self::from_ptx(string, &[])
    }

    /// As [`Module::from_ptx_cstr`], without options.
    ///
    /// # Errors
    /// As [`Module::from_ptx_cstr`].
    pub fn load_from_string(image: &CStr) -> CudaResult<Self> {
        Self::from_ptx_cstr(image, &[])
    }

    /// # Safety
    /// `image` is PTX that ends with a NUL, or machine code.
    unsafe fn load(image: *const c_void, options: &[ModuleJitOption]) -> CudaResult<Self> {
        let (mut names, mut values) = ModuleJitOption::into_raw(options);
        let mut inner = ptr::null_mut();
        // SAFETY: the caller's promise, options with their values, and a place for the result.
        call(|| unsafe {
            sys::cuModuleLoadDataEx(
                &mut inner,
                image,
                names.len() as u32,
                names.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        })?;
        Ok(Self { inner })
    }

    /// Returns a variable of the module.
    ///
    /// # Errors
    /// If the module has no variable of this name.
    ///
    /// # Panics
    /// If its size is not that of `T`.
    pub fn get_global<'a, T: DeviceCopy>(&'a self, name: &CStr) -> CudaResult<Symbol<'a, T>> {
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: a module, a name, and places for the results.
        call(|| unsafe { sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, self.inner, name.as_ptr()) })?;
        assert_eq!(bytes, size_of::<T>(), "bytes of the variable {name:?}");
        Ok(Symbol { pointer: DevicePointer::from_raw(address), module: PhantomData })
    }

    /// Returns the driver's handle.
    pub(crate) fn as_inner(&self) -> sys::CUmodule {
        self.inner
    }

    /// Unloads the module.
    ///
    /// # Errors
    /// If the driver fails.
    #[allow(clippy::should_implement_trait)]
    pub fn drop(mut module: Self) -> DropResult<Self> {
        let inner = std::mem::replace(&mut module.inner, ptr::null_mut());
        // SAFETY: a module that nobody else has.
        match call(|| unsafe { sys::cuModuleUnload(inner) }) {
            Ok(()) => Ok(()),
            Err(error) => Err((error, Self { inner })),
        }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if !self.inner.is_null() {
            // SAFETY: a module that nobody else has. Nobody could do anything about an error.
            let _ = call(|| unsafe { sys::cuModuleUnload(self.inner) });
        }
    }
}

/// A variable of a module.
#[derive(Debug)]
pub struct Symbol<'a, T: DeviceCopy> {
    pointer: DevicePointer<T>,
    module: PhantomData<&'a Module>,
}

impl<T: DeviceCopy> crate::private::Sealed for Symbol<'_, T> {}

impl<T: DeviceCopy> fmt::Pointer for Symbol<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.pointer, f)
    }
}

impl<T: DeviceCopy> CopyDestination<T> for Symbol<'_, T> {
    fn copy_from(&mut self, val: &T) -> CudaResult<()> {
        // SAFETY: a variable of this size.
        unsafe { write(self.pointer, std::slice::from_ref(val)) }
    }

    fn copy_to(&self, val: &mut T) -> CudaResult<()> {
        // SAFETY: a variable of this size.
        unsafe { read(self.pointer, std::slice::from_mut(val)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF file with a segment of 8 bytes after its head and a table of one section at its end.
    fn elf() -> Vec<u8> {
        let mut bytes = vec![0; 192];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        for (at, number) in [(0x20, 72), (0x28, 128), (0x36, 56), (0x38, 1), (0x3a, 64), (0x3c, 1)] {
            bytes[at] = number;
        }
        (bytes[72 + 8], bytes[72 + 32]) = (64, 8);
        bytes
    }

    #[test]
    fn machine_code_that_is_cut_off_is_no_image() {
        let fat = [&FAT[..], &[1, 0, 16, 0, 8, 0, 0, 0, 0, 0, 0, 0], b"8 bytes."].concat();
        for whole in [elf(), fat] {
            assert!(is_whole(&whole));
            assert!(is_whole(&[&whole[..], &[0]].concat()));
            for length in 0..whole.len() {
                let cut = Module::from_cubin(&whole[..length], &[]).map(|_| ());
                assert_eq!(cut, Err(CudaError::InvalidImage), "{length} bytes");
            }
        }
        // A table or a segment beyond the end, and sizes that overflow.
        for (at, byte) in [(0x20, 200), (0x28, 200), (0x27, 255), (0x2f, 255), (72 + 15, 255), (72 + 32, 200)]
        {
            let mut wrong = elf();
            wrong[at] = byte;
            assert!(!is_whole(&wrong), "byte {at} is {byte}");
        }
        for other in [&b""[..], b".version 7.0", &CODE[2], &[0; 64]] {
            assert_eq!(Module::from_fatbin(other, &[]).map(|_| ()), Err(CudaError::InvalidImage));
        }
    }

    #[test]
    fn machine_code_is_no_text() {
        for magic in CODE {
            let text = CString::new([&magic[..], b"more"].concat()).unwrap();
            assert_eq!(Module::from_ptx_cstr(&text, &[]).map(|_| ()), Err(CudaError::InvalidPtx));
        }
    }
}

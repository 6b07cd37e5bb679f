//! The driver's linker.

use std::ffi::c_void;
use std::ptr;

use crate::error::{CudaResult, call};
use crate::sys::{self, CUjitInputType};

/// Puts several pieces of PTX and machine code together.
#[derive(Debug)]
pub struct Linker {
    raw: sys::CUlinkState,
}

// SAFETY: the driver's functions may be called from any thread.
unsafe impl Send for Linker {}
// SAFETY: as above; only `&mut self` changes it.
unsafe impl Sync for Linker {}

impl Linker {
    /// Makes a linker for the device of the current context.
    ///
    /// # Errors
    /// If there is no current context.
    pub fn new() -> CudaResult<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: no options, and a place for the result.
        call(|| unsafe { sys::cuLinkCreate_v2(0, ptr::null_mut(), ptr::null_mut(), &mut raw) })?;
        Ok(Self { raw })
    }

    fn add(&mut self, kind: CUjitInputType, data: &[u8]) -> CudaResult<()> {
        // SAFETY: the driver reads so many bytes, and keeps none.
        call(|| unsafe {
            sys::cuLinkAddData_v2(
                self.raw,
                kind,
                data.as_ptr().cast_mut().cast(),
                data.len(),
                c"".as_ptr(),
                0,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        })
    }

    /// Adds PTX.
    ///
    /// # Errors
    /// If the driver rejects it.
    pub fn add_ptx(&mut self, ptx: impl AsRef<str>) -> CudaResult<()> {
        let text = [ptx.as_ref().as_bytes(), &[0]].concat();
        self.add(CUjitInputType::CU_JIT_INPUT_PTX, &text)
    }

    /// Adds machine code.
    ///
    /// # Errors
    /// If the driver rejects it.
    pub fn add_cubin(&mut self, cubin: impl AsRef<[u8]>) -> CudaResult<()> {
        self.add(CUjitInputType::CU_JIT_INPUT_CUBIN, cubin.as_ref())
    }

    /// Adds a fat binary.
    ///
    /// # Errors
    /// If the driver rejects it.
    pub fn add_fatbin(&mut self, fatbin: impl AsRef<[u8]>) -> CudaResult<()> {
        self.add(CUjitInputType::CU_JIT_INPUT_FATBINARY, fatbin.as_ref())
    }

    /// Returns the machine code of all.
    ///
    /// # Errors
    /// If something is missing.
    pub fn complete(self) -> CudaResult<Vec<u8>> {
        let (mut code, mut bytes): (*mut c_void, usize) = (ptr::null_mut(), 0);
        // SAFETY: places for the results.
        call(|| unsafe { sys::cuLinkComplete(self.raw, &mut code, &mut bytes) })?;
        // SAFETY: so many bytes, for as long as the linker is there.
        Ok(unsafe { std::slice::from_raw_parts(code.cast::<u8>(), bytes) }.to_vec())
    }
}

impl Drop for Linker {
    fn drop(&mut self) {
        // SAFETY: a linker that nobody else has. Nobody could do anything about an error.
        let _ = call(|| unsafe { sys::cuLinkDestroy(self.raw) });
    }
}

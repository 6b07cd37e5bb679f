//! What a kernel on a GPU said before it ended by a panic or a failed assertion.
//!
//! The driver only reports that some kernel failed. The kernel itself leaves a [`Record`] in memory of the host, one for each kernel
//! that is loaded. When a call of the driver reports a failure, the records of its context are looked at.

use core::ptr::NonNull;
use std::string::{String, ToString};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::vec::Vec;

use cudarc::driver::{CudaContext, CudaModule, CudaStream, DriverError, result, sys};

use super::Error;
use super::queue::bind_to_give_back;
use crate::record::{EMPTY, Record, VARIABLE};

/// A kernel's record, in memory that the device can write.
pub(crate) struct Failure {
    kernel: String,
    context: Arc<CudaContext>,
    record: NonNull<Record>,
}

// SAFETY: the record is written by the device alone, and read by volatile reads.
unsafe impl Send for Failure {}
// SAFETY: as above.
unsafe impl Sync for Failure {}

/// The records of the kernels that are loaded.
static ALL: Mutex<Vec<Weak<Failure>>> = Mutex::new(Vec::new());

fn all() -> MutexGuard<'static, Vec<Weak<Failure>>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether a kernel of this text can write a record: it does not only declare the variable.
pub(crate) fn is_written_by(text: &str) -> bool {
    text.matches(VARIABLE).nth(1).is_some()
}

impl Failure {
    /// Makes a record, and tells the kernel its address, by a stream of the kernel's context.
    pub fn watch(
        stream: &Arc<CudaStream>,
        module: &Arc<CudaModule>,
        kernel: &str,
    ) -> Result<Arc<Self>, DriverError> {
        let (flags, context) = (sys::CU_MEMHOSTALLOC_DEVICEMAP, stream.context().clone());
        context.bind_to_thread()?;
        let mut address = 0;
        // SAFETY: the context is bound; the memory is as large as a record, of which all zeros are a value.
        let record = unsafe {
            let memory = NonNull::new(result::malloc_host(size_of::<Record>(), flags)?.cast::<Record>());
            let record = memory.ok_or(DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY))?;
            record.write_bytes(0, 1);
            record
        };
        let failure = Failure { kernel: kernel.to_string(), context, record };
        // SAFETY: memory of the host that devices can reach.
        unsafe { sys::cuMemHostGetDevicePointer_v2(&mut address, record.as_ptr().cast(), 0) }.result()?;
        let mut variable = module.get_global(VARIABLE, stream)?;
        stream.memcpy_htod(&address.to_ne_bytes(), &mut variable)?;
        stream.synchronize()?;
        let failure = Arc::new(failure);
        let mut all = all();
        all.retain(|other| other.strong_count() > 0);
        all.push(Arc::downgrade(&failure));
        Ok(failure)
    }

    /// Returns the error, if the kernel has left one.
    fn error(&self) -> Option<Error> {
        let record = self.record.as_ptr();
        // SAFETY: the record lives as long as `self`, and any bytes of the device are integers.
        unsafe {
            if (&raw const (*record).state).read_volatile() == EMPTY {
                return None;
            }
            Some(error_of(&self.kernel, &record.read_volatile()))
        }
    }
}

impl Drop for Failure {
    fn drop(&mut self) {
        // An error shows at the next call. After a failure the driver keeps the memory until the process ends.
        if bind_to_give_back(&self.context).is_ok() {
            // SAFETY: allocated so; the kernel that has the address is unloaded.
            let _ = unsafe { result::free_host(self.record.as_ptr().cast()) };
        }
    }
}

fn error_of(kernel: &str, record: &Record) -> Error {
    let file = text_of(&record.file, record.file_bytes);
    let is_known = !file.is_empty();
    Error::Kernel {
        kernel: kernel.to_string(),
        message: text_of(&record.message, record.message_bytes),
        place: is_known.then_some((file, record.line, record.column)),
        position: Some((record.block, record.thread)),
    }
}

/// Returns the first bytes as text, without a letter that was cut.
fn text_of(bytes: &[u8], length: u32) -> String {
    let bytes = &bytes[..bytes.len().min(length as usize)];
    String::from_utf8_lossy(bytes).trim_matches('\u{fffd}').to_string()
}

/// Returns what a kernel of the thread's context said, after a call of the driver has reported that one failed.
pub(crate) fn find() -> Option<Error> {
    let current = result::ctx::get_current().ok().flatten();
    let known = all().iter().filter_map(Weak::upgrade).collect::<Vec<_>>();
    let is_here = |failure: &&Arc<Failure>| current.is_none_or(|c| c == failure.context.cu_ctx());
    known.iter().filter(is_here).find_map(|failure| failure.error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Writer;
    use core::fmt::Write as _;

    #[test]
    fn a_record_becomes_the_error_that_the_cpu_gives() {
        // SAFETY: integers, of which all zeros are values.
        let mut record: Record = unsafe { core::mem::zeroed() };
        // SAFETY: it stays here.
        let mut writer = unsafe { Writer::new(&mut record) };
        writer.place(b"src/kernels.rs", 41, 7, [1, 0, 0], [5, 0, 0]);
        write!(writer, "the len is {} but the index is {}", 3, 5).unwrap();
        let error = error_of("reduce", &record).to_string();
        assert_eq!(
            error,
            "kernel `reduce` failed: the len is 3 but the index is 5, at src/kernels.rs:41:7 (block [1, 0, 0], thread [5, 0, 0])"
        );
    }

    #[test]
    fn a_letter_that_was_cut_is_left_out() {
        // SAFETY: integers, of which all zeros are values.
        let mut record: Record = unsafe { core::mem::zeroed() };
        // SAFETY: it stays here.
        let mut writer = unsafe { Writer::new(&mut record) };
        writer.place("ü".repeat(200).as_bytes()[1..].as_ref(), 1, 1, [0; 3], [0; 3]);
        writer.add("x".as_bytes());
        writer.add("é".repeat(300).as_bytes());
        let Error::Kernel { message, place, .. } = error_of("k", &record) else { panic!() };
        assert_eq!(message, format!("x{}", "é".repeat(255)));
        assert_eq!(place.unwrap().0, "ü".repeat(128));
        record.message_bytes = u32::MAX;
        assert!(matches!(error_of("k", &record), Error::Kernel { .. }));
    }

    #[test]
    fn a_text_that_only_declares_the_variable_has_no_record() {
        let declared = ".visible .global .align 8 .u64 warpsmith_record;\n";
        assert!(!is_written_by(declared));
        assert!(is_written_by(&std::format!("{declared}ld.global.b64 %rd1, [warpsmith_record];\n")));
    }
}

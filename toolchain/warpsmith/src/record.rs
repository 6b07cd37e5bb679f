//! What a kernel that fails on a GPU leaves for the host: the message, its place and the thread.
//!
//! After a trap the driver gives no access to the device's memory any more. So the record is memory of the host, and the module of
//! each kernel has a variable for its address ([`VARIABLE`]), which the host sets when it loads the kernel. The first thread that
//! fails writes the record; others wait until it has.

#[cfg(any(target_os = "cuda", test))]
use core::fmt;

/// The name of the variable with the record's address.
#[cfg(not(target_os = "cuda"))]
pub(crate) const VARIABLE: &str = "warpsmith_record";

/// Nothing has failed.
#[cfg(not(target_os = "cuda"))]
pub(crate) const EMPTY: u32 = 0;
/// The place and the thread are there, and the message as far as it was written.
#[cfg(any(target_os = "cuda", test))]
pub(crate) const WRITTEN: u32 = 1;

/// What the device writes and the host reads. All zero before.
#[repr(C)]
pub(crate) struct Record {
    pub state: u32,
    pub line: u32,
    pub column: u32,
    pub block: [u32; 3],
    pub thread: [u32; 3],
    pub file_bytes: u32,
    pub message_bytes: u32,
    pub file: [u8; 256],
    pub message: [u8; 512],
}

/// Writes a record, byte by byte in memory that another side may read.
#[cfg(any(target_os = "cuda", test))]
pub(crate) struct Writer(*mut Record);

#[cfg(any(target_os = "cuda", test))]
impl Writer {
    /// # Safety
    /// The record stays where it is, and is written by nobody else.
    pub unsafe fn new(record: *mut Record) -> Self {
        Writer(record)
    }

    /// Writes where it happened. Of a long path only the end is kept.
    pub fn place(&mut self, file: &[u8], line: u32, column: u32, block: [u32; 3], thread: [u32; 3]) {
        let record = self.0;
        let most = 256;
        let cut = if file.len() > most { file.len() - most } else { 0 };
        // SAFETY: the promise of `new`; indices are below the arrays' lengths.
        unsafe {
            let mut i = cut;
            while i < file.len() {
                (&raw mut (*record).file).cast::<u8>().add(i - cut).write_volatile(*file.as_ptr().add(i));
                i += 1;
            }
            (&raw mut (*record).file_bytes).write_volatile((file.len() - cut) as u32);
            (&raw mut (*record).line).write_volatile(line);
            (&raw mut (*record).column).write_volatile(column);
            (&raw mut (*record).block).write_volatile(block);
            (&raw mut (*record).thread).write_volatile(thread);
            (&raw mut (*record).state).write_volatile(WRITTEN);
        }
    }

    /// Adds to the message. What does not fit is left out.
    pub fn add(&mut self, text: &[u8]) {
        let record = self.0;
        // SAFETY: the promise of `new`; indices are below the array's length.
        unsafe {
            let length = &raw mut (*record).message_bytes;
            let (mut end, mut i) = (length.read_volatile() as usize, 0);
            while i < text.len() && end < 512 {
                (&raw mut (*record).message).cast::<u8>().add(end).write_volatile(*text.as_ptr().add(i));
                (i, end) = (i + 1, end + 1);
            }
            length.write_volatile(end as u32);
        }
    }
}

#[cfg(any(target_os = "cuda", test))]
impl fmt::Write for Writer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.add(text.as_bytes());
        Ok(())
    }
}

#[cfg(target_os = "cuda")]
pub(crate) use device::*;

#[cfg(target_os = "cuda")]
mod device {
    use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

    use super::{Record, Writer};
    use crate::back;

    /// The record's address, or 0 if the host gave none.
    #[unsafe(export_name = "warpsmith_record")]
    static ADDRESS: AtomicU64 = AtomicU64::new(0);

    /// Which thread writes: nobody yet, one that does, one that has.
    static TURN: AtomicU32 = AtomicU32::new(FREE);
    const FREE: u32 = 0;
    const TAKEN: u32 = 1;
    const DONE: u32 = 2;

    /// Others wait so long for the thread that writes, in nanoseconds: it may fail once more, in the text of its message.
    const PATIENCE: u64 = 1_000_000_000;

    /// Returns whether the host gave a record.
    pub fn is_given() -> bool {
        ADDRESS.load(Relaxed) != 0
    }

    /// Writes the record if no thread did before, and else waits until it is written. The caller ends the kernel.
    #[inline(always)]
    pub fn write(file: &[u8], line: u32, column: u32, message: impl FnOnce(&mut Writer)) {
        let address = ADDRESS.load(Relaxed) as usize;
        if address == 0 {
            return;
        }
        if TURN.compare_exchange(FREE, TAKEN, Relaxed, Relaxed).is_err() {
            let start = back::nanoseconds();
            while TURN.load(Relaxed) != DONE && back::nanoseconds() - start < PATIENCE {
                back::pause(1000);
            }
            return;
        }
        // SAFETY: the host gave the address of a record, which it keeps as long as the kernel is loaded; no other thread writes.
        let mut writer = unsafe { Writer::new(core::ptr::with_exposed_provenance_mut::<Record>(address)) };
        let block = [back::ctaid_x(), back::ctaid_y(), back::ctaid_z()];
        writer.place(file, line, column, block, [back::tid_x(), back::tid_y(), back::tid_z()]);
        // A message may need more stack than there is. The place is safe then.
        back::fence_system();
        message(&mut writer);
        back::fence_system();
        TURN.store(DONE, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::fmt::Write as _;
    use std::boxed::Box;
    use std::string::String;

    fn record() -> Box<Record> {
        // SAFETY: integers, of which all zeros are values.
        unsafe { Box::new(core::mem::zeroed()) }
    }

    #[test]
    fn a_record_holds_place_and_message() {
        let mut record = record();
        assert_eq!(record.state, EMPTY);
        // SAFETY: it stays here.
        let mut writer = unsafe { Writer::new(&mut *record) };
        writer.place(b"src/kernels.rs", 41, 7, [1, 2, 3], [4, 5, 6]);
        write!(writer, "the len is {} but the index is {}", 3, 5).unwrap();
        assert_eq!((record.state, record.line, record.column), (WRITTEN, 41, 7));
        assert_eq!((record.block, record.thread), ([1, 2, 3], [4, 5, 6]));
        assert_eq!(&record.file[..record.file_bytes as usize], b"src/kernels.rs");
        let message = &record.message[..record.message_bytes as usize];
        assert_eq!(message, b"the len is 3 but the index is 5");
    }

    #[test]
    fn what_is_too_long_is_cut() {
        let mut record = record();
        // SAFETY: it stays here.
        let mut writer = unsafe { Writer::new(&mut *record) };
        let file: String = (0..300).map(|i| char::from(b'a' + (i % 26) as u8)).collect();
        writer.place(file.as_bytes(), 1, 1, [0; 3], [0; 3]);
        writer.add(&[b'x'; 500]);
        writer.add(&[b'y'; 500]);
        assert_eq!(record.file_bytes, 256);
        assert_eq!(record.file[..], file.as_bytes()[44..]);
        assert_eq!(record.message_bytes, 512);
        assert_eq!((record.message[499], record.message[500], record.message[511]), (b'x', b'y', b'y'));
    }
}

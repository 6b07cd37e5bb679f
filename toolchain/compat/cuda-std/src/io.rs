//! Text from kernels. The driver writes it when the host next waits for the device.
//!
//! Text is formatted by `core`, whose calls the driver cannot see through: `cust` gives a module that prints a larger stack. Another host
//! has to set `CU_LIMIT_STACK_SIZE` itself, to 8 KiB.

use core::fmt::{self, Write};

/// Bytes that are handed to the driver at once.
const BYTES: usize = 256;

/// Text on its way to the driver: what does not fit goes in several pieces.
#[derive(Debug)]
struct Text {
    bytes: [u8; BYTES],
    len: usize,
}

impl Text {
    const fn new() -> Self {
        Text { bytes: [0; BYTES], len: 0 }
    }

    /// Hands over what there is.
    fn flush(&mut self) {
        if self.len > 0 {
            self.bytes[self.len] = 0;
            vprintf(&self.bytes);
            self.len = 0;
        }
    }

    /// Adds a byte; returns `false` if only the NUL still has room.
    fn push(&mut self, byte: u8) -> bool {
        let has_room = self.len < BYTES - 1;
        if has_room {
            self.bytes[self.len] = byte;
            self.len += 1;
        }
        has_room
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if !self.push(byte) {
                self.flush();
                self.push(byte);
            }
        }
        Ok(())
    }
}

/// Text that is cut where it is too long: a failed assertion is one piece.
#[cfg(target_os = "cuda")]
struct Piece(Text);

#[cfg(target_os = "cuda")]
impl Write for Piece {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().all(|byte| self.0.push(byte));
        Ok(())
    }
}

#[cfg(target_os = "cuda")]
fn vprintf(text: &[u8; BYTES]) {
    unsafe extern "C" {
        #[link_name = "vprintf"]
        fn device_vprintf(format: *const u8, values: *const u8) -> i32;
    }
    #[repr(C)]
    struct Values(*const u8);
    let values = Values(text.as_ptr());
    // SAFETY: the format has one text, which ends with a NUL.
    unsafe { device_vprintf(c"%s".as_ptr().cast(), (&raw const values).cast()) };
}

/// On the host there is no driver that prints.
#[cfg(not(target_os = "cuda"))]
fn vprintf(_text: &[u8; BYTES]) {}

/// What [`print!`](crate::print!) expands to.
#[doc(hidden)]
#[inline(never)]
pub fn __print(text: fmt::Arguments<'_>) {
    let mut to = Text::new();
    // Writing there cannot fail.
    let _ = to.write_fmt(text);
    to.flush();
}

/// What a failed [`assert_eq!`](crate::assert_eq!) calls.
#[cfg(target_os = "cuda")]
#[doc(hidden)]
#[cold]
#[inline(never)]
pub fn __assertion_failed(text: fmt::Arguments<'_>, file: &'static str, line: u32) -> ! {
    unsafe extern "C" {
        fn __assertfail(text: *const u8, file: *const u8, line: u32, function: *const u8, size: usize);
    }
    let mut to = Piece(Text::new());
    let _ = to.write_fmt(text);
    to.0.bytes[to.0.len] = 0;
    // SAFETY: the texts end with a NUL; the macro put the file's there.
    unsafe { __assertfail(to.0.bytes.as_ptr(), file.as_ptr(), line, c"kernel".as_ptr().cast(), 1) };
    warpsmith::trap()
}

/// What a failed [`assert_eq!`](crate::assert_eq!) calls.
#[cfg(not(target_os = "cuda"))]
#[doc(hidden)]
#[cold]
pub fn __assertion_failed(text: fmt::Arguments<'_>, file: &'static str, line: u32) -> ! {
    panic!("assertion failed: {text} at {}:{line}", file.trim_end_matches('\0'))
}

/// Prints text from a kernel, in pieces of at most 255 bytes, between which other threads may print. On a host it prints nothing.
#[macro_export]
macro_rules! print {
    ($($argument:tt)*) => {
        $crate::io::__print(::core::format_args!($($argument)*))
    };
}

/// Prints a line of text from a kernel, as [`print!`](crate::print!) does.
#[macro_export]
macro_rules! println {
    () => {
        $crate::print!("\n")
    };
    ($($argument:tt)*) => {
        $crate::io::__print(::core::format_args!("{}\n", ::core::format_args!($($argument)*)))
    };
}

/// Ends the launch with an error unless two values are equal; the driver prints both, and of long text the first 255 bytes. On a host it
/// panics.
#[macro_export]
macro_rules! assert_eq {
    ($left:expr, $right:expr $(,)?) => {
        $crate::__assert!(==, "==", $left, $right)
    };
    ($left:expr, $right:expr, $($text:tt)+) => {
        $crate::__assert!(==, "==", $left, $right, $($text)+)
    };
}

/// Ends the launch with an error if two values are equal; the driver prints both, and of long text the first 255 bytes. On a host it
/// panics.
#[macro_export]
macro_rules! assert_ne {
    ($left:expr, $right:expr $(,)?) => {
        $crate::__assert!(!=, "!=", $left, $right)
    };
    ($left:expr, $right:expr, $($text:tt)+) => {
        $crate::__assert!(!=, "!=", $left, $right, $($text)+)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __assert {
    ($op:tt, $name:literal, $left:expr, $right:expr) => {
        $crate::__assert!($op, $name, $left, $right, "")
    };
    ($op:tt, $name:literal, $left:expr, $right:expr, $($text:tt)+) => {
        match (&$left, &$right) {
            (left, right) => {
                if !(*left $op *right) {
                    $crate::io::__assertion_failed(
                        ::core::format_args!(
                            "left {} right, left: {:?}, right: {:?} {}", $name, left, right, ::core::format_args!($($text)+)
                        ),
                        ::core::concat!(::core::file!(), "\0"),
                        ::core::line!(),
                    );
                }
            }
        }
    };
}

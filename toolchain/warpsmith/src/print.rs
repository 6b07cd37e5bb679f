//! Text from a kernel: what [`print!`](crate::print!) expands to.
//!
//! On a device the driver formats: the text is made at compile time, and a call needs 8 bytes of stack for each argument and no
//! formatting code. The output appears when the host next waits for the stream.

#![doc(hidden)]

#[cfg(target_os = "cuda")]
use core::ffi::CStr;

/// A piece of text or a place for an argument.
#[derive(Clone, Copy, Debug)]
pub enum Piece {
    /// Text as it is.
    Text(&'static str),
    /// The flags, width and precision of an argument in the manner of C, and the letter of a format that was asked for, or NUL.
    Argument(&'static str, u8),
}

/// The pieces of one `print!`.
pub trait Pieces {
    /// The pieces.
    const PIECES: &'static [Piece];
}

mod sealed {
    /// The driver reads what `KIND` says: an address of text, for `s`.
    pub trait Sealed {}
}

/// A value that kernels can print.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot print `{Self}`",
    note = "numbers up to 64 bits, `bool`, `char`, pointers and `&CStr` can be printed"
)]
pub trait Printable: Copy + sealed::Sealed {
    /// The kind of conversion: `d`, `u`, `f`, `c`, `p` or `s`.
    const KIND: u8;
    /// Returns the argument of `vprintf`.
    fn into_slot(self) -> u64;
}

macro_rules! printable {
    ($($t:ty, $kind:literal, $value:ident => $slot:expr;)*) => { $(
        impl sealed::Sealed for $t {}
        impl Printable for $t {
            const KIND: u8 = $kind;
            #[inline(always)]
            fn into_slot(self) -> u64 {
                let $value = self;
                $slot
            }
        }
    )* };
}

printable! {
    u8, b'u', v => v as u64; u16, b'u', v => v as u64; u32, b'u', v => v as u64; u64, b'u', v => v; usize, b'u', v => v as u64;
    i8, b'd', v => v as i64 as u64; i16, b'd', v => v as i64 as u64; i32, b'd', v => v as i64 as u64; i64, b'd', v => v as u64;
    isize, b'd', v => v as i64 as u64; bool, b'u', v => v as u64; char, b'c', v => v as u64;
    f32, b'f', v => (v as f64).to_bits(); f64, b'f', v => v.to_bits(); &core::ffi::CStr, b's', v => v.as_ptr() as u64;
}

impl<T> sealed::Sealed for *const T {}
impl<T> Printable for *const T {
    const KIND: u8 = b'p';
    #[inline(always)]
    fn into_slot(self) -> u64 {
        self as u64
    }
}

impl<T> sealed::Sealed for *mut T {}
impl<T> Printable for *mut T {
    const KIND: u8 = b'p';
    #[inline(always)]
    fn into_slot(self) -> u64 {
        self as u64
    }
}

/// The arguments of one `print!`, as a tuple.
pub trait Arguments: sealed::Sealed {
    /// The kinds of the arguments.
    const KINDS: &'static [u8];
    /// The arguments of `vprintf`.
    type Slots;
    /// Makes them.
    fn into_slots(self) -> Self::Slots;
}

macro_rules! arguments {
    ($($count:literal: $($t:ident)*;)*) => { $(
        impl<$($t: Printable),*> sealed::Sealed for ($($t,)*) {}
        impl<$($t: Printable),*> Arguments for ($($t,)*) {
            const KINDS: &'static [u8] = &[$($t::KIND),*];
            type Slots = [u64; $count];
            #[inline(always)]
            #[allow(non_snake_case)]
            fn into_slots(self) -> [u64; $count] {
                let ($($t,)*) = self;
                [$($t.into_slot()),*]
            }
        }
    )* };
}

arguments! {
    0:; 1: A; 2: A B; 3: A B C; 4: A B C D; 5: A B C D E; 6: A B C D E F; 7: A B C D E F G; 8: A B C D E F G H;
}

/// The longest text, with its NUL.
const LONGEST: usize = 512;

/// Puts the text for `vprintf` together.
#[allow(clippy::indexing_slicing)]
const fn format(pieces: &[Piece], kinds: &[u8]) -> [u8; LONGEST] {
    let (mut text, mut at, mut argument, mut piece) = ([0; LONGEST], 0, 0, 0);
    while piece < pieces.len() {
        match pieces[piece] {
            Piece::Text(part) => {
                let (part, mut i) = (part.as_bytes(), 0);
                while i < part.len() {
                    assert!(at + 2 < LONGEST, "the text of print! is too long");
                    text[at] = part[i];
                    at += 1;
                    if part[i] == b'%' {
                        text[at] = b'%';
                        at += 1;
                    }
                    i += 1;
                }
            }
            Piece::Argument(flags, letter) => {
                let (flags, mut i) = (flags.as_bytes(), 0);
                let mut has_precision = false;
                assert!(at + flags.len() + 5 < LONGEST, "the text of print! is too long");
                text[at] = b'%';
                at += 1;
                while i < flags.len() {
                    assert!(
                        matches!(flags[i], b'0'..=b'9' | b'.' | b'+' | b'-'),
                        "print! has widths, precisions and signs for flags"
                    );
                    has_precision |= flags[i] == b'.';
                    text[at] = flags[i];
                    at += 1;
                    i += 1;
                }
                let kind = kinds[argument];
                argument += 1;
                if kind == b'd' || kind == b'u' {
                    text[at] = b'l';
                    text[at + 1] = b'l';
                    at += 2;
                }
                text[at] = match (kind, letter) {
                    (b'f', 0) if !has_precision => b'g',
                    (kind, 0) => kind,
                    (b'd' | b'u', b'x' | b'X' | b'o') | (b'f', b'e' | b'E') => letter,
                    _ => panic!("print! cannot write an argument of this type in this format"),
                };
                at += 1;
            }
        }
        piece += 1;
    }
    text
}

struct Text<P, A>(core::marker::PhantomData<(P, A)>);

impl<P: Pieces, A: Arguments> Text<P, A> {
    const TEXT: [u8; LONGEST] = format(P::PIECES, A::KINDS);
}

/// Prints.
#[inline(always)]
pub fn __print<P: Pieces, A: Arguments>(arguments: A) {
    let text: &'static [u8; LONGEST] = &Text::<P, A>::TEXT;
    let slots = arguments.into_slots();
    vprintf(text.as_ptr(), (&raw const slots).cast());
}

#[cfg(target_os = "cuda")]
#[inline(always)]
fn vprintf(text: *const u8, arguments: *const u8) {
    unsafe extern "C" {
        #[link_name = "vprintf"]
        fn device_vprintf(text: *const u8, arguments: *const u8) -> i32;
    }
    // SAFETY: a text with its NUL, whose conversions `format` made for these arguments of 64 bits each.
    unsafe { device_vprintf(text, arguments) };
}

#[cfg(not(target_os = "cuda"))]
fn vprintf(_text: *const u8, _arguments: *const u8) {}

/// Returns a text for C, of a literal with a NUL at its end.
#[cfg(target_os = "cuda")]
pub const fn __text(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_until_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("the text has no end"),
    }
}

/// Ends the launch with an error: the host gets the text and the place. If it gave no memory for them, the driver prints them, as for
/// C's `assert`.
#[cfg(target_os = "cuda")]
#[cold]
#[inline(never)]
pub fn __assert_failed(text: &'static CStr, file: &'static CStr, line: u32, column: u32) -> ! {
    unsafe extern "C" {
        fn __assertfail(text: *const u8, file: *const u8, line: u32, function: *const u8, size: usize);
    }
    if !crate::record::is_given() {
        // SAFETY: three texts.
        unsafe {
            __assertfail(text.as_ptr().cast(), file.as_ptr().cast(), line, c"kernel".as_ptr().cast(), 1)
        };
    }
    crate::record::write(file.to_bytes(), line, column, |writer| writer.add(text.to_bytes()));
    crate::trap()
}

/// On the host the text goes through Rust's own formatting.
#[cfg(all(feature = "host", not(target_os = "cuda")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __print_host {
    ($($tokens:tt)*) => { $crate::print::__std_print!($($tokens)*) };
}

/// Without `std` there is nothing to print to.
#[cfg(not(all(feature = "host", not(target_os = "cuda"))))]
#[doc(hidden)]
#[macro_export]
macro_rules! __print_host {
    ($($tokens:tt)*) => { let _ = format_args!($($tokens)*); };
}

#[cfg(all(feature = "host", not(target_os = "cuda")))]
pub use std::print as __std_print;

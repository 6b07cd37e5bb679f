//! Types as text, by which host and device compare the parameters of a kernel before its first launch.
//!
//! A text says what a type is, not how its name is spelled where it is used: an alias has the text of what it stands for. It is made
//! when the crate is compiled, so it lies in an array of fixed length.

use core::str;

/// Room for a text. A longer one ends with a hash of all of it.
const MOST: usize = 400;
/// Bytes of `..` and a hash in hexadecimal.
const HASH: usize = 18;

/// What a type is, as text: `f32`, `[u32; 4]`, `Body { at: [f32; 3], mass: f32 }`.
#[derive(Clone, Copy)]
pub struct Shape {
    bytes: [u8; MOST],
    len: usize,
}

impl Shape {
    /// Joins pieces of text. PTX knows only ASCII, so other letters become question marks.
    pub const fn of(pieces: &[&[u8]]) -> Shape {
        let mut shape = Shape { bytes: [0; MOST], len: 0 };
        // The hash by Fowler, Noll and Vo, FNV-1a.
        let (mut hash, mut total, mut i) = (0xcbf2_9ce4_8422_2325_u64, 0, 0);
        while i < pieces.len() {
            let mut j = 0;
            while j < pieces[i].len() {
                let byte = pieces[i][j];
                hash = (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3);
                if total < MOST {
                    shape.bytes[total] = if byte.is_ascii() { byte } else { b'?' };
                }
                total += 1;
                j += 1;
            }
            i += 1;
        }
        if total > MOST {
            shape.bytes[MOST - HASH] = b'.';
            shape.bytes[MOST - HASH + 1] = b'.';
            let mut digit = 0;
            while digit < 16 {
                shape.bytes[MOST - 16 + digit] =
                    b"0123456789abcdef"[(hash >> (60 - 4 * digit) & 15) as usize];
                digit += 1;
            }
        }
        shape.len = if total < MOST { total } else { MOST };
        shape
    }

    /// Returns the text of a type of which only size and alignment are known.
    pub const fn opaque(bytes: usize, align: usize) -> Shape {
        Shape::of(&[Shape::number(bytes).bytes(), b" bytes aligned to ", Shape::number(align).bytes()])
    }

    /// Returns the text of an array.
    pub const fn array(element: &Shape, len: usize) -> Shape {
        Shape::of(&[b"[", element.bytes(), b"; ", Shape::number(len).bytes(), b"]"])
    }

    /// Returns the text of a struct: its name, and names and types of its fields.
    pub const fn structure(name: &str, fields: &[(&str, Shape)]) -> Shape {
        let mut all = Shape::of(&[name.as_bytes(), b" {"]);
        let mut i = 0;
        while i < fields.len() {
            let (name, of) = &fields[i];
            let between: &[u8] = if i == 0 { b" " } else { b", " };
            all = Shape::of(&[all.bytes(), between, name.as_bytes(), b": ", of.bytes()]);
            i += 1;
        }
        Shape::of(&[all.bytes(), b" }"])
    }

    /// Returns the text of a kernel's parameters.
    pub const fn list(types: &[Shape]) -> Shape {
        let mut all = Shape::of(&[]);
        let mut i = 0;
        while i < types.len() {
            let between: &[u8] = if i == 0 { b"" } else { b", " };
            all = Shape::of(&[all.bytes(), between, types[i].bytes()]);
            i += 1;
        }
        all
    }

    const fn number(number: usize) -> Shape {
        let mut digits = [0; 20];
        let (mut rest, mut first) = (number, 20);
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                return Shape::of(&[digits.split_at(first).1]);
            }
        }
    }

    /// Returns the bytes of the text.
    pub const fn bytes(&self) -> &[u8] {
        self.bytes.split_at(self.len).0
    }

    /// Returns the number of bytes.
    #[allow(clippy::len_without_is_empty, reason = "it is the length of an array")]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns the first `N` bytes as an array, for a static.
    pub const fn into_array<const N: usize>(self) -> [u8; N] {
        let (mut bytes, mut i) = ([0; N], 0);
        while i < N {
            bytes[i] = self.bytes[i];
            i += 1;
        }
        bytes
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        // All of it is ASCII.
        str::from_utf8(self.bytes()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atomic::Block;
    use crate::memory::Four;
    use crate::{Atomic, DeviceCopy, Param, Slots};

    #[derive(Clone, Copy, DeviceCopy)]
    #[repr(C)]
    struct Pair<T> {
        left: T,
        right: [T; 2],
    }

    #[derive(Clone, Copy, DeviceCopy)]
    #[repr(transparent)]
    struct Meters(f64);

    /// A name that is not in the text.
    type Alias<'a> = &'a [Pair<u8>];

    #[derive(Clone, Copy)]
    #[repr(C)]
    struct ByHand(u32, u64);
    // SAFETY: numbers.
    unsafe impl DeviceCopy for ByHand {}

    #[test]
    fn a_text_says_what_a_type_is() {
        assert_eq!(<f32 as Param>::SHAPE.text(), "f32");
        assert_eq!(<bool as Param>::SHAPE.text(), "bool");
        assert_eq!(<Alias<'_> as Param>::SHAPE.text(), "&[Pair { left: u8, right: [u8; 2] }]");
        assert_eq!(<&mut Slots<[Meters; 12]> as Param>::SHAPE.text(), "&mut Slots<[Meters { 0: f64 }; 12]>");
        assert_eq!(<&[Atomic<u64, Block>] as Param>::SHAPE.text(), "&[Atomic<u64>]");
        assert_eq!(<ByHand as Param>::SHAPE.text(), "16 bytes aligned to 8");
        assert_eq!(<*const f32 as Param>::SHAPE.text(), "*const");
        assert_eq!(<Four<i32> as Param>::SHAPE.text(), "Four<i32>");
        let all = const { Shape::list(&[<u8 as Param>::SHAPE, <&[u16] as Param>::SHAPE]) };
        assert_eq!((all.text(), all.len()), ("u8, &[u16]", 10));
        assert_eq!(Shape::list(&[]).text(), "");
    }

    #[test]
    fn a_long_text_ends_with_a_hash_of_all_of_it() {
        let long = |last: &str| Shape::of(&[&[b'x'; 1000], last.as_bytes()]);
        assert_eq!(long("a").len(), MOST);
        assert_eq!(long("a").text(), long("a").text());
        assert_ne!(long("a").text(), long("b").text());
        assert_eq!(long("a").text()[..MOST - HASH], "x".repeat(MOST - HASH));
        assert_eq!(Shape::of(&[&[b'y'; MOST]]).text(), "y".repeat(MOST));
        assert_eq!(Shape::of(&["ä".as_bytes()]).text(), "??");
    }
}

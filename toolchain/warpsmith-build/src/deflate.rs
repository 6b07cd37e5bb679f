//! Compression: deflate (RFC 1951) and gzip (RFC 1952).
//!
//! The builder has this of its own so that it depends on no crate. Cargo compiles a crate that both a build script and the program
//! depend on once for both in `cargo build`, with the program's debug information, but for each by itself in `cargo check`. The two
//! build scripts then differ, and so do their `OUT_DIR`s: everything would be compiled for the GPU a second time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::iter::repeat_n;

/// How far back a match may begin.
const WINDOW: usize = 1 << 15;
const SHORTEST: usize = 3;
const LONGEST: usize = 258;
/// Number of earlier places that are tried for a match.
const CHAIN: usize = 96;
/// A match of this length is good enough.
const GOOD: usize = 128;
/// Number of literals and matches in a block, which has codes of its own.
const BLOCK: usize = 1 << 15;
const END: usize = 256;
const MAX_BITS: u8 = 15;

/// The shortest length of each code for lengths, and its number of further bits; likewise for distances.
const LENGTHS: [(u16, u8); 29] = table(
    [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163,
        195, 227, 258,
    ],
    4,
);
const DISTANCES: [(u16, u8); 30] = table(
    [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049,
        3073, 4097, 6145, 8193, 12289, 16385, 24577,
    ],
    2,
);
/// The order in which the lengths of the codes for lengths are written.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// Adds the number of further bits: one more after every `step` codes, from the second such group on.
const fn table<const N: usize>(bases: [u16; N], step: usize) -> [(u16, u8); N] {
    let mut table = [(0, 0); N];
    let mut at = 0;
    while at < N {
        let bits = if bases[at] == 258 { 0 } else { (at / step).saturating_sub(1) };
        table[at] = (bases[at], bits as u8);
        at += 1;
    }
    table
}

/// A byte with distance 0, or the length and the distance of a match.
type Token = (u16, u16);

/// Returns `bytes` as one deflate stream.
pub fn deflate(bytes: &[u8]) -> Vec<u8> {
    let tokens = tokens(bytes);
    let mut bits = Bits::default();
    let blocks: Vec<&[Token]> = if tokens.is_empty() { vec![&[]] } else { tokens.chunks(BLOCK).collect() };
    for (at, block) in blocks.iter().enumerate() {
        bits.put(u32::from(at + 1 == blocks.len()), 1);
        write_block(&mut bits, block);
    }
    bits.finish()
}

/// Returns `bytes` as a gzip file.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut file = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255];
    file.extend(deflate(bytes));
    file.extend(checksum(bytes).to_le_bytes());
    file.extend((bytes.len() as u32).to_le_bytes());
    file
}

/// Returns what [`gzip`] was given.
///
/// # Errors
/// If the file is not whole.
pub fn gunzip(file: &[u8]) -> io::Result<Vec<u8>> {
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the file is damaged");
    let stream = file.strip_prefix(&[0x1f, 0x8b, 8, 0]).and_then(|rest| rest.get(6..)).ok_or_else(damaged)?;
    let (bytes, end) = inflate(stream).ok_or_else(damaged)?;
    let mut sums = checksum(&bytes).to_le_bytes().to_vec();
    sums.extend((bytes.len() as u32).to_le_bytes());
    if stream[end..] == sums { Ok(bytes) } else { Err(damaged()) }
}

/// Finds what stood before, greedily, but for a longer match that begins one byte later.
fn tokens(bytes: &[u8]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut places = Places { bytes, last: vec![usize::MAX; WINDOW], before: vec![usize::MAX; WINDOW] };
    let (mut at, mut found) = (0, places.longest(0));
    while at < bytes.len() {
        let next = places.longest(at + 1);
        if found.0 < SHORTEST || (found.0 < GOOD && next.0 > found.0) {
            tokens.push((u16::from(bytes[at]), 0));
            (at, found) = (at + 1, next);
        } else {
            tokens.push((found.0 as u16, found.1 as u16));
            (at + 2..at + found.0).for_each(|at| places.add(at));
            at += found.0;
            found = places.longest(at);
        }
    }
    tokens
}

/// Where the same three bytes stood before.
struct Places<'a> {
    bytes: &'a [u8],
    last: Vec<usize>,
    before: Vec<usize>,
}

impl Places<'_> {
    fn hash(&self, at: usize) -> Option<usize> {
        let three = self.bytes.get(at..at + SHORTEST)?;
        let number = u32::from(three[0]) | u32::from(three[1]) << 8 | u32::from(three[2]) << 16;
        Some((number.wrapping_mul(0x9e37_79b1) >> 17) as usize)
    }

    fn add(&mut self, at: usize) {
        if let Some(hash) = self.hash(at) {
            self.before[at % WINDOW] = self.last[hash];
            self.last[hash] = at;
        }
    }

    /// Returns the length and the distance of the longest match here, and adds this place.
    fn longest(&mut self, at: usize) -> (usize, usize) {
        let Some(hash) = self.hash(at) else { return (0, 0) };
        let here = &self.bytes[at..(at + LONGEST).min(self.bytes.len())];
        let (mut best, mut place) = ((0, 0), self.last[hash]);
        for _ in 0..CHAIN {
            if place == usize::MAX || at - place >= WINDOW {
                break;
            }
            let there = &self.bytes[place..];
            // Most places end here: a longer match has to have this byte too.
            if there.get(best.0) == here.get(best.0) {
                let length = here.iter().zip(there).take_while(|(a, b)| a == b).count();
                if length > best.0 {
                    best = (length, at - place);
                }
                if length >= GOOD || length == here.len() {
                    break;
                }
            }
            let before = self.before[place % WINDOW];
            // The ring holds a later place by now.
            if before != usize::MAX && before >= place {
                break;
            }
            place = before;
        }
        self.add(at);
        best
    }
}

/// Returns the code of a length or distance, the number of further bits, and these.
fn code_of(table: &[(u16, u8)], value: u16) -> (usize, u8, u16) {
    let code = table.partition_point(|(base, _)| *base <= value) - 1;
    (code, table[code].1, value - table[code].0)
}

fn write_block(bits: &mut Bits, block: &[Token]) {
    let (mut literals, mut distances) = ([0_u32; 286], [0_u32; 30]);
    literals[END] = 1;
    for &(value, distance) in block {
        if distance == 0 {
            literals[usize::from(value)] += 1;
        } else {
            literals[END + 1 + code_of(&LENGTHS, value).0] += 1;
            distances[code_of(&DISTANCES, distance).0] += 1;
        }
    }
    let (literals, distances) = (lengths(&mut literals, MAX_BITS), lengths(&mut distances, MAX_BITS));
    write_lengths(bits, &literals, &distances);
    let (literal_codes, distance_codes) = (codes(&literals), codes(&distances));
    let literal = |bits: &mut Bits, at: usize| bits.put(literal_codes[at], literals[at]);
    for &(value, distance) in block {
        if distance == 0 {
            literal(bits, usize::from(value));
        } else {
            let (code, more, rest) = code_of(&LENGTHS, value);
            literal(bits, END + 1 + code);
            bits.put(u32::from(rest), more);
            let (code, more, rest) = code_of(&DISTANCES, distance);
            bits.put(distance_codes[code], distances[code]);
            bits.put(u32::from(rest), more);
        }
    }
    literal(bits, END);
}

/// Writes the lengths of both codes, themselves in a code: 16 repeats the last one, 17 and 18 are zeros.
fn write_lengths(bits: &mut Bits, literals: &[u8], distances: &[u8]) {
    let used = |lengths: &[u8], least: usize| {
        lengths.iter().rposition(|&length| length > 0).map_or(least, |last| (last + 1).max(least))
    };
    let (literals, distances) = (&literals[..used(literals, 257)], &distances[..used(distances, 1)]);
    let all = [literals, distances].concat();
    let mut symbols: Vec<(u8, u32, u8)> = Vec::new();
    for run in all.chunk_by(|a, b| a == b) {
        let (length, mut left) = (run[0], run.len());
        if length > 0 {
            symbols.push((length, 0, 0));
            left -= 1;
        }
        while left >= 3 {
            let (symbol, take, more) = match (length, left) {
                (0, 11..) => (18, left.min(138), 7),
                (0, _) => (17, left, 3),
                _ => (16, left.min(6), 2),
            };
            symbols.push((symbol, (take - if symbol == 18 { 11 } else { 3 }) as u32, more));
            left -= take;
        }
        symbols.extend(repeat_n((length, 0, 0), left));
    }
    let mut counts = [0_u32; 19];
    symbols.iter().for_each(|symbol| counts[usize::from(symbol.0)] += 1);
    let of_lengths = lengths(&mut counts, 7);
    let written = ORDER.iter().rposition(|&at| of_lengths[at] > 0).map_or(4, |last| (last + 1).max(4));
    bits.put(2, 2);
    bits.put((literals.len() - 257) as u32, 5);
    bits.put((distances.len() - 1) as u32, 5);
    bits.put((written - 4) as u32, 4);
    ORDER[..written].iter().for_each(|&at| bits.put(u32::from(of_lengths[at]), 3));
    let codes = codes(&of_lengths);
    for (symbol, rest, more) in symbols {
        bits.put(codes[usize::from(symbol)], of_lengths[usize::from(symbol)]);
        bits.put(rest, more);
    }
}

/// Returns the lengths of a code for symbols that are so frequent (Huffman's). There are at least two, as readers want it.
fn lengths(counts: &mut [u32], longest: u8) -> Vec<u8> {
    for at in 0..2 {
        if counts.iter().filter(|count| **count > 0).count() < 2 {
            counts[at] = counts[at].max(1);
        }
    }
    loop {
        let mut heap: BinaryHeap<_> = counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(at, count)| Reverse((*count, at)))
            .collect();
        let mut parents = vec![0; counts.len()];
        while let (Some(Reverse((a, left))), Some(Reverse((b, right)))) = (heap.pop(), heap.pop()) {
            let parent = parents.len();
            (parents[left], parents[right]) = (parent, parent);
            parents.push(0);
            heap.push(Reverse((a + b, parent)));
        }
        // A parent comes after its children; the last one is the root.
        let mut depths = vec![0_u8; parents.len()];
        for at in (0..parents.len() - 1).rev().filter(|at| parents[*at] > 0) {
            depths[at] = depths[parents[at]].saturating_add(1);
        }
        depths.truncate(counts.len());
        if depths.iter().all(|depth| *depth <= longest) {
            return depths;
        }
        counts.iter_mut().filter(|count| **count > 0).for_each(|count| *count = *count / 2 + 1);
    }
}

/// Returns the codes that have these lengths, with their first bit lowest.
fn codes(lengths: &[u8]) -> Vec<u32> {
    let mut next = [0_u32; 17];
    for length in 1..16 {
        let count = lengths.iter().filter(|of| usize::from(**of) == length).count() as u32;
        next[length + 1] = (next[length] + count) << 1;
    }
    let code = |&length: &u8| {
        let code = next[usize::from(length)];
        next[usize::from(length)] += 1;
        code.reverse_bits().checked_shr(32 - u32::from(length)).unwrap_or(0)
    };
    lengths.iter().map(code).collect()
}

/// Bits, the lowest of each byte first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    last: u64,
    count: u8,
}

impl Bits {
    fn put(&mut self, value: u32, count: u8) {
        self.last |= u64::from(value) << self.count;
        self.count += count;
        while self.count >= 8 {
            self.bytes.push(self.last as u8);
            self.last >>= 8;
            self.count -= 8;
        }
    }

    fn finish(mut self) -> Vec<u8> {
        self.put(0, 7);
        self.bytes
    }
}

/// Reads a stream, and returns where it ends; `None` if it is damaged.
fn inflate(stream: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut reader = Reader { stream, at: 0 };
    let mut bytes = Vec::new();
    loop {
        let last = reader.bits(1)? == 1;
        // The only kind that is written here.
        if reader.bits(2)? != 2 {
            return None;
        }
        let (literals, distances) = (reader.bits(5)? + 257, reader.bits(5)? + 1);
        let mut of_lengths = [0; 19];
        for &at in &ORDER[..reader.bits(4)? + 4] {
            of_lengths[at] = reader.bits(3)? as u8;
        }
        let of_lengths = Code::new(&of_lengths);
        let mut lengths: Vec<u8> = Vec::new();
        while lengths.len() < literals + distances {
            match reader.symbol(&of_lengths)? {
                16 => lengths.extend(repeat_n(*lengths.last()?, 3 + reader.bits(2)?)),
                17 => lengths.extend(repeat_n(0, 3 + reader.bits(3)?)),
                18 => lengths.extend(repeat_n(0, 11 + reader.bits(7)?)),
                length => lengths.push(length as u8),
            }
        }
        let (literals, distances) = (Code::new(&lengths[..literals]), Code::new(&lengths[literals..]));
        loop {
            let symbol = reader.symbol(&literals)?;
            if symbol < END {
                bytes.push(symbol as u8);
                continue;
            }
            if symbol == END {
                break;
            }
            let length = reader.value(*LENGTHS.get(symbol - END - 1)?)?;
            let code = reader.symbol(&distances)?;
            let distance = reader.value(*DISTANCES.get(code)?)?;
            let from = bytes.len().checked_sub(distance)?;
            (from..from + length).for_each(|at| bytes.push(bytes[at]));
        }
        if last {
            return Some((bytes, reader.at.div_ceil(8)));
        }
    }
}

/// The symbols of a code in the order of their codes, and how many codes have each length.
struct Code {
    symbols: Vec<usize>,
    counts: [usize; 16],
}

impl Code {
    fn new(lengths: &[u8]) -> Code {
        let mut counts = [0; 16];
        lengths.iter().filter(|length| **length > 0).for_each(|length| counts[usize::from(*length)] += 1);
        let mut symbols: Vec<usize> = (0..lengths.len()).filter(|at| lengths[*at] > 0).collect();
        symbols.sort_by_key(|at| lengths[*at]);
        Code { symbols, counts }
    }
}

struct Reader<'a> {
    stream: &'a [u8],
    /// A number of bits.
    at: usize,
}

impl Reader<'_> {
    fn bits(&mut self, count: u8) -> Option<usize> {
        let mut value = 0;
        for bit in 0..count {
            value |= usize::from(self.stream.get(self.at / 8)? >> (self.at % 8) & 1) << bit;
            self.at += 1;
        }
        Some(value)
    }

    fn value(&mut self, (base, more): (u16, u8)) -> Option<usize> {
        Some(usize::from(base) + self.bits(more)?)
    }

    fn symbol(&mut self, of: &Code) -> Option<usize> {
        // The code so far, the first code of this length, and the number of shorter codes.
        let (mut code, mut first, mut before) = (0, 0, 0);
        for &count in &of.counts[1..] {
            code |= self.bits(1)?;
            if code < first + count {
                return of.symbols.get(before + code - first).copied();
            }
            before += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}

/// Returns the CRC-32 of gzip.
fn checksum(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut at = 0;
        while at < 256 {
            let (mut value, mut bit) = (at as u32, 0);
            while bit < 8 {
                value = if value & 1 == 1 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 };
                bit += 1;
            }
            table[at] = value;
            at += 1;
        }
        table
    };
    !bytes.iter().fold(!0, |sum, byte| sum >> 8 ^ TABLE[usize::from(sum as u8 ^ byte)])
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::{DeflateDecoder, GzDecoder};

    use super::*;

    fn texts() -> Vec<Vec<u8>> {
        let random = |count: usize, of: u32| {
            let mut state = 1_u32;
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 16) % of
            };
            (0..count).map(|_| next() as u8).collect::<Vec<_>>()
        };
        let lines = |n: u32| {
            (0..n).map(|i| format!("\tadd.s32 \t%r{i}, %r{}, %r{};\n", i / 7, i * i % 31)).collect::<String>()
        };
        // Frequencies like those of Fibonacci make the longest codes.
        let mut skewed = Vec::new();
        let (mut a, mut b) = (1, 1);
        for byte in 0..24 {
            skewed.extend(repeat_n([byte, byte ^ 0x55], a).flatten());
            (a, b) = (b, a + b);
        }
        let mut shuffled = random(skewed.len(), 251);
        shuffled
            .iter_mut()
            .enumerate()
            .for_each(|(at, byte)| *byte = skewed[(at * 7919 + usize::from(*byte)) % skewed.len()]);
        let mut far = random(WINDOW, 256);
        far.extend_from_within(..500);
        far.extend_from_within(1..600);
        vec![
            vec![],
            b"a".to_vec(),
            b"ab".to_vec(),
            vec![7; 3],
            vec![7; 100_000],
            lines(3).into(),
            lines(60_000).into(),
            random(70_000, 256),
            random(200_000, 3),
            skewed,
            shuffled,
            far,
            (0..=255).collect(),
        ]
    }

    #[test]
    fn others_read_what_is_written_here() {
        for (at, text) in texts().iter().enumerate() {
            let mut read = Vec::new();
            DeflateDecoder::new(deflate(text).as_slice()).read_to_end(&mut read).unwrap();
            assert!(read == *text, "text {at}");
            read.clear();
            GzDecoder::new(gzip(text).as_slice()).read_to_end(&mut read).unwrap();
            assert!(read == *text && gunzip(&gzip(text)).unwrap() == *text, "text {at}");
        }
    }

    #[test]
    fn it_is_as_short_as_elsewhere() {
        use std::io::Write;
        let text = &texts()[6];
        let mut other = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        other.write_all(text).unwrap();
        let (ours, others) = (deflate(text).len(), other.finish().unwrap().len());
        assert!(ours <= others + others / 20, "{ours} bytes, not {others}");
    }

    #[test]
    fn a_damaged_file_is_refused() {
        let text = b"kernels, kernels, and once more kernels";
        let file = gzip(text);
        for at in 10..file.len() {
            assert!(gunzip(&file[..at]).is_err());
            let mut other = file.clone();
            other[at] ^= 4;
            // A length of a code that is not used may be anything.
            assert!(gunzip(&other).map_or(true, |read| read == text), "byte {at}");
        }
        assert!(gunzip(b"").is_err() && gunzip(b"PK").is_err());
    }
}

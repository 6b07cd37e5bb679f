//! How often each of 256 values occurs.
//!
//! - `words`: any number of words, each of four bytes to be counted; `counts`: 256 elements, to which is added
//! - grid: any number of blocks of any size; each thread takes four words at a time, a grid apart
//! - shared memory: 1 KiB, the counts of the block
//! - deterministic: integers are added, in whatever order
//! - bound by atomics in shared memory: four for each word

use super::*;

#[kernel]
pub fn histogram(words: &[u32], counts: &[AtomicU32]) {
    let mut own = shared!([AtomicU32; 256]);
    own.fill(0);
    let count = |word: u32| {
        for byte in word.to_le_bytes() {
            own[byte as usize].fetch_add(1, Ordering::Relaxed);
        }
    };
    let (groups, rest) = fours(words);
    for i in thread::strided(groups.len()) {
        groups.get(i.get()).into_iter().flatten().for_each(count);
    }
    for i in thread::strided(rest.len()) {
        count(rest[i.get()]);
    }
    sync_threads();
    let mut value = thread::in_block() as usize;
    while let (Some(own), Some(count)) = (own.get(value), counts.get(value)) {
        count.fetch_add(own.load(Ordering::Relaxed), Ordering::Relaxed);
        value += block::threads() as usize;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers;
    use warpsmith::Result;

    #[warpsmith::test]
    fn is_the_cpus(device: &Device) -> Result {
        let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
        for n in [0, 1, 5, 1030] {
            let words = numbers(n);
            let (x, mut counts) = (stream.upload(&words)?, stream.zeroed(256)?);
            kernels.histogram(&stream, (3, 128), (&x, &mut counts))?;
            let mut expected = [0; 256];
            words.iter().flat_map(|word| word.to_le_bytes()).for_each(|byte| expected[byte as usize] += 1);
            assert_eq!(stream.download(&counts)?, expected);
        }
        Ok(())
    }
}

//! The sum of an array.
//!
//! - `x`: `f32`, any number of elements; `sums`: one element per block
//! - grid: any number of blocks, of [`BLOCK`] threads; each thread adds four elements at a time, a grid apart
//! - shared memory: 1 KiB
//! - deterministic for a given grid: no atomics. A second launch with one block adds the sums of the blocks.
//! - bound by memory: 4 bytes an element

use super::*;

#[kernel]
pub fn block_sums(x: &[f32], sums: &mut Slots<f32, PerBlock>) {
    let mut own = 0.0;
    let (groups, rest) = fours(x);
    for i in thread::strided(groups.len()) {
        if let Some([a, b, c, d]) = groups.get(i.get()) {
            own += (a + b) + (c + d);
        }
    }
    for i in thread::strided(rest.len()) {
        own += rest[i.get()];
    }
    let of_warps = warp::sum(warp::ALL, own);
    let mut all = shared!([f32; 256]);
    let all = all.exchange(of_warps);
    let of_warp = all.try_get(warp::lane() * warp::LANES).unwrap_or(0.0);
    let sum = warp::sum(warp::ALL, of_warp);
    if let Some(leader) = block::leader() {
        sums.set(leader, sum);
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
        for n in [0, 1, 3, 4, 1023, 5000] {
            // Small integers: their sum is exact in any order.
            let xs: Vec<f32> = numbers(n).iter().map(|x| (x % 64) as f32).collect();
            let (x, mut sums, mut sum) = (stream.upload(&xs)?, stream.zeroed(3)?, stream.zeroed(1)?);
            kernels.block_sums(&stream, (3, BLOCK), (&x, &mut sums))?;
            kernels.block_sums(&stream, (1, BLOCK), (&sums, &mut sum))?;
            assert_eq!(stream.download(&sum)?, [xs.iter().sum::<f32>()]);
        }
        Ok(())
    }
}

//! The transpose of a matrix, by tiles in shared memory: memory is read by rows and written by rows.
//!
//! - `x`: `f32`, `height` rows of `width` elements; `y`: `width` rows of `height` elements
//! - grid: a block of 32 by 8 threads for each tile of 32 by 32 elements ([`grid`]); each thread has four elements. In another
//!   grid, or if an array has fewer elements, nothing is written.
//! - shared memory: 4224 bytes. A row has one element more than it needs, so that a column lies in 32 different banks.
//! - deterministic
//! - bound by memory: 8 bytes an element. The size is checked once; a check at each access would make it half as slow again.

use super::*;

/// Elements on a side of a tile.
pub const SIDE: u32 = 32;
/// Rows of a block.
pub const ROWS: u32 = 8;
/// Elements of a thread.
const EACH: u32 = SIDE / ROWS;

#[kernel]
pub fn transpose(x: &[f32], width: u32, height: u32, y: &mut Slots<f32>) {
    let shape = [block::dim_x(), block::dim_y(), block::dim_z(), grid::dim_z()];
    let size = width as u64 * height as u64;
    let fits = (size <= x.len() as u64) & (size <= y.len() as u64) & (size <= u32::MAX as u64);
    // One branch, so that the kernel waits once for all that it compares.
    if !fits | (shape[0] ^ SIDE | shape[1] ^ ROWS | shape[2] ^ 1 | shape[3] ^ 1 != 0) {
        return;
    }
    let tile = shared!([[f32; 33]; 32]).as_ptr();
    let (left, top) = (block::x() * SIDE, block::y() * SIDE);
    // The compiler knows from these that an index into the tile is below its size.
    let (tx, ty) = (Below::<SIDE>::wrap(thread::x()).get(), Below::<ROWS>::wrap(thread::y()).get());
    let (column, row) = (left + tx, top + ty);
    // All loads start before the first value is needed.
    let mut own = [0.0; EACH as usize];
    Below::<EACH>::all().for_each(|k| {
        let row = row + k.get() * ROWS;
        if (column < width) & (row < height) {
            // SAFETY: within the matrix, whose size was checked.
            own[k.index()] = unsafe { *x.get_unchecked((row * width + column) as usize) };
        }
    });
    Below::<EACH>::all().for_each(|k| {
        // SAFETY: each thread writes its own elements of the tile.
        unsafe { (*tile)[(ty + k.get() * ROWS) as usize][tx as usize] = own[k.index()] };
    });
    sync_threads();
    let (column, row) = (top + tx, left + ty);
    Below::<EACH>::all().for_each(|k| {
        let row = row + k.get() * ROWS;
        if (column < height) & (row < width) {
            // SAFETY: within the matrix. The tile was written before the barrier; each element of `y` is one thread's.
            unsafe {
                y.write(
                    (row * height + column) as usize,
                    (*tile)[tx as usize][(ty + k.get() * ROWS) as usize],
                );
            }
        }
    });
}

/// Returns the grid for a matrix.
#[cfg(not(target_os = "cuda"))]
pub fn grid(width: u32, height: u32) -> Grid {
    Grid::new((width.div_ceil(SIDE), height.div_ceil(SIDE)), (SIDE, ROWS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsmith::Result;

    #[warpsmith::test]
    fn is_the_cpus(device: &Device) -> Result {
        let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
        for (width, height) in [(1, 1), (32, 64), (70, 33)] {
            let xs: Vec<f32> = (0..width * height).map(|i| i as f32).collect();
            let (x, mut y) = (stream.upload(&xs)?, stream.zeroed(xs.len())?);
            kernels.transpose(&stream, grid(width, height), (&x, width, height, &mut y))?;
            let expected: Vec<f32> =
                (0..width).flat_map(|c| (0..height).map(move |r| (r * width + c) as f32)).collect();
            assert_eq!(stream.download(&y)?, expected);
        }
        Ok(())
    }

    #[warpsmith::test]
    fn a_size_that_is_too_large_writes_nothing(device: &Device) -> Result {
        let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
        let (x, mut y) = (stream.filled(64, 1.0f32)?, stream.zeroed(64)?);
        kernels.transpose(&stream, grid(9, 9), (&x, 9, 9, &mut y))?;
        assert_eq!(stream.download(&y)?, [0.0; 64]);
        Ok(())
    }
}

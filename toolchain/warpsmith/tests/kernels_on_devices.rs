//! Kernels as they are in real programs, on every device.

mod kernels;

use kernels::{BLOCK, Body, Kernels};
use warpsmith::{Device, Error, Grid, Result};

/// Numbers that look random.
fn numbers(n: usize) -> impl Iterator<Item = u32> {
    let mut state = 1u32;
    (0..n).map(move |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    })
}

#[warpsmith::test]
fn saxpy(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    for n in [0, 1, 255, 256, 1000] {
        let xs: Vec<f32> = numbers(n).map(|v| (v % 64) as f32).collect();
        let (x, mut y) = (stream.upload(&xs)?, stream.filled(n, 0.5f32)?);
        kernels.saxpy(&stream, Grid::covering(n), (2.0, &x, &mut y))?;
        let expected: Vec<f32> = xs.iter().map(|x| 0.5 + 2.0 * x).collect();
        assert_eq!(stream.download(&y)?, expected);
    }
    Ok(())
}

#[warpsmith::test]
fn floats_of_16_bits_are_the_same_bits_everywhere(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let n = 1 << 16;
    // Every number of 16 bits, beside others of a similar size.
    let xs: Vec<u32> = (0..n as u32).map(|i| (i << 16) | i.rotate_right(3) & 0xffff).collect();
    let ys: Vec<u32> = numbers(n).zip(&xs).map(|(v, x)| x ^ (v & 0x83ff) ^ (v << 9 & 0x83ff_0000)).collect();
    let (a, b, mut results) = (stream.upload(&xs)?, stream.upload(&ys)?, stream.zeroed(n)?);
    kernels.half_arithmetic(&stream, Grid::covering(n), (&a, &b, &mut results))?;
    for ((x, y), result) in xs.iter().zip(&ys).zip(stream.download(&results)?) {
        assert_eq!(result, kernels::halves(*x, *y), "{x:#x}, {y:#x}");
    }
    Ok(())
}

#[warpsmith::test]
fn a_kernel_by_its_name(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    if device.is_cpu() {
        let error = kernels.module().function("saxpy").unwrap_err();
        assert!(error.to_string().contains("module!"), "{error}");
        return Ok(());
    }
    let function = kernels.module().function("saxpy")?;
    assert_eq!(function.name(), "saxpy");
    assert!(function.facts().block_threads >= 256 && function.blocks_per_multiprocessor(256, 0)? > 0);
    assert_eq!(function.blocks_per_multiprocessor(4096, 0)?, 0, "no block has as many threads");
    assert_eq!(function.facts().shared_bytes, 0, "arrays of other kernels and of teams");
    let n = 1000;
    let (x, y) = (stream.filled(n, 3.0f32)?, stream.filled(n, 0.5f32)?);
    // A slice is two parameters in PTX.
    let (mut a, mut x_at, mut y_at, mut len) = (2.0f32, x.address(), y.address(), n as u64);
    let mut parameters = [
        (&raw mut a).cast(),
        (&raw mut x_at).cast(),
        (&raw mut len).cast(),
        (&raw mut y_at).cast(),
        (&raw mut len).cast(),
    ];
    // SAFETY: the kernel's parameters; both buffers have `n` elements, and this stream alone uses them.
    unsafe { function.launch(&stream, Grid::covering(n), &mut parameters)? };
    assert_eq!(stream.download(&y)?, vec![6.5; n]);
    // SAFETY: it is not launched with too few parameters, nor with a grid without blocks.
    let [few, none] = unsafe {
        [
            function.launch(&stream, Grid::covering(n), &mut parameters[..4]),
            function.launch(&stream, Grid::new(0, 256), &mut parameters),
        ]
    };
    assert!(matches!(few, Err(Error::OtherSource { .. })), "{few:?}");
    assert!(matches!(none, Err(Error::Grid { .. })), "{none:?}");
    Ok(())
}

#[warpsmith::test]
fn an_event_is_asked_and_moved(device: &Device) -> Result {
    let (stream, other) = (device.stream()?, device.stream()?);
    let mut moment = stream.mark()?;
    let x = stream.filled(1000, 7u32)?;
    stream.mark_again(&mut moment)?;
    other.wait(&moment)?;
    let mut y = other.zeroed(1000)?;
    // SAFETY: the other stream waits for the moment when `x` is there, and nobody writes it after that.
    unsafe { other.copy_unordered(&x, &mut y)? };
    assert_eq!(other.download(&y)?, vec![7; 1000]);
    moment.synchronize()?;
    assert!(moment.has_come()?);
    assert!(device.reaches(device)?);
    assert_eq!(device.free_bytes()?.is_none(), device.is_cpu());
    Ok(())
}

#[warpsmith::test]
fn reduce(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let xs: Vec<f32> = numbers(5000).map(|v| (v % 64) as f32).collect();
    let (x, mut sum) = (stream.upload(&xs)?, stream.zeroed(1)?);
    kernels.reduce(&stream, (4, BLOCK as u32), (&x, &mut sum))?;
    // Small integers: their sum is exact in any order.
    assert_eq!(stream.download(&sum)?, [xs.iter().sum::<f32>()]);
    Ok(())
}

#[warpsmith::test]
fn scan(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let xs: Vec<u32> = numbers(700).map(|v| v % 100).collect();
    let (x, mut y) = (stream.upload(&xs)?, stream.zeroed(xs.len())?);
    kernels.scan(&stream, Grid::covering_by(xs.len(), 256), (&x, &mut y))?;
    let sums = |piece: &[u32]| {
        piece
            .iter()
            .scan(0, |sum, x| {
                Some({
                    *sum += x;
                    *sum
                })
            })
            .collect::<Vec<_>>()
    };
    let expected: Vec<u32> = xs.chunks(256).flat_map(sums).collect();
    assert_eq!(stream.download(&y)?, expected);
    Ok(())
}

#[warpsmith::test]
fn transpose(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let (width, height) = (70, 33);
    let xs: Vec<f32> = (0..width * height).map(|i| i as f32).collect();
    let (x, mut y) = (stream.upload(&xs)?, stream.zeroed(xs.len())?);
    let grid = Grid::covering_2d(width, height, (kernels::SIDE, kernels::SIDE));
    kernels.transpose(&stream, grid, (&x, width, height, &mut y))?;
    let ys = stream.download(&y)?;
    for (row, column) in (0..height).flat_map(|r| (0..width).map(move |c| (r, c))) {
        assert_eq!(ys[(column * height + row) as usize], xs[(row * width + column) as usize]);
    }
    Ok(())
}

#[warpsmith::test]
fn histogram(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let xs: Vec<u8> = numbers(3000).map(|v| (v % 251) as u8).collect();
    let (x, mut counts) = (stream.upload(&xs)?, stream.zeroed(256)?);
    kernels.histogram(&stream, (3, 128), (&x, &mut counts))?;
    let mut expected = [0; 256];
    xs.iter().for_each(|&x| expected[x as usize] += 1);
    assert_eq!(stream.download(&counts)?, expected);
    Ok(())
}

#[warpsmith::test]
fn a_lock_protects(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let (mut lock, mut sum) = (stream.zeroed(1)?, stream.zeroed(1)?);
    kernels.locked_sum(&stream, (8, 64), (&mut lock, &mut sum))?;
    assert_eq!(stream.download(&sum)?, [512]);
    Ok(())
}

#[warpsmith::test]
fn operations_of_a_warp(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let mut y = stream.zeroed(14 * 32)?;
    kernels.warp_operations(&stream, (1, 32), (&mut y,))?;
    let ys = stream.download(&y)?;
    for lane in 0..32u64 {
        let thirds = (0..32).filter(|i| i % 3 == 0).map(|i| 1 << i).sum::<u64>();
        let fifths = (0..32).filter(|i| i / 5 == lane / 5).map(|i| 1 << i).sum::<u64>();
        let expected = [
            7 | 1 << 40,
            if lane < 3 { lane } else { lane - 3 },
            if lane > 28 { lane } else { lane + 3 },
            lane ^ 5,
            if lane % 8 < 3 { lane } else { lane - 3 },
            lane / 4 * 4 + 2,
            thirds,
            1,
            0,
            fifths,
            1,
            31 * 16,
            -10i32 as u64,
            31,
        ];
        for (k, expected) in expected.into_iter().enumerate() {
            assert_eq!(ys[k * 32 + lane as usize], expected, "operation {k}, lane {lane}");
        }
    }
    Ok(())
}

#[warpsmith::test]
fn a_part_of_a_warp(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let mut y = stream.zeroed(32)?;
    kernels.partial_warp(&stream, (1, 32), (&mut y,))?;
    let expected: Vec<u32> = (0..32).map(|lane| lane % 2 * 256).collect();
    assert_eq!(stream.download(&y)?, expected);
    Ok(())
}

#[warpsmith::test]
fn instances(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let (mut y, mut z) = (stream.upload(&[1.0f32, 2.0])?, stream.upload(&[1.0f64, 2.0])?);
    kernels.scale::<f32>(&stream, (1, 2), (3.0, &mut y))?;
    kernels.scale::<f64>(&stream, (1, 2), (0.5, &mut z))?;
    assert_eq!((stream.download(&y)?, stream.download(&z)?), (vec![3.0, 6.0], vec![0.5, 1.0]));
    let (mut y, mut z) = (stream.upload(&[1u32, 2])?, stream.upload(&[1u64, 2])?);
    kernels.add::<u32, 3>(&stream, (1, 2), (&mut y,))?;
    kernels.add::<u64, 16>(&stream, (1, 2), (&mut z,))?;
    assert_eq!((stream.download(&y)?, stream.download(&z)?), (vec![4, 5], vec![17, 18]));
    Ok(())
}

/// A kernel with the name of another, as where a feature changes the types of one.
mod other {
    use warpsmith::prelude::*;

    warpsmith::module!(cpu);

    pub fn of(module: &warpsmith::Module) -> Kernels {
        Kernels(module.clone())
    }

    #[kernel]
    pub fn saxpy(_a: f64, x: &[f32], y: &mut Slots<f32>) {
        let i = thread::index();
        y.set(i, x[i.get()]);
    }

    /// As large as those of the other, and not the same.
    #[kernel]
    pub fn reduce(x: &[u32], sums: &[AtomicF32]) {
        sums[0].store(x[0] as f32, Ordering::Relaxed);
    }
}

#[warpsmith::test]
fn a_kernel_with_other_parameters_is_not_launched(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let (x, mut y) = (stream.filled(4, 1.0f32)?, stream.zeroed(4)?);
    let launched = other::of(kernels.module()).saxpy(&stream, (1, 4), (1.0, &x, &mut y));
    if device.is_cpu() {
        return launched;
    }
    let error = launched.unwrap_err().to_string();
    for part in ["`saxpy`", "(f32, &[f32], &mut Slots<f32>)", "(f64, &[f32], &mut Slots<f32>)"] {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(stream.download(&y)?, [0.0; 4]);
    Ok(())
}

#[warpsmith::test]
fn a_kernel_with_other_types_of_the_same_size_is_not_launched(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let (x, mut sum) = (stream.filled(4, 1u32)?, stream.zeroed(1)?);
    let launched = other::of(kernels.module()).reduce(&stream, (1, 32), (&x, &mut sum));
    if device.is_cpu() {
        return launched;
    }
    let error = launched.unwrap_err().to_string();
    for part in ["`reduce`", "(&[f32], &[Atomic<f32>])", "(&[u32], &[Atomic<f32>])"] {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(stream.download(&sum)?, [0.0]);
    Ok(())
}

#[warpsmith::test]
fn a_kernel_without_parameters(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    kernels.nothing(&stream, (1, 32), ())?;
    stream.synchronize()
}

#[warpsmith::test]
fn lifetimes_with_names(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let body = Body { at: [0.0; 3], mass: 2.0 };
    let (x, bodies, mut y) = (stream.upload(&[1.0])?, stream.upload(&[body])?, stream.zeroed(1)?);
    kernels.first_of_two(&stream, (1, 1), (&x, &bodies, &mut y))?;
    assert_eq!(stream.download(&y)?, [3.0]);
    let (x, mut y) = (stream.upload(&[1, 2])?, stream.zeroed(2)?);
    kernels.applied::<kernels::Increment>(&stream, (1, 2), (&x, &mut y))?;
    assert_eq!(stream.download(&y)?, [2, 3]);
    Ok(())
}

#[warpsmith::test]
fn names_that_the_macro_uses(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let mut y = stream.zeroed(1)?;
    kernels.kernel(&stream, (1, 1), (&mut y,))?;
    kernels.launch(&stream, (1, 1), (&mut y,))?;
    kernels.grid(&stream, (1, 1), (&mut y,))?;
    kernels.stream(&stream, (1, 1), (&mut y,))?;
    kernels.arguments(&stream, (1, 1), (&mut y,))?;
    kernels.first0(&stream, (1, 1), (&mut y,))?;
    kernels.second0(&stream, (1, 1), (&mut y,))?;
    kernels.held0(&stream, (1, 1), (&mut y,))?;
    kernels.value0(&stream, (1, 1), (&mut y,))?;
    assert_eq!(stream.download(&y)?, [1]);
    Ok(())
}

#[warpsmith::test]
fn structs_and_aliases(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let body = |mass| Body { at: [1.0, 2.0, 3.0], mass };
    let (bodies, mut y) = (stream.upload(&[body(1.0), body(2.0)])?, stream.zeroed(1)?);
    for (is_doubled, expected) in [(false, 7.0), (true, 14.0)] {
        kernels.total_mass(&stream, (1, 1), (&bodies, body(4.0), is_doubled, &mut y))?;
        assert_eq!(stream.download(&y)?, [expected]);
    }
    Ok(())
}

#[warpsmith::test]
fn dynamic_shared_memory(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let xs: Vec<u32> = numbers(1000).collect();
    let (x, mut y) = (stream.upload(&xs)?, stream.zeroed(1000)?);
    let grid = Grid::new(2, 500).shared_bytes(500 * 4);
    kernels.rotate(&stream, grid, (&x, &mut y))?;
    let rotated = |piece: &[u32]| piece[1..].iter().chain(&piece[..1]).copied().collect::<Vec<_>>();
    assert_eq!(stream.download(&y)?, xs.chunks(500).flat_map(rotated).collect::<Vec<_>>());
    // More than every kernel may have without asking.
    let grid = Grid::new(2, 500).shared_bytes(60 << 10);
    kernels.rotate(&stream, grid, (&x, &mut y))?;
    assert_eq!(stream.download(&y)?, xs.chunks(500).flat_map(rotated).collect::<Vec<_>>());
    Ok(())
}

#[warpsmith::test]
fn a_barrier_of_the_grid(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let xs: Vec<u32> = numbers(1000).map(|v| v % 100).collect();
    let (x, mut parts, mut y) = (stream.upload(&xs)?, stream.zeroed(4)?, stream.zeroed(4 * 64)?);
    for _ in 0..2 {
        stream.fill_bytes(&mut parts, 0)?;
        kernels.grid_sum(&stream, Grid::new(4, 64).cooperative(), (&x, &mut parts, &mut y))?;
        assert_eq!(stream.download(&y)?, [xs.iter().sum::<u32>(); 4 * 64]);
    }
    Ok(())
}

#[warpsmith::test]
fn votes_at_a_barrier(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let mut y = stream.zeroed(96)?;
    kernels.votes(&stream, (1, 96), (&mut y,))?;
    assert_eq!(stream.download(&y)?, [32 | 1 << 16 | 1 << 17; 96]);
    Ok(())
}

#[warpsmith::test]
fn barriers_of_groups_of_warps(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    // The last group has one warp, which is not whole.
    let (threads, blocks) = (64 * 3 + 20, 2);
    let xs: Vec<u32> = numbers(threads * blocks).collect();
    let (x, mut y) = (stream.upload(&xs)?, stream.zeroed(xs.len())?);
    kernels.reverse_in_groups(&stream, (blocks as u32, threads as u32), (&x, &mut y))?;
    let mut expected = xs.clone();
    for block in expected.chunks_mut(threads) {
        // Group g is reversed g + 1 times, and two reversals cancel out.
        block.chunks_mut(64).step_by(2).for_each(|group| group.reverse());
    }
    assert_eq!(stream.download(&y)?, expected);
    Ok(())
}

#[warpsmith::test]
fn warps_hand_over_at_barriers(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let mut y = stream.zeroed(96)?;
    kernels.hand_over(&stream, (1, 96), (&mut y,))?;
    let sum = |thread: u32| if thread / 32 == 1 { 600 + 4 * (31 - thread % 32) } else { 0 };
    assert_eq!(stream.download(&y)?, (0..96).map(sum).collect::<Vec<_>>());
    Ok(())
}

/// Returns whether there are clusters; if not, that a launch with them says so.
fn has_clusters(kernels: &Kernels, launched: &Result) -> bool {
    if kernels.module().architecture().is_none_or(|of| of >= 90) {
        return true;
    }
    let error = launched.as_ref().unwrap_err().to_string();
    assert!(error.contains("compute capability 9.0"), "{error}");
    false
}

#[warpsmith::test]
fn blocks_of_a_cluster_exchange_values(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let (threads, n) = (48, 48 * 24);
    let xs: Vec<u32> = numbers(n).collect();
    let (x, mut y) = (stream.upload(&xs)?, stream.zeroed(n)?);
    for cluster in [(1, 1, 1), (2, 1, 1), (2, 3, 1), (1, 2, 2)] {
        let grid = Grid::new((2, 6, 2), threads as u32).cluster(cluster);
        let launched = kernels.neighbours_in_cluster(&stream, grid, (&x, &mut y));
        if cluster != (1, 1, 1) && !has_clusters(&kernels, &launched) {
            continue;
        }
        launched?;
        let ys = stream.download(&y)?;
        let blocks = cluster.0 * cluster.1 * cluster.2;
        for (i, result) in ys.iter().enumerate() {
            let (block, thread) = ((i / threads) as u32, i % threads);
            let at = (block % 2, block / 2 % 6, block / 12);
            let own = (at.0 % cluster.0, at.1 % cluster.1, at.2 % cluster.2);
            let rank = own.0 + cluster.0 * (own.1 + cluster.1 * own.2);
            let value = |rank: u32, thread: usize| {
                let of = (rank % cluster.0, rank / cluster.0 % cluster.1, rank / cluster.0 / cluster.1);
                let (x, y, z) = (at.0 - own.0 + of.0, at.1 - own.1 + of.1, at.2 - own.2 + of.2);
                xs[(x + 2 * (y + 6 * z)) as usize * threads + thread]
            };
            let next = value((rank + 1) % blocks, thread);
            let previous = value((rank + blocks - 1) % blocks, threads - 1 - thread);
            assert_eq!(*result, [rank << 16 | blocks, next, previous, u32::MAX], "{cluster:?}, thread {i}");
        }
    }
    Ok(())
}

#[warpsmith::test]
fn blocks_of_a_cluster_share_atomics(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let xs: Vec<u8> = numbers(3000).map(|v| (v % 251) as u8).collect();
    let (x, mut counts) = (stream.upload(&xs)?, stream.zeroed(256)?);
    let launched = kernels.histogram_by_clusters(&stream, Grid::new(8, 64).cluster(4), (&x, &mut counts));
    if has_clusters(&kernels, &launched) {
        launched?;
        let mut expected = [0; 256];
        xs.iter().for_each(|&x| expected[x as usize] += 1);
        assert_eq!(stream.download(&counts)?, expected);
    }
    Ok(())
}

#[warpsmith::test]
fn a_block_writes_to_another_of_its_cluster(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let mut y = stream.zeroed(6 * 32)?;
    let launched = kernels.write_in_cluster(&stream, Grid::new(6, 32).cluster(3), (&mut y,));
    if has_clusters(&kernels, &launched) {
        launched?;
        let of = |i: u32| 100 * (2 - i / 32 % 3) + i % 32;
        assert_eq!(stream.download(&y)?, (0..6 * 32).map(of).collect::<Vec<_>>());
    }
    Ok(())
}

#[warpsmith::test]
fn a_graph_launches_clusters(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let mut y = stream.zeroed(64)?;
    let grid = Grid::new(2, 32).cluster(2);
    if !has_clusters(&kernels, &kernels.write_in_cluster(&stream, grid, (&mut y,))) {
        return Ok(());
    }
    stream.fill_bytes(&mut y, 0)?;
    let mut graph = stream.capture(|stream| kernels.write_in_cluster(stream, grid, (&mut y,)))?;
    graph.launch()?;
    assert_eq!(stream.download(&y)?, (100..132).chain(0..32).collect::<Vec<_>>());
    Ok(())
}

#[warpsmith::test]
fn each_block_writes_its_own_element(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let xs: Vec<u32> = numbers(700).map(|v| v % 100).collect();
    // One element is missing, and one block has nothing to add.
    let (x, mut y) = (stream.upload(&xs)?, stream.filled(13, 7u32)?);
    kernels.sums_of_blocks(&stream, Grid::new((2, 7), 64), (&x, &mut y))?;
    let mut expected: Vec<u32> = xs.chunks(64).map(|block| block.iter().sum()).collect();
    expected.resize(13, 0);
    assert_eq!(stream.download(&y)?, expected);
    Ok(())
}

/// What the kernel `team_operations` has for each member of a team whose members have these values.
fn of_a_team(xs: &[u32], part: usize) -> Vec<[u64; 23]> {
    let (size, n) = (xs.len() as u64, xs.len());
    let wide = |x: u32| u64::from(x) << 20 ^ u64::from(x.rotate_left(9));
    let wides = || xs.iter().map(|&x| wide(x));
    let odds = |xs: &[u32]| xs.iter().filter(|&&x| x % 2 == 1).count() as u64;
    let sum = |xs: &[u32]| xs.iter().fold(0u32, |sum, &x| sum.wrapping_add(x));
    let smalls = || xs.iter().map(|&x| (x % 1000) as f32);
    let (least, most) = (xs.iter().min().unwrap(), xs.iter().max().unwrap());
    let of_member = |i: usize| {
        let others = if i.is_multiple_of(2) { xs[i] } else { xs[0] };
        [
            (i as u64) << 32 | size,
            ((i % part) as u64) << 32 | part as u64,
            ((i / part) as u64) << 32 | (n / part) as u64,
            wide(xs[n - 1 - i]),
            u64::from(others),
            u64::from(xs.iter().fold(0, |all, x| all ^ x)),
            u64::from(sum(xs)),
            wides().fold(0, u64::wrapping_add),
            u64::from(*least) << 32 | u64::from(*most),
            wides().min().unwrap(),
            wides().max().unwrap(),
            xs.iter().map(|&x| x as i32).min().unwrap() as u64,
            xs.iter().map(|&x| i64::from(x as i32) << 8).max().unwrap() as u64,
            -i64::from(*most) as u64,
            u64::from(smalls().sum::<f32>().to_bits()),
            u64::from(smalls().fold(f32::NAN, f32::min).to_bits()),
            u64::from((-smalls().fold(f32::NAN, f32::min)).to_bits()),
            f64::from(smalls().fold(f32::NAN, f32::max)).to_bits(),
            u64::from(sum(&xs[..i])) << 32 | u64::from(sum(xs)),
            odds(&xs[..i]) << 32 | odds(xs),
            odds(xs),
            u64::from(odds(xs) == size) << 2 | u64::from(odds(xs) > 0) << 1 | u64::from(*most < 1 << 24),
            999 * 1000 / 2,
        ]
    };
    (0..n).map(of_member).collect()
}

#[warpsmith::test]
fn members_of_a_team_combine_their_values(device: &Device) -> Result {
    use warpsmith::team::{Block, Cluster, Thread, Warp};

    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    // Of some teams all values are odd, or none; of some a value has 32 bits.
    let value = |(i, v): (usize, u32)| match i / 96 {
        1 => v | 1,
        2 => v & !1,
        3 => v << 8 | v >> 16,
        _ => v,
    };
    // The kernel needs too many registers for larger blocks.
    for threads in [32, 96, 512] {
        let n = 6 * threads as usize;
        let xs: Vec<u32> = numbers(n).enumerate().map(value).collect();
        let (x, mut y) = (stream.upload(&xs)?, stream.filled(n, [0; 23])?);
        let compare = |ys: Vec<[u64; 23]>, team: usize, part: usize| {
            for (t, (xs, ys)) in xs.chunks(team).zip(ys.chunks(team)).enumerate() {
                let expected = of_a_team(xs, part);
                for (i, (y, expected)) in ys.iter().zip(&expected).enumerate() {
                    assert_eq!(y, expected, "member {i} of team {t} of {team}, blocks of {threads}");
                }
            }
        };
        // A block is the same team in whatever dimensions.
        let grid = Grid::new((1, 3, 2), (threads / 32, 8, 4));
        kernels.team_operations::<Thread>(&stream, grid, (&x, &mut y))?;
        compare(stream.download(&y)?, 1, 1);
        kernels.team_operations::<Warp>(&stream, grid, (&x, &mut y))?;
        compare(stream.download(&y)?, 32, 32);
        kernels.team_operations::<Block>(&stream, grid, (&x, &mut y))?;
        compare(stream.download(&y)?, threads as usize, 32);
        for cluster in [1, 2, 3] {
            let grid = Grid::new(6, threads).cluster(cluster);
            let launched = kernels.team_operations::<Cluster>(&stream, grid, (&x, &mut y));
            if cluster > 1 && !has_clusters(&kernels, &launched) {
                continue;
            }
            launched?;
            compare(stream.download(&y)?, (cluster * threads) as usize, threads as usize);
        }
    }
    Ok(())
}

#[warpsmith::test]
fn members_of_a_team_wait_for_each_other(device: &Device) -> Result {
    use warpsmith::team::{Block, Warp};

    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let mut y = stream.zeroed(128)?;
    kernels.team_in_memory::<Warp>(&stream, (1, 128), (&mut y,))?;
    let of_warps: Vec<u32> = (0..128).map(|i| i / 32 * 32 + (i + 3) % 32).collect();
    assert_eq!(stream.download(&y)?, of_warps);
    kernels.team_in_memory::<Block>(&stream, (1, 128), (&mut y,))?;
    let of_block: Vec<u32> = (0..128).map(|i| (i + 3) % 128).collect();
    assert_eq!(stream.download(&y)?, of_block);
    Ok(())
}

#[warpsmith::test]
fn a_warp_or_a_block_sums_a_row(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    for width in [0, 1, 31, 100, 1000] {
        let xs: Vec<f32> = numbers(6 * width).map(|v| (v % 64) as f32).collect();
        let row = |i: usize| kernels::sum_of_row(warpsmith::team::Thread, &xs[i * width..][..width]);
        let expected: Vec<f32> = (0..6).map(row).collect();
        let (x, mut sums) = (stream.upload(&xs)?, stream.zeroed(6)?);
        kernels.rows_by_warps(&stream, Grid::new(2, 96), (&x, width as u32, &mut sums))?;
        assert_eq!(stream.download(&sums)?, expected, "warps, {width} columns");
        for threads in [128, 1024] {
            kernels.rows_by_blocks(&stream, Grid::new(6, threads), (&x, width as u32, &mut sums))?;
            assert_eq!(stream.download(&sums)?, expected, "blocks of {threads}, {width} columns");
        }
    }
    Ok(())
}

#[warpsmith::test]
fn each_warp_writes_its_element(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    // The last warp of each block has 4 threads. One element is missing.
    let mut y = stream.filled(11, 7)?;
    kernels.numbers_of_warps(&stream, Grid::new((2, 2), (5, 20)), (&mut y,))?;
    let expected: Vec<u32> = (0..11).map(|i| 100 * (i / 4) + i % 4).collect();
    assert_eq!(stream.download(&y)?, expected);
    let mut y = stream.filled(18, 7)?;
    kernels.numbers_of_warps(&stream, Grid::new((2, 2), (5, 20)), (&mut y,))?;
    assert_eq!(stream.download(&y)?[15..], [303, 7, 7]);
    Ok(())
}

#[warpsmith::test]
fn each_thread_writes_the_element_at_its_position(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let written = |grid: Grid, len: usize, columns: u32| {
        let mut y = stream.filled(len, [9, 9])?;
        kernels.places(&stream, grid, ((&mut y, columns),))?;
        stream.download(&y)
    };
    // More threads than columns and rows, and two elements that are no whole row.
    let ys = written(Grid::covering_2d(5, 4, (4, 3)), 5 * 4 + 2, 5)?;
    let expected: Vec<_> = (0..20).map(|i| [i / 5, i % 5]).chain([[9, 9]; 2]).collect();
    assert_eq!(ys, expected);
    // Fewer threads than columns.
    let ys = written(Grid::new((1, 2), 2), 6, 3)?;
    assert_eq!(ys, [[0, 0], [0, 1], [9, 9], [1, 0], [1, 1], [9, 9]]);
    assert_eq!(written(Grid::new(1, (2, 2, 2)), 4, 2)?, [[9, 9]; 4], "no position with a z");
    assert_eq!(written(Grid::new((1, 1, 2), (2, 2)), 4, 2)?, [[9, 9]; 4], "no position with a z");
    assert_eq!(written(Grid::new(1, 4), 4, 0)?, [[9, 9]; 4], "no columns");
    Ok(())
}

#[warpsmith::test]
fn three_dimensions(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let mut y = stream.zeroed::<[u32; 3]>(2 * 3 * 4 * 5 * 6 * 7)?;
    kernels.positions(&stream, Grid::new((2, 3, 4), (5, 6, 7)), (&mut y,))?;
    let mut ys = stream.download(&y)?;
    assert_eq!((ys[0], ys[1], ys[5]), ([0, 0, 0], [1, 0, 0], [0, 1, 0]));
    ys.sort();
    ys.dedup();
    assert_eq!(ys.len(), 2 * 3 * 4 * 5 * 6 * 7, "no position twice");
    assert_eq!(ys.last(), Some(&[9, 17, 27]));
    Ok(())
}

#[warpsmith::test]
fn a_product_of_matrices(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let n = 32;
    let matrix = |shift: usize| (0..n * n).map(|i| ((i * 7 + shift) % 5) as f32).collect::<Vec<_>>();
    let (a, b) = (matrix(0), matrix(3));
    let (da, db, mut y) = (stream.upload(&a)?, stream.upload(&b)?, stream.zeroed(n * n)?);
    kernels.product(&stream, Grid::new((2, 2), (16, 16)), (&da, &db, n as u32, (&mut y, n as u32)))?;
    let element = |i: usize| (0..n).map(|k| a[i / n * n + k] * b[k * n + i % n]).sum::<f32>();
    assert_eq!(stream.download(&y)?, (0..n * n).map(element).collect::<Vec<_>>());
    Ok(())
}

#[warpsmith::test]
fn vectors_and_asynchronous_copies(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let xs: Vec<f32> = (0..128).map(|i| i as f32).collect();
    let (x, mut y) = (stream.upload(&xs)?, stream.zeroed(128)?);
    kernels.copies(&stream, (1, 128), (&x, &mut y))?;
    let quad = |i: usize| xs.chunks(4).nth(i).map_or(0.0, |four| four.iter().sum());
    assert_eq!(stream.download(&y)?, (0..128).map(|i| quad(i) + xs[i]).collect::<Vec<f32>>());
    Ok(())
}

#[warpsmith::test]
fn parts_of_buffers(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let (x, mut y) = (stream.upload(&[1.0, 2.0, 3.0, 4.0f32])?, stream.zeroed(4)?);
    let (mut low, mut high) = y.split_at_mut(2)?;
    kernels.saxpy(&stream, (1, 2), (1.0, &x.slice(2..)?, &mut low))?;
    kernels.saxpy(&stream, (1, 2), (10.0, &x.slice(..2)?, &mut high))?;
    assert_eq!(stream.download(&y)?, [3.0, 4.0, 10.0, 20.0]);
    let mut z = stream.zeroed(2)?;
    stream.copy(&y.slice(1..3)?, &mut z)?;
    stream.write(&mut y.slice_mut(3..)?, &[7.0])?;
    assert_eq!((stream.download(&z)?, stream.download(&y)?[3]), (vec![4.0, 10.0], 7.0));
    assert!(matches!(y.slice(3..5), Err(Error::Size(_))));
    assert!(matches!(stream.write(&mut y, &[1.0]), Err(Error::Size(_))));
    Ok(())
}

#[warpsmith::test]
fn several_streams_keep_the_order_of_a_buffer(device: &Device) -> Result {
    let kernels = Kernels::load(device)?;
    let (one, two) = (device.stream()?, device.stream()?);
    let n = 1 << 14;
    let (x, mut y) = (one.filled(n, 1.0f32)?, two.zeroed(n)?);
    for _ in 0..8 {
        kernels.saxpy(&one, Grid::covering(n), (1.0, &x, &mut y))?;
        kernels.scale::<f32>(&two, Grid::covering(n), (2.0, &mut y))?;
    }
    assert_eq!(one.download(&y)?, vec![510.0; n]);
    Ok(())
}

#[warpsmith::test]
fn a_graph_does_it_again(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let (x, mut y, mut z) = (stream.filled(100, 1.0f32)?, stream.zeroed(100)?, stream.zeroed(100)?);
    // Loads the kernels, which a capture would not allow.
    kernels.saxpy(&stream, Grid::covering(100), (0.0, &x, &mut y))?;
    let mut graph = stream.capture(|stream| {
        kernels.saxpy(stream, Grid::covering(100), (2.0, &x, &mut y))?;
        stream.copy(&y, &mut z)
    })?;
    assert_eq!(stream.download(&y)?, [0.0; 100], "captured, not done");
    drop(x);
    graph.launch()?;
    graph.launch()?;
    assert_eq!((stream.download(&y)?, stream.download(&z)?), (vec![4.0; 100], vec![4.0; 100]));
    let failed = stream.capture(|stream| stream.synchronize());
    assert!(matches!(failed, Err(Error::Misuse(_))));
    Ok(())
}

#[warpsmith::test]
fn a_graph_keeps_its_kernels(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let (x, mut y) = (stream.filled(100, 1.0f32)?, stream.zeroed(100)?);
    kernels.module().prepare("saxpy")?;
    let mut graph = stream.capture(|stream| kernels.saxpy(stream, (100, 1), (2.0, &x, &mut y)))?;
    drop(kernels);
    // Others in their place.
    let others = Kernels::load(device)?;
    for name in ["scan", "transpose", "histogram", "rotate"] {
        others.module().prepare(name)?;
    }
    graph.launch()?;
    assert_eq!(stream.download(&y)?, [2.0; 100]);
    Ok(())
}

#[warpsmith::test]
fn a_kernel_that_is_not_loaded_is_not_captured(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let (x, mut y) = (stream.filled(100, 1.0f32)?, stream.zeroed(100)?);
    let captured = stream.capture(|stream| kernels.saxpy(stream, (100, 1), (2.0, &x, &mut y)));
    if !device.is_cpu() {
        let error = captured.unwrap_err().to_string();
        assert!(error.contains("prepare(name)"), "{error}");
    }
    kernels.module().prepare("saxpy")?;
    let mut graph = stream.capture(|stream| kernels.saxpy(stream, (100, 1), (2.0, &x, &mut y)))?;
    graph.launch()?;
    assert_eq!(stream.download(&y)?, [2.0; 100]);
    Ok(())
}

/// Launches with different amounts of shared memory, at the same time.
#[warpsmith::test]
fn threads_that_ask_for_different_shared_memory(device: &Device) -> Result {
    let kernels = Kernels::load(device)?;
    std::thread::scope(|scope| {
        let launches = [50u32, 60, 70, 90].map(|kib| {
            let kernels = &kernels;
            scope.spawn(move || -> Result {
                let stream = device.stream()?;
                let (x, mut y) = (stream.upload(&[1u32, 2, 3, 4])?, stream.zeroed(4)?);
                for _ in 0..if device.is_cpu() { 2 } else { 2000 } {
                    kernels.rotate(&stream, Grid::new(1, 4).shared_bytes(kib << 10), (&x, &mut y))?;
                }
                assert_eq!(stream.download(&y)?, [2, 3, 4, 1]);
                Ok(())
            })
        });
        launches.into_iter().try_for_each(|launch| launch.join().unwrap())
    })
}

#[warpsmith::test]
fn kernels_that_are_dropped_while_they_run(device: &Device) -> Result {
    let stream = device.stream()?;
    let n = 1 << 14;
    let (x, mut y) = (stream.filled(n, 1.0f32)?, stream.zeroed(n)?);
    for _ in 0..8 {
        let kernels = Kernels::load(device)?;
        kernels.saxpy(&stream, Grid::covering(n), (1.0, &x, &mut y))?;
    }
    assert_eq!(stream.download(&y)?, vec![8.0; n]);
    // And the stream with them.
    let (other, kernels) = (device.stream()?, Kernels::load(device)?);
    kernels.saxpy(&other, Grid::covering(n), (1.0, &x, &mut y))?;
    drop(kernels);
    drop(other);
    assert_eq!(stream.download(&y)?, vec![9.0; n]);
    Ok(())
}

/// A stream that captures takes part in nothing that others do meanwhile.
#[warpsmith::test]
fn other_streams_stay_outside_of_a_graph(device: &Device) -> Result {
    let kernels = Kernels::load(device)?;
    let (one, two) = (device.stream()?, device.stream()?);
    let n = 1 << 14;
    let (x, mut y, mut z) = (one.filled(n, 1.0f32)?, one.zeroed(n)?, one.zeroed(n)?);
    let gone = one.filled(n, 3.0f32)?;
    kernels.saxpy(&one, Grid::covering(n), (1.0, &x, &mut y))?;
    let mut graph = one.capture(|one| {
        kernels.saxpy(one, Grid::covering(n), (2.0, &x, &mut z))?;
        // Reads and writes on another stream what the first one wrote, and takes memory of the first one back.
        kernels.saxpy(&two, Grid::covering(n), (4.0, &x, &mut y))?;
        assert_eq!(two.download(&y)?, vec![5.0; n]);
        drop(gone);
        kernels.saxpy(one, Grid::covering(n), (2.0, &x, &mut z))
    })?;
    assert_eq!(one.download(&z)?, vec![0.0; n]);
    graph.launch()?;
    graph.launch()?;
    assert_eq!((one.download(&y)?, two.download(&z)?), (vec![5.0; n], vec![8.0; n]));
    Ok(())
}

/// Launches of another thread are in the graph, with what they use, or outside of it.
#[warpsmith::test]
fn another_thread_launches_while_a_graph_is_captured(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let n = 1 << 12;
    let x = stream.filled(n, 1.0f32)?;
    let mut y = stream.zeroed(n)?;
    kernels.saxpy(&stream, Grid::covering(n), (0.0, &x, &mut y))?;
    let is_done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| -> Result {
        let launching = scope.spawn(|| -> Result {
            // What a capture forbids meanwhile is an error, and no more.
            while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                let Ok(mut z) = stream.zeroed(n) else { continue };
                kernels.saxpy(&stream, Grid::covering(n), (1.0, &x, &mut z))?;
            }
            Ok(())
        });
        let captured = (0..200).try_for_each(|_| {
            let mut graph = stream.capture(|s| kernels.saxpy(s, Grid::covering(n), (1.0, &x, &mut y)))?;
            graph.launch()
        });
        is_done.store(true, std::sync::atomic::Ordering::Relaxed);
        launching.join().unwrap()?;
        captured
    })?;
    assert_eq!(stream.download(&y)?, vec![200.0; n]);
    Ok(())
}

#[warpsmith::test]
fn a_panic_ends_a_capture(device: &Device) -> Result {
    let stream = device.stream()?;
    let mut y = stream.zeroed::<u32>(4)?;
    let captured = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        stream.capture(|stream| {
            stream.fill_bytes(&mut y, 1)?;
            panic!("of a test")
        })
    }));
    assert!(captured.is_err());
    assert_eq!(stream.download(&y)?, [0; 4]);
    // Nor does one that failed go on.
    assert!(stream.capture(|_| Err(Error::Misuse("a test"))).is_err());
    let mut graph = stream.capture(|stream| stream.fill_bytes(&mut y, 1))?;
    graph.launch()?;
    assert_eq!(stream.download(&y)?, [0x0101_0101; 4]);
    Ok(())
}

/// What one GPU waits for, another has done: the driver's calls that come after go to the right one. With one GPU there is nothing
/// to test.
#[test]
fn several_gpus() -> Result {
    if Device::list().map_or(0, |gpus| gpus.len()) < 2 {
        return Ok(());
    }
    let devices = [Device::gpu(0)?, Device::gpu(1)?];
    let kernels = match Kernels::load(&devices[0]) {
        Err(Error::NoKernels(_)) => return Ok(()),
        loaded => [loaded?, Kernels::load(&devices[1])?],
    };
    let streams = [devices[0].stream()?, devices[1].stream()?];
    let n = 1 << 14;
    for _ in 0..8 {
        let (x, mut y) = (streams[0].filled(n, 1.0f32)?, streams[0].zeroed(n)?);
        let (other, mut z) = (streams[1].filled(n, 1.0f32)?, streams[1].zeroed(n)?);
        kernels[0].saxpy(&streams[0], Grid::covering(n), (2.0, &x, &mut y))?;
        streams[1].copy(&y, &mut z)?;
        kernels[1].saxpy(&streams[1], Grid::covering(n), (3.0, &other, &mut z))?;
        // Waits for the other GPU, which read it, and goes back after that.
        kernels[0].saxpy(&streams[0], Grid::covering(n), (4.0, &x, &mut y))?;
        streams[1].copy(&y, &mut z.slice_mut(..)?)?;
        drop(y);
        assert_eq!(streams[1].download(&z)?, vec![6.0; n]);
        // The other GPU is the thread's now.
        let (mut sixty, words) = (streams[0].zeroed(4)?, streams[0].upload(&[1u32, 2, 3, 4])?);
        streams[1].synchronize()?;
        kernels[0].rotate(&streams[0], Grid::new(1, 4).shared_bytes(60 << 10), (&words, &mut sixty))?;
        assert_eq!(streams[0].download(&sixty)?, [2, 3, 4, 1]);
    }
    Ok(())
}

#[warpsmith::test]
fn an_unsafe_kernel(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let (at, mut y) = (stream.upload(&[3, 1, 0])?, stream.zeroed(4)?);
    // SAFETY: the places are different and below 4.
    unsafe { kernels.scatter(&stream, (1, 2), (&at, &mut y))? };
    assert_eq!(stream.download(&y)?, [1, 1, 0, 1]);
    Ok(())
}

#[warpsmith::test]
fn events_take_the_time(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let (x, mut y) = (stream.filled(1000, 1.0f32)?, stream.zeroed(1000)?);
    let start = stream.record()?;
    kernels.saxpy(&stream, Grid::covering(1000), (2.0, &x, &mut y))?;
    let end = stream.record()?;
    assert!(end.since(&start)?.as_nanos() > 0);
    Ok(())
}

#[warpsmith::test]
fn impossible_grids(device: &Device) -> Result {
    let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
    let (x, mut y) = (stream.filled(10, 1.0f32)?, stream.zeroed(10)?);
    let mut problem = |grid: Grid| match kernels.saxpy(&stream, grid, (2.0, &x, &mut y)) {
        Err(Error::Grid { kernel, problem }) => {
            assert_eq!(kernel, "saxpy");
            problem
        }
        other => panic!("{other:?}"),
    };
    assert!(problem(Grid::new(0, 32)).contains("no blocks"));
    assert!(problem(Grid::new(1, 0)).contains("no threads"));
    assert!(problem(Grid::new(1, 1025)).contains("1025 threads"));
    assert!(problem(Grid::new((1, 70000), 1)).contains("70000"));
    assert!(problem(Grid::new(1, (1, 1, 65))).contains("65"));
    assert!(problem(Grid::new(9, 32).cluster(9)).contains("cluster"));
    assert!(problem(Grid::new(1, 1).shared_bytes(1 << 20)).contains("1048576 bytes"));
    assert!(problem(Grid::covering(usize::MAX)).contains("more blocks than a grid has"));
    Ok(())
}

/// What goes wrong, on the CPU alone: on a GPU these kernels hang, or take the device with them.
mod faults {
    use super::*;

    fn cpus() -> Vec<Device> {
        std::iter::once(Device::cpu()).chain((1..5).map(Device::cpu_shuffled)).collect()
    }

    fn failure(result: Result) -> (String, Option<u32>) {
        match result {
            Err(Error::Kernel { message, place, .. }) => (message, place.map(|(_, line, _)| line)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_missing_barrier_shows_in_some_order() {
        let run = |device: &Device| {
            let (kernels, stream) = (Kernels::load(device)?, device.stream()?);
            let xs: Vec<u32> = (0..64).collect();
            let (x, mut y) = (stream.upload(&xs)?, stream.zeroed(64)?);
            kernels.reverse_without_a_barrier(&stream, (1, 64), (&x, &mut y))?;
            Result::Ok(stream.download(&y)? == xs.iter().rev().copied().collect::<Vec<_>>())
        };
        assert!(cpus().iter().any(|device| !run(device).unwrap()));
    }

    #[test]
    fn a_barrier_that_not_all_reach() {
        for device in cpus() {
            let (kernels, stream) = (Kernels::load(&device).unwrap(), device.stream().unwrap());
            let mut y = stream.zeroed(64).unwrap();
            let (message, line) = failure(kernels.leaves_one_behind(&stream, (1, 64), (&mut y,)));
            assert!(message.contains("not all threads reach the barrier"), "{message}");
            assert!(message.contains("threads 0 to 62") && message.contains("thread 63 ended"), "{message}");
            let source = include_str!("kernels/mod.rs").lines().nth(line.unwrap() as usize - 1).unwrap();
            assert!(source.contains("sync_threads()"), "{source}");
            // The stream goes on.
            assert_eq!(stream.download(&y).unwrap(), [0; 64]);
        }
    }

    #[test]
    fn barriers_at_two_places() {
        for device in cpus() {
            let (kernels, stream) = (Kernels::load(&device).unwrap(), device.stream().unwrap());
            let mut y = stream.zeroed(8).unwrap();
            let (message, _) = failure(kernels.waits_at_two_places(&stream, (1, 8), (&mut y,)));
            assert!(message.contains("different places"), "{message}");
        }
    }

    #[test]
    fn a_barrier_that_not_enough_warps_reach() {
        for device in cpus() {
            let (kernels, stream) = (Kernels::load(&device).unwrap(), device.stream().unwrap());
            let mut y = stream.zeroed(64).unwrap();
            let (message, line) = failure(kernels.waits_for_two_warps(&stream, (1, 64), (&mut y,)));
            assert!(
                message.contains("barrier 3 for 2 warps") && message.contains("threads 0 to 31"),
                "{message}"
            );
            let source = include_str!("kernels/mod.rs").lines().nth(line.unwrap() as usize - 1).unwrap();
            assert!(source.contains("Barrier::new(3, 2).sync()"), "{source}");
        }
    }

    #[test]
    fn a_barrier_whose_warps_disagree() {
        for device in cpus() {
            let (kernels, stream) = (Kernels::load(&device).unwrap(), device.stream().unwrap());
            let mut y = stream.zeroed(64).unwrap();
            let (message, _) = failure(kernels.disagrees_about_warps(&stream, (1, 64), (&mut y,)));
            assert!(message.contains("for 2 warps") && message.contains("for 3 warps"), "{message}");
        }
    }

    #[test]
    fn a_cluster_that_a_block_has_left() {
        for device in cpus() {
            let (kernels, stream) = (Kernels::load(&device).unwrap(), device.stream().unwrap());
            let mut y = stream.zeroed(96).unwrap();
            let grid = Grid::new(3, 32).cluster(3);
            let (message, _) = failure(kernels.leaves_a_block_behind(&stream, grid, (&mut y,)));
            assert!(message.contains("the barrier of the cluster") && message.contains("ended"), "{message}");
        }
    }

    #[test]
    fn a_panic_is_the_launchs_error() {
        for device in cpus() {
            let (kernels, stream) = (Kernels::load(&device).unwrap(), device.stream().unwrap());
            let (x, mut y) = (stream.zeroed(600).unwrap(), stream.zeroed(1000).unwrap());
            let error = kernels.panics(&stream, (4, 256), (&x, &mut y)).unwrap_err();
            let Error::Kernel {
                kernel,
                message,
                place: Some((file, line, _)),
                position: Some((block, thread)),
            } = &error
            else {
                panic!("{error:?}")
            };
            assert_eq!(kernel, "panics");
            assert!(message.contains("the len is 600"), "{message}");
            assert!(file.ends_with("kernels/mod.rs"), "{file}");
            let source = include_str!("kernels/mod.rs").lines().nth(*line as usize - 1).unwrap();
            assert!(source.contains("x[i.get()]"), "{source}");
            assert!(block[0] * 256 + thread[0] >= 600, "{error}");
        }
    }

    #[test]
    fn a_shuffle_from_outside_of_the_mask() {
        for device in cpus() {
            let (kernels, stream) = (Kernels::load(&device).unwrap(), device.stream().unwrap());
            let mut y = stream.zeroed(32).unwrap();
            let (message, _) = failure(kernels.shuffles_from_outside(&stream, (1, 32), (&mut y,)));
            assert!(message.contains("lane 20"), "{message}");
        }
    }

    #[test]
    fn a_grid_barrier_without_cooperation() {
        let device = Device::cpu();
        let (kernels, stream) = (Kernels::load(&device).unwrap(), device.stream().unwrap());
        let (x, mut parts, mut y) =
            (stream.zeroed(4).unwrap(), stream.zeroed(4).unwrap(), stream.zeroed(4).unwrap());
        let (message, _) = failure(kernels.grid_sum(&stream, (4, 1), (&x, &mut parts, &mut y)));
        assert!(message.contains("Grid::cooperative"), "{message}");
    }

    #[test]
    fn a_loop_that_waits_for_ever() {
        let device = Device::cpu();
        let (kernels, stream) = (Kernels::load(&device).unwrap(), device.stream().unwrap());
        let mut lock = stream.zeroed(1).unwrap();
        let (message, _) = failure(kernels.waits_for_ever(&stream, (1, 1), (&mut lock,)));
        assert!(message.contains("no thread of the block changes"), "{message}");
    }

    #[test]
    fn an_assertion() {
        let device = Device::cpu();
        let (kernels, stream) = (Kernels::load(&device).unwrap(), device.stream().unwrap());
        let x = stream.upload(&[1, 2, 100]).unwrap();
        let (message, _) = failure(kernels.asserts(&stream, (1, 3), (&x,)));
        assert!(message.contains("a value is too large"), "{message}");
        kernels.asserts(&stream, (1, 2), (&x,)).unwrap();
    }

    #[test]
    fn kernels_of_another_device() {
        if let Ok(gpu) = Device::gpu(0) {
            let (kernels, stream) = (Kernels::load(&Device::cpu()).unwrap(), gpu.stream().unwrap());
            let (x, mut y) = (stream.zeroed(4).unwrap(), stream.zeroed(4).unwrap());
            let error = kernels.saxpy(&stream, (1, 4), (1.0, &x, &mut y)).unwrap_err();
            assert!(matches!(error, Error::OtherDevice { .. }), "{error}");
            let cpu = Device::cpu().stream().unwrap();
            let error = kernels.saxpy(&cpu, (1, 4), (1.0, &x, &mut y)).unwrap_err();
            assert!(matches!(error, Error::OtherDevice { what: "a buffer", .. }), "{error}");
        }
    }

    #[test]
    fn shuffled_runs_are_the_same_each_time() {
        let run = || {
            let device = Device::cpu_shuffled(7);
            let (kernels, stream) = (Kernels::load(&device).unwrap(), device.stream().unwrap());
            // Not small integers: the order of the additions shows.
            let x = stream.upload(&(1..3000).map(|i| 1.0 / i as f32).collect::<Vec<_>>()).unwrap();
            let mut sum = stream.zeroed(1).unwrap();
            kernels.reduce(&stream, (8, 256), (&x, &mut sum)).unwrap();
            stream.download(&sum).unwrap()[0].to_bits()
        };
        assert_eq!(run(), run());
    }

    /// Some thousand threads, with and without barriers: tests of users have them, and must not take long.
    #[test]
    fn many_threads_take_little_time() {
        let start = std::time::Instant::now();
        let device = Device::cpu();
        let (kernels, stream) = (Kernels::load(&device).unwrap(), device.stream().unwrap());
        let n = 200_000;
        let (x, mut y) = (stream.filled(n, 1.0f32).unwrap(), stream.zeroed(n).unwrap());
        kernels.saxpy(&stream, Grid::covering(n), (1.0, &x, &mut y)).unwrap();
        let saxpy = start.elapsed();
        let (x, mut y) = (stream.filled(4096, 1u32).unwrap(), stream.zeroed(4096).unwrap());
        kernels.scan(&stream, Grid::covering_by(4096, 256), (&x, &mut y)).unwrap();
        let scan = start.elapsed() - saxpy;
        println!(
            "saxpy with 200,000 threads: {saxpy:?}; scan with 4,096 threads and 16 barriers each: {scan:?}"
        );
        assert!(start.elapsed().as_secs() < 20);
    }

    #[test]
    fn text_from_a_kernel() {
        let device = Device::cpu();
        let (kernels, stream) = (Kernels::load(&device).unwrap(), device.stream().unwrap());
        kernels.prints(&stream, (1, 32), (1.5,)).unwrap();
    }
}

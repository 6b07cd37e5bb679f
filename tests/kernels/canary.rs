//! `block_canary`: a barrier stays one barrier.

use warpsmith::Grid;

use crate::gpu::{Poison, gpu, guard, load};

tests![block_canary];

fn block_canary() {
    for threads in [32u32, 64, 1024] {
        let Some(gpu) = gpu() else { return };
        let (_, function) = load(&gpu, "block_canary");
        let stream = gpu.stream();
        let poison = [vec![u32::POISON; 2 * threads as usize], guard()].concat();
        let out = stream.upload(&poison).expect("the output");
        let mut address = out.address();
        // SAFETY: the kernel's one parameter, an array of at least `2 * threads` words.
        let launched =
            unsafe { function.launch(stream, Grid::new(1, threads), &mut [(&raw mut address).cast()]) };
        launched.expect("the launch");
        let words = stream.download(&out).expect("the output");
        for i in 0..threads {
            let flagged = i < 16;
            let first = if flagged { 1 } else { u32::POISON };
            let second = if flagged { 2 * i + 1 } else { 3 * i + 2 };
            assert_eq!(words[i as usize], first, "{threads} threads, first word of thread {i}");
            let at = (threads + i) as usize;
            assert_eq!(words[at], second, "{threads} threads, second word of thread {i}");
        }
        let rest = &words[2 * threads as usize..];
        assert!(rest.iter().all(|&w| w == u32::POISON), "{threads} threads: written behind the output's end");
    }
}

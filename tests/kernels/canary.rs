//! `block_canary`: a barrier stays one barrier.

use cudarc::driver::{LaunchConfig, PushKernelArg};

use crate::gpu::{Poison, gpu, guard, load};

tests![block_canary];

fn block_canary() {
    for threads in [32u32, 64, 1024] {
        let Some(gpu) = gpu() else { return };
        let (_, function) = load(&gpu, "block_canary");
        let stream = gpu.stream();
        let poison = [vec![u32::POISON; 2 * threads as usize], guard()].concat();
        let mut out = stream.clone_htod(&poison).expect("the output");
        let launch = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 };
        let mut builder = stream.launch_builder(&function);
        builder.arg(&mut out);
        // SAFETY: the kernel's one parameter, an array of at least `2 * threads` words.
        unsafe { builder.launch(launch) }.expect("the launch");
        let words = stream.clone_dtoh(&out).expect("the output");
        stream.synchronize().expect("the launch");
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

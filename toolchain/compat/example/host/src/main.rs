//! Runs each kernel, and compares with the same on the host.

use std::error::Error;
use std::process::ExitCode;

use cust::memory::{DeviceBox, GpuBox};
use cust::function::GridSize;
use cust::prelude::*;
use example_kernels::{Line, THREADS};

static PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"));

/// Threads of a launch, and values.
const N: usize = 64 * THREADS;
const BLOCKS: u32 = 64;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    match run() {
        Ok(wrong) => ExitCode::from(u8::from(wrong > 0)),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns how many kernels were wrong.
fn run() -> Result<usize> {
    let _context = cust::quick_init()?;
    println!("{}", Device::get_device(0)?.name()?);
    let module = Module::from_ptx(PTX, &[])?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    type Test = fn(&Module, &Stream) -> Result<bool>;
    let tests: [(&str, Test); 8] = [
        ("add", add),
        ("block_sums", block_sums),
        ("warp_sums", warp_sums),
        ("neighbours", neighbours),
        ("reversed", reversed),
        ("waves", waves),
        ("line", line),
        ("formatted", formatted),
    ];
    let mut wrong = 0;
    for (name, test) in tests {
        let right = test(&module, &stream)?;
        println!("{name}: {}", if right { "right" } else { "WRONG" });
        wrong += usize::from(!right);
    }
    Ok(wrong)
}

fn numbers() -> Vec<u32> {
    (0..N as u32).map(|i| i.wrapping_mul(2_654_435_761) >> 20).collect()
}

fn floats() -> Vec<f32> {
    numbers().iter().map(|n| *n as f32 / 16.0 - 100.0).collect()
}

fn add(module: &Module, stream: &Stream) -> Result<bool> {
    let (a, b) = (floats(), floats());
    let (on_a, on_b) = (a.as_slice().as_dbuf()?, b.as_slice().as_dbuf()?);
    let c = DeviceBuffer::<f32>::zeroed(N)?;
    let add = module.get_function("add")?;
    let (_, threads) = add.suggested_launch_configuration(0, 0.into())?;
    let blocks = (N as u32).div_ceil(threads);
    // SAFETY: the arguments are those of the kernel, and the buffers outlive `synchronize`.
    unsafe {
        launch!(add<<<blocks, threads, 0, stream>>>(
            on_a.as_device_ptr(),
            on_a.len(),
            on_b.as_device_ptr(),
            on_b.len(),
            c.as_device_ptr(),
        ))?;
    }
    stream.synchronize()?;
    let mut result = vec![0.0; N];
    c.copy_to(&mut result)?;
    Ok(result.iter().zip(a.iter().zip(&b)).all(|(c, (a, b))| *c == a + b))
}

fn block_sums(module: &Module, stream: &Stream) -> Result<bool> {
    // Whole numbers, so that the order of a sum does not matter.
    let x: Vec<f32> = numbers().iter().map(|n| *n as f32).collect();
    let (on_x, sums) = (x.as_slice().as_dbuf()?, DeviceBuffer::<f32>::zeroed(BLOCKS as usize)?);
    let threads = THREADS as u32;
    // SAFETY: the arguments are those of the kernel, and the buffers outlive `synchronize`.
    unsafe {
        launch!(module.block_sums<<<BLOCKS, threads, 0, stream>>>(on_x.as_device_ptr(), on_x.len(), sums.as_device_ptr()))?;
    }
    stream.synchronize()?;
    let expected: Vec<f32> = x.chunks(THREADS).map(|block| block.iter().sum()).collect();
    Ok(sums.as_host_vec()? == expected)
}

fn warp_sums(module: &Module, stream: &Stream) -> Result<bool> {
    let x = numbers();
    let (on_x, sums) = (x.as_slice().as_dbuf()?, DeviceBuffer::<[u32; 3]>::zeroed(N / 32)?);
    // SAFETY: the arguments are those of the kernel, and the buffers outlive `synchronize`.
    unsafe {
        launch!(module.warp_sums<<<BLOCKS, THREADS as u32, 0, stream>>>(on_x.as_device_ptr(), on_x.len(), sums.as_device_ptr()))?;
    }
    stream.synchronize()?;
    let of = |warp: &[u32]| {
        let sum: u32 = warp.iter().sum();
        [sum, sum, warp.iter().filter(|n| *n % 2 == 1).count() as u32]
    };
    Ok(sums.as_host_vec()? == x.chunks(32).map(of).collect::<Vec<_>>())
}

fn neighbours(module: &Module, stream: &Stream) -> Result<bool> {
    let x: Vec<f64> = floats().iter().map(|x| *x as f64 / 3.0).collect();
    let on_x = x.as_slice().as_dbuf()?;
    let (above, exists) = (DeviceBuffer::<f64>::zeroed(N)?, DeviceBuffer::<u32>::zeroed(N)?);
    // SAFETY: the arguments are those of the kernel, and the buffers outlive `synchronize`.
    unsafe {
        launch!(module.neighbours<<<BLOCKS, THREADS as u32, 0, stream>>>(
            on_x.as_device_ptr(), on_x.len(), above.as_device_ptr(), exists.as_device_ptr()
        ))?;
    }
    stream.synchronize()?;
    let (above, exists) = (above.as_host_vec()?, exists.as_host_vec()?);
    Ok((0..N).all(|i| match i % 16 {
        15 => exists[i] == 0 && above[i] == x[i],
        _ => exists[i] == 1 && above[i] == x[i + 1],
    }))
}

fn reversed(module: &Module, stream: &Stream) -> Result<bool> {
    let x: Vec<u64> = numbers().iter().map(|n| *n as u64 * 0x1_0000_0001).collect();
    let (on_x, out) = (x.as_slice().as_dbuf()?, DeviceBuffer::<u64>::zeroed(N)?);
    // SAFETY: the arguments are those of the kernel, and the buffers outlive `synchronize`.
    unsafe {
        launch!(module.reversed<<<BLOCKS, THREADS as u32, 0, stream>>>(on_x.as_device_ptr(), on_x.len(), out.as_device_ptr()))?;
    }
    stream.synchronize()?;
    let expected: Vec<u64> = x.chunks(THREADS).flat_map(|block| block.iter().rev().copied()).collect();
    Ok(out.as_host_vec()? == expected)
}

fn waves(module: &Module, stream: &Stream) -> Result<bool> {
    let x = floats();
    let on_x = x.as_slice().as_dbuf()?;
    let (out, wide) = (DeviceBuffer::<f32>::zeroed(N)?, DeviceBuffer::<f64>::zeroed(N)?);
    // SAFETY: the arguments are those of the kernel, and the buffers outlive `synchronize`.
    unsafe {
        launch!(module.waves<<<BLOCKS, THREADS as u32, 0, stream>>>(
            on_x.as_device_ptr(), on_x.len(), out.as_device_ptr(), wide.as_device_ptr()
        ))?;
    }
    stream.synchronize()?;
    let (out, wide) = (out.as_host_vec()?, wide.as_host_vec()?);
    Ok(x.iter().zip(out.iter().zip(&wide)).all(|(x, (out, wide))| {
        let narrow = 1.0 + x.abs().sqrt().floor();
        let x = *x as f64;
        let expected = 2.0 * (1.0 + x * x).sqrt() + x.tanh();
        (out - narrow).abs() < 1e-5 && (wide - expected).abs() < 1e-10 * expected.abs().max(1.0)
    }))
}

fn line(module: &Module, stream: &Stream) -> Result<bool> {
    let line = Line { slope: 0.5, offset: 1.0, doubled: true };
    let sum = DeviceBox::new(&0.0f32)?;
    let blocks = GridSize::xy(2, 2);
    // SAFETY: the arguments are those of the kernel, and the buffers outlive `synchronize`.
    unsafe {
        launch!(module.line<<<blocks, (8, 4, 2), 0, stream>>>(line, 200usize, GpuBox::as_device_ptr(&sum)))?;
    }
    stream.synchronize()?;
    let expected: f32 = (0..200).map(|i| i as f32 + 2.0).sum();
    Ok(sum.as_host_value()? == expected)
}

fn formatted(module: &Module, stream: &Stream) -> Result<bool> {
    let text = "the answer is".as_bytes().as_dbuf()?;
    let len = DeviceBox::new(&0u32)?;
    // SAFETY: the arguments are those of the kernel, and the buffers outlive `synchronize`.
    unsafe {
        launch!(module.formatted<<<1, 1, 0, stream>>>(text.as_device_ptr(), text.len(), 42u32, len.as_device_ptr()))?;
    }
    stream.synchronize()?;
    Ok(len.as_host_value()? == "the answer is 42".len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text of a kernel, from its name to the end of its code.
    fn kernel(name: &str) -> &'static str {
        let start = PTX.find(&format!(".visible .entry {name}(")).unwrap_or_else(|| panic!("no kernel {name}"));
        let text = &PTX[start..];
        &text[..text.find("\n}").unwrap()]
    }

    fn parameters(name: &str) -> usize {
        let text = kernel(name);
        text[..text.find("\n)").unwrap()].matches("\n\t.param").count()
    }

    #[test]
    fn slices_are_two_parameters_under_whatever_name() {
        let counts = ["add", "block_sums", "neighbours", "line", "formatted"].map(parameters);
        assert_eq!(counts, [5, 3, 4, 3, 4]);
        assert!(kernel("add").contains("ld.global.nc"), "{}", kernel("add"));
    }

    #[test]
    fn shared_memory_is_declared_and_accessed_as_such() {
        for (name, bytes) in [("ARRAY_", 4 * THREADS), ("PLACES_", 8 * THREADS)] {
            let declarations: Vec<&str> = PTX.lines().filter(|line| line.contains(".shared .align") && line.contains(name)).collect();
            assert_eq!(declarations.len(), 1, "{declarations:?}");
            assert!(declarations[0].ends_with(&format!("[{bytes}];")), "{declarations:?}");
        }
        for name in ["block_sums", "reversed"] {
            let text = kernel(name);
            assert!(text.contains("ld.shared") && text.contains("st.shared"), "{text}");
            assert!(text.contains("bar.sync") || text.contains("barrier.sync"), "{text}");
        }
    }

    #[test]
    fn warps_exchange_values_by_instructions() {
        assert_eq!(kernel("warp_sums").matches("shfl.sync.down").count(), 5);
        assert!(kernel("warp_sums").contains("vote.sync.ballot"));
        assert_eq!(kernel("neighbours").matches("shfl.sync.down").count(), 2);
    }

    #[test]
    fn kernels_are_right_on_a_gpu() {
        match run() {
            Ok(wrong) => assert_eq!(wrong, 0),
            Err(error) if std::env::var_os("WARPSMITH_REQUIRE_GPU").is_none() => println!("not run on a GPU: {error}"),
            Err(error) => panic!("{error}"),
        }
    }
}

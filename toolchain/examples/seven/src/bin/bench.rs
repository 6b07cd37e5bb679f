//! Times each kernel and its twin in CUDA C++ on a GPU, and checks the results of both.
//!
//! `bench FOLDER [TABLE.csv]`: the folder has a file `NAME.cubin` for each `cuda/NAME.cu`.

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use cudarc::driver::{CudaContext, CudaFunction, CudaStream, LaunchConfig, PushKernelArg as _};
use cudarc::nvrtc::Ptx;
use seven::kernels::{BLOCK, Kernels, nbody, product, scan, transpose};
use seven::{fractions, numbers};
use warpsmith::memory::Four;
use warpsmith::{Buffer, Device, DeviceSlice, Grid, Stream};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// Measurements of each kernel, of which the median counts.
const ROUNDS: usize = 20;
/// How long a measurement takes at least: several launches, so that the time between two does not count.
const AT_LEAST: Duration = Duration::from_millis(4);
/// Blocks of the kernels that take any number of them: full occupancy, several times over.
const BLOCKS: u32 = 8 * 132;

/// An argument of a launch.
#[derive(Clone, Copy)]
enum Argument {
    Address(u64),
    Word(u32),
    Float(f32),
}

fn address<T>(buffer: &DeviceSlice<T>) -> Argument {
    Argument::Address(buffer.address())
}

/// The driver as the twins use it, and the table.
struct Bench {
    stream: Stream,
    kernels: Kernels,
    context: Arc<CudaContext>,
    cuda: Arc<CudaStream>,
    folder: PathBuf,
    rows: Vec<Row>,
}

struct Row {
    example: &'static str,
    is_right: [bool; 2],
    milliseconds: [f64; 2],
    registers: [u32; 2],
}

/// A kernel in CUDA C++.
struct Twin {
    function: CudaFunction,
    stream: Arc<CudaStream>,
}

impl Twin {
    fn launch(&self, grid: Grid, arguments: &[Argument]) -> Result {
        let tuple = |extent: warpsmith::Extent| (extent.x, extent.y, extent.z);
        let config = LaunchConfig {
            grid_dim: tuple(grid.blocks()),
            block_dim: tuple(grid.threads()),
            shared_mem_bytes: 0,
        };
        let mut launch = self.stream.launch_builder(&self.function);
        for argument in arguments {
            match argument {
                Argument::Address(value) => launch.arg(value),
                Argument::Word(value) => launch.arg(value),
                Argument::Float(value) => launch.arg(value),
            };
        }
        // SAFETY: the twins have these parameters; their memory is as large as that of the kernels beside them.
        unsafe { launch.launch(config)? };
        Ok(())
    }

    fn fill_with_zeros<T: warpsmith::DeviceCopy>(&self, buffer: &DeviceSlice<T>) -> Result {
        let bytes = buffer.len() * size_of::<T>();
        // SAFETY: the bytes of the buffer, which outlives the stream's work: every measurement waits.
        unsafe {
            cudarc::driver::result::memset_d8_async(buffer.address(), 0, bytes, self.stream.cu_stream())?;
        }
        Ok(())
    }
}

impl Bench {
    fn new(folder: PathBuf) -> Result<Self> {
        let device = Device::gpu(0)?;
        let (stream, kernels, context) = (device.stream()?, Kernels::load(&device)?, CudaContext::new(0)?);
        let cuda = context.new_stream()?;
        let properties = device.properties();
        println!(
            "{}, driver for CUDA {}.{}, kernels for sm_{}\n",
            properties.name,
            properties.driver.0,
            properties.driver.1,
            kernels.module().architecture().unwrap_or(0)
        );
        Ok(Bench { stream, kernels, context, cuda, folder, rows: Vec::new() })
    }

    fn twin(&self, file: &str, kernel: &str) -> Result<Twin> {
        let path = self.folder.join(format!("{file}.cubin"));
        let binary = fs::read(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        let function = self.context.load_module(Ptx::from_binary(binary))?.load_function(kernel)?;
        Ok(Twin { function, stream: self.cuda.clone() })
    }

    /// Returns the time of one call.
    fn time(&self, calls: u32, rust: &mut impl FnMut() -> Result) -> Result<f64> {
        self.stream.synchronize()?;
        let start = self.stream.record()?;
        (0..calls).try_for_each(|_| rust())?;
        Ok(self.stream.record()?.since(&start)?.as_secs_f64() * 1e3 / calls as f64)
    }

    fn time_twin(&self, calls: u32, twin: &mut impl FnMut() -> Result) -> Result<f64> {
        self.cuda.synchronize()?;
        let start = self.cuda.record_event(Some(CU_EVENT_DEFAULT))?;
        (0..calls).try_for_each(|_| twin())?;
        let end = self.cuda.record_event(Some(CU_EVENT_DEFAULT))?;
        Ok(start.elapsed_ms(&end)? as f64 / calls as f64)
    }

    /// Times both, in turn, and adds a row.
    fn compare(
        &mut self,
        example: &'static str,
        kernel: &str,
        function: &CudaFunction,
        is_right: [bool; 2],
        mut rust: impl FnMut() -> Result,
        mut twin: impl FnMut() -> Result,
    ) -> Result {
        // These are the warm-up, too.
        self.time(3, &mut rust)?;
        let once = self.time(3, &mut rust)?;
        let calls = (AT_LEAST.as_secs_f64() * 1e3 / once).ceil().clamp(1.0, 1000.0) as u32;
        self.time_twin(3, &mut twin)?;
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            times[0].push(self.time(calls, &mut rust)?);
            times[1].push(self.time_twin(calls, &mut twin)?);
        }
        let milliseconds = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            (times[ROUNDS / 2 - 1] + times[ROUNDS / 2]) / 2.0
        });
        let own = self.kernels.module().prepare(kernel)?.map_or(0, |facts| facts.registers);
        let registers = [own, function.num_regs()? as u32];
        self.rows.push(Row { example, is_right, milliseconds, registers });
        Ok(())
    }

    /// Runs both once and returns what each wrote to `out`, which is zeros before.
    fn results<T: warpsmith::DeviceCopy>(
        &self,
        twin: &Twin,
        out: &mut Buffer<T>,
        mut rust: impl FnMut(&mut Buffer<T>) -> Result,
        mut other: impl FnMut(&Buffer<T>) -> Result,
    ) -> Result<[Vec<T>; 2]> {
        self.stream.fill_bytes(out, 0)?;
        rust(out)?;
        let own = self.stream.download(out)?;
        twin.fill_with_zeros(out)?;
        other(out)?;
        self.cuda.synchronize()?;
        Ok([own, self.stream.download(out)?])
    }

    fn saxpy(&mut self, n: usize) -> Result {
        let twin = self.twin("saxpy", "saxpy")?;
        let (stream, kernels) = (self.stream.clone(), self.kernels.clone());
        let xs = fractions(n);
        let (x, mut y) = (stream.upload(&xs)?, stream.zeroed(n)?);
        let grid = Grid::covering(n);
        let own = |y: &mut Buffer<f32>| Ok(kernels.saxpy(&stream, grid, (0.5, &x, y))?);
        let other = |y: &Buffer<f32>| {
            twin.launch(grid, &[Argument::Float(0.5), address(&x), address(y), Argument::Word(n as u32)])
        };
        let results = self.results(&twin, &mut y, own, other)?;
        let is_right = results.map(|ys| xs.iter().zip(&ys).all(|(x, y)| *y == 0.5 * x));
        let spare = stream.zeroed::<f32>(n)?;
        self.compare("saxpy", "saxpy", &twin.function, is_right, || own(&mut y), || other(&spare))
    }

    fn product(&mut self, n: u32) -> Result {
        let twin = self.twin("product", "product")?;
        let (stream, kernels) = (self.stream.clone(), self.kernels.clone());
        let (width, size) = (n as usize, (n * n) as usize);
        let (left, right) = (fractions(size), fractions(2 * size).split_off(size));
        let (a, b, mut c) = (stream.upload(&left)?, stream.upload(&right)?, stream.zeroed(size)?);
        let grid = product::grid(n);
        let own = |c: &mut Buffer<f32>| Ok(kernels.product(&stream, grid, (&a, &b, n, (c, n)))?);
        let other =
            |c: &Buffer<f32>| twin.launch(grid, &[address(&a), address(&b), Argument::Word(n), address(c)]);
        let results = self.results(&twin, &mut c, own, other)?;
        let is_right = results.map(|c| {
            // An element of each row, bit by bit.
            (0..width).all(|row| {
                let column = row * 7919 % width;
                let products = (0..width).map(|k| (left[row * width + k], right[k * width + column]));
                c[row * width + column] == products.fold(0.0, |sum: f32, (a, b)| a.mul_add(b, sum))
            })
        });
        let spare = stream.zeroed(size)?;
        self.compare("product", "product", &twin.function, is_right, || own(&mut c), || other(&spare))
    }

    fn reduction(&mut self, n: usize) -> Result {
        let twin = self.twin("reduction", "block_sums")?;
        let (stream, kernels) = (self.stream.clone(), self.kernels.clone());
        let xs: Vec<f32> = numbers(n).iter().map(|x| (x % 64) as f32).collect();
        let exact: f64 = xs.iter().map(|x| *x as f64).sum();
        let x = stream.upload(&xs)?;
        let mut sums = stream.zeroed(BLOCKS as usize)?;
        let mut sum = stream.zeroed(1)?;
        let (many, one) = (Grid::new(BLOCKS, BLOCK), Grid::new(1, BLOCK));
        let spare = stream.zeroed::<f32>(BLOCKS as usize)?;
        let mut own = |sum: &mut Buffer<f32>| -> Result {
            kernels.block_sums(&stream, many, (&x, &mut sums))?;
            Ok(kernels.block_sums(&stream, one, (&sums, sum))?)
        };
        let other = |sum: &Buffer<f32>| {
            twin.launch(many, &[address(&x), Argument::Word(n as u32), address(&spare)])?;
            twin.launch(one, &[address(&spare), Argument::Word(BLOCKS), address(sum)])
        };
        let results = self.results(&twin, &mut sum, &mut own, other)?;
        let is_right = results.map(|sum| (sum[0] as f64 - exact).abs() < 1e-5 * exact);
        let spare_sum = stream.zeroed::<f32>(1)?;
        self.compare(
            "reduction",
            "block_sums",
            &twin.function,
            is_right,
            || own(&mut sum),
            || other(&spare_sum),
        )
    }

    fn histogram(&mut self, words: usize) -> Result {
        let twin = self.twin("histogram", "histogram")?;
        let (stream, kernels) = (self.stream.clone(), self.kernels.clone());
        let mut hash = 0x9e37_79b9_u32;
        let mut next = |number: u32| {
            hash = (hash ^ number).rotate_left(7).wrapping_mul(0x85eb_ca6b);
            hash ^ hash >> 15
        };
        let all: Vec<u32> = numbers(words).into_iter().map(&mut next).collect();
        let (x, mut counts) = (stream.upload(&all)?, stream.zeroed(256)?);
        let grid = Grid::new(BLOCKS, BLOCK);
        let own = |counts: &mut Buffer<u32>| Ok(kernels.histogram(&stream, grid, (&x, counts))?);
        let other = |counts: &Buffer<u32>| {
            twin.launch(grid, &[address(&x), Argument::Word(words as u32), address(counts)])
        };
        let results = self.results(&twin, &mut counts, own, other)?;
        let mut expected = vec![0; 256];
        all.iter().flat_map(|word| word.to_le_bytes()).for_each(|byte| expected[byte as usize] += 1);
        let is_right = results.map(|counts| counts == expected);
        let spare = stream.zeroed(256)?;
        self.compare(
            "histogram",
            "histogram",
            &twin.function,
            is_right,
            || own(&mut counts),
            || other(&spare),
        )
    }

    fn scan(&mut self, n: usize) -> Result {
        let twin = self.twin("scan", "scan")?;
        let (stream, kernels) = (self.stream.clone(), self.kernels.clone());
        let xs = numbers(n);
        let grid = scan::grid(n);
        let blocks = grid.blocks().count() as usize;
        let (x, mut y) = (stream.upload(&xs)?, stream.zeroed(n)?);
        let (mut next, mut states) = (stream.zeroed(1)?, stream.zeroed(blocks)?);
        let (other_next, other_states) = (stream.zeroed::<u32>(1)?, stream.zeroed::<u64>(blocks)?);
        let mut own = |y: &mut Buffer<u32>| -> Result {
            stream.fill_bytes(&mut next, 0)?;
            stream.fill_bytes(&mut states, 0)?;
            Ok(kernels.scan(&stream, grid, (&x, y, &mut next, &mut states))?)
        };
        let other = |y: &Buffer<u32>| {
            twin.fill_with_zeros(&other_next)?;
            twin.fill_with_zeros(&other_states)?;
            let (n, next, states) = (Argument::Word(n as u32), address(&other_next), address(&other_states));
            twin.launch(grid, &[address(&x), n, address(y), next, states])
        };
        let results = self.results(&twin, &mut y, &mut own, other)?;
        let is_right = results.map(|ys| {
            let mut sum = 0u32;
            xs.iter().zip(&ys).all(|(x, y)| {
                sum = sum.wrapping_add(*x);
                sum == *y
            })
        });
        let spare = stream.zeroed::<u32>(n)?;
        self.compare("scan", "scan", &twin.function, is_right, || own(&mut y), || other(&spare))
    }

    fn transpose(&mut self, side: u32) -> Result {
        let twin = self.twin("transpose", "transpose")?;
        let (stream, kernels) = (self.stream.clone(), self.kernels.clone());
        let width = side as usize;
        let xs = fractions(width * width);
        let (x, mut y) = (stream.upload(&xs)?, stream.zeroed(width * width)?);
        let grid = transpose::grid(side, side);
        let own = |y: &mut Buffer<f32>| Ok(kernels.transpose(&stream, grid, (&x, side, side, y))?);
        let sides = Argument::Word(side);
        let other = |y: &Buffer<f32>| twin.launch(grid, &[address(&x), sides, sides, address(y)]);
        let results = self.results(&twin, &mut y, own, other)?;
        let at = |i: usize| (i % width) * width + i / width;
        let is_right = results.map(|ys| ys.iter().enumerate().all(|(i, y)| *y == xs[at(i)]));
        let spare = stream.zeroed(width * width)?;
        self.compare("transpose", "transpose", &twin.function, is_right, || own(&mut y), || other(&spare))
    }

    fn nbody(&mut self, n: usize) -> Result {
        let twin = self.twin("nbody", "accelerations")?;
        let (stream, kernels) = (self.stream.clone(), self.kernels.clone());
        let all = nbody::cube(n);
        let (bodies, mut result) = (stream.upload(&all)?, stream.zeroed::<Four<f32>>(n)?);
        let grid = Grid::covering_by(n, BLOCK);
        let own = |result: &mut Buffer<Four<f32>>| {
            Ok(kernels.accelerations(&stream, grid, (&bodies, 1e-3, result))?)
        };
        let other = |result: &Buffer<Four<f32>>| {
            let (n, softening) = (Argument::Word(n as u32), Argument::Float(1e-3));
            twin.launch(grid, &[address(&bodies), n, softening, address(result)])
        };
        let results = self.results(&twin, &mut result, own, other)?;
        let is_right = results.map(|result| {
            (0..n).step_by(n / 64).all(|i| {
                let expected = nbody::expected(&all, 1e-3, i);
                result[i].0.iter().zip(expected).all(|(own, expected)| (*own as f64 - expected).abs() < 1e-3)
            })
        });
        let spare = stream.zeroed::<Four<f32>>(n)?;
        let (own, other) = (|| own(&mut result), || other(&spare));
        self.compare("nbody", "accelerations", &twin.function, is_right, own, other)
    }
}

/// Returns the table as Markdown and as CSV.
fn tables(rows: &[Row]) -> [String; 2] {
    let mut markdown = String::from(
        "| example | right (Rust, nvcc) | ms, Rust | ms, nvcc | ratio | registers |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    let mut csv =
        String::from("example,right_rust,right_nvcc,ms_rust,ms_nvcc,ratio,registers_rust,registers_nvcc\n");
    for row in rows {
        let [own, other] = row.milliseconds;
        let [own_right, other_right] = row.is_right.map(|is_right| if is_right { "yes" } else { "no" });
        let ([own_registers, other_registers], name, ratio) = (row.registers, row.example, own / other);
        // Writing to a String cannot fail.
        let _ = writeln!(
            markdown,
            "| {name} | {own_right}, {other_right} | {own:.4} | {other:.4} | {ratio:.3} | {own_registers} / {other_registers} |"
        );
        let _ = writeln!(
            csv,
            "{name},{own_right},{other_right},{own:.5},{other:.5},{ratio:.4},{own_registers},{other_registers}"
        );
    }
    [markdown, csv]
}

fn main() -> Result {
    let mut arguments = env::args_os().skip(1);
    let folder =
        arguments.next().ok_or("usage: bench FOLDER [TABLE.csv]; the folder has the twins' cubins")?;
    let mut bench = Bench::new(folder.into())?;
    bench.saxpy(1 << 26)?;
    bench.product(2048)?;
    bench.reduction(1 << 26)?;
    bench.histogram(1 << 26)?;
    bench.scan(1 << 26)?;
    bench.transpose(8192)?;
    bench.nbody(1 << 16)?;
    let [markdown, csv] = tables(&bench.rows);
    println!("{markdown}\n{csv}");
    if let Some(path) = arguments.next() {
        fs::write(path, csv)?;
    }
    if bench.rows.iter().any(|row| row.is_right.contains(&false)) {
        return Err("a result is wrong".into());
    }
    Ok(())
}

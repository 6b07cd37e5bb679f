//! Walks of neighbourhood search on a GPU. Solutions, tabu lists and best solutions stay in device memory for the whole run; a
//! batch of iterations is one launch, after which the host reads a [`WalkState`] per walk.

use std::marker::PhantomData;
use std::time::{Duration, Instant};

use antwarp_core::kernels::WalkArgs;
use antwarp_core::papers::search::{Layout, WalkRules, WalkState};
use warpsmith::Function;

use super::colony::WARP;
use crate::backend::cpu::fresh;
use crate::backend::cuda::device::GRACE;
use crate::backend::cuda::{
    Buffer, Device, EvaluateNeighbors, Launch, TEAM_BYTES, Walks as WalksKernel, buffers,
};
use crate::engine::memory::allocate;
use crate::engine::tuning::{Key, Shape, Tuner, now};
use crate::engine::{
    BackendError, Enough, Neighbors, Outline, Plain, SavedWalks, State, Tables, Walks, WalksSpec, save_walks,
};
use crate::instance::counted;
use crate::memory::bytes;

/// Bytes of a block's shared memory before a replica: the team's, and two rows with a candidate per warp.
pub const CREW_BYTES: u32 = (TEAM_BYTES + 2 * WARP * CANDIDATE * 8).next_multiple_of(16);
/// Words of a candidate, of 8 bytes.
const CANDIDATE: u32 = 3;
/// Most threads of a block.
const MOST_THREADS: u32 = 1024;

macro_rules! names {
    ($($problem:ident: $type:ty, $threads:literal;)*) => { [$(stringify!($problem)),*] };
}

/// Returns the names of all kernels that walks may load.
pub fn kernel_names() -> Vec<String> {
    let of = |problem| [walk_kernel(problem, false), format!("block_evaluate_{problem}")];
    let in_shared = IN_SHARED.iter().map(|problem| walk_kernel(problem, true));
    let nested =
        antwarp_core::with_nested_problems!(names).into_iter().map(|problem| walk_kernel(problem, false));
    antwarp_core::with_problems!(names).into_iter().flat_map(of).chain(in_shared).chain(nested).collect()
}

/// Problems that have a kernel only for replicas in shared memory.
const IN_SHARED: &[&str] = &antwarp_core::with_problems_in_shared!(names);

/// Returns the name of the kernel that walks through solutions of a problem, given by its `NAME`, with or without replicas in
/// shared memory.
pub fn walk_kernel(problem: &str, in_shared: bool) -> String {
    let is_for_shared = in_shared && IN_SHARED.contains(&problem);
    format!("block_walk_{problem}{}", if is_for_shared { "_shared" } else { "" })
}

/// Returns the number of words where the blocks of a walk meet: a count of arrivals and two candidates per block.
fn slots(parts: u32) -> usize {
    1 + 2 * (CANDIDATE * parts) as usize
}

/// A kernel and the shapes in which it can be launched.
struct Fit {
    in_shared: bool,
    shared: u32,
    shapes: Vec<Shape>,
}

impl Fit {
    /// Finds the shapes of `walks` walks, with replicas in shared memory if `in_shared`, fewest blocks first: a power of two
    /// threads per block, or every multiple of a warp if `all`.
    fn new(
        device: &Device,
        function: &Function,
        (walks, neighbors, all): (u32, u64, bool),
        (in_shared, replica): (bool, u32),
    ) -> Fit {
        let shared = CREW_BYTES + if in_shared { replica } else { 0 };
        let most_threads = function.facts().block_threads;
        let resident = |threads: u32| {
            let blocks = function.blocks_per_multiprocessor(threads, shared);
            blocks.unwrap_or(0) * device.multiprocessors()
        };
        let mut shapes = Vec::new();
        let mut parts = 1u32;
        let mut left = true;
        while left {
            left = false;
            let multiples = (1..=MOST_THREADS / WARP).rev().map(|warps| warps * WARP);
            let is_tried = |&threads: &u32| threads <= most_threads && (all || threads.is_power_of_two());
            for threads in multiples.filter(is_tried) {
                // With one block per walk, blocks may wait for others to end; several must run at the same time.
                let fits = parts == 1 || u64::from(walks) * u64::from(parts) <= u64::from(resident(threads));
                // Except in the last warp, more threads than neighbours have nothing to do.
                let useful = u64::from(parts) * u64::from(threads) < 2 * neighbors.max(32);
                if fits && useful && resident(threads) > 0 {
                    shapes.push(Shape { parts, threads });
                    left = true;
                }
            }
            parts = if parts < device.multiprocessors() {
                (2 * parts).min(device.multiprocessors())
            } else {
                2 * parts
            };
        }
        Fit { in_shared, shared, shapes }
    }
}

/// Walks in device memory.
pub struct CudaWalks<'p, E> {
    device: &'p Device,
    spec: WalksSpec,
    shape: antwarp_core::papers::problem::Shape,
    layout: Layout,
    common_bytes: usize,
    n: usize,
    kernel: WalksKernel,
    fit: Fit,
    tuner: Tuner,
    /// Number of blocks that `memory` and `slots` are for.
    parts: u32,
    tables: Buffer<u8>,
    states: [Buffer<WalkState>; 2],
    bests: [Buffer<u8>; 2],
    solutions: Buffer<u8>,
    accepted: Buffer<u8>,
    traces: Buffer<u32>,
    memory: Buffer<u8>,
    common: Buffer<u8>,
    slots: Buffer<u64>,
    known: Vec<WalkState>,
    element: PhantomData<E>,
}

impl<'p, E: Plain> CudaWalks<'p, E> {
    /// Loads the kernel and allocates the walks, which start at random. The outline must be that of the tables' problem and the
    /// spec, and `E` the type of its elements.
    ///
    /// # Errors
    /// If the kernel is rejected or cannot be launched in any shape, or memory is short.
    pub fn new(
        device: &'p Device,
        tables: &'p Tables,
        spec: &WalksSpec,
        &Outline { name, layout, neighbors, elements: n, traces, common }: &Outline,
    ) -> Result<Self, BackendError> {
        let in_shared = layout.bytes + CREW_BYTES <= device.shared_limit();
        let name = walk_kernel(name, in_shared);
        let kernel = WalksKernel { function: device.function(&name)?, name };
        let asked = (spec.walks, neighbors, spec.retune_all);
        let fit = Fit::new(device, &kernel.function, asked, (in_shared, layout.bytes));
        if fit.shapes.is_empty() {
            return Err(BackendError::Shape { kernel: kernel.name, needed: bytes(u64::from(layout.bytes)) });
        }
        let machine = device.machine();
        let key = Key::new(&machine.device, machine.units as u32, &kernel.name, tables, spec, neighbors);
        let tuner = Tuner::new(key, fit.shapes.clone(), spec);
        let walks = spec.walks as usize;
        let elements = walks * n * size_of::<E>();
        let s = device.stream();
        let known = fresh(spec.walks);
        let states = || Buffer::from_slice(s, "the states", &known);
        let of_walks = || Buffer::zeroed(s, "the walks", elements);
        Ok(CudaWalks {
            device,
            spec: spec.clone(),
            shape: tables.shape,
            layout,
            common_bytes: common.next_multiple_of(16),
            n,
            fit,
            tuner,
            parts: 0,
            tables: Buffer::from_slice(s, "the instance", tables.bytes())?,
            states: [states()?, states()?],
            bests: [of_walks()?, of_walks()?],
            solutions: of_walks()?,
            accepted: of_walks()?,
            traces: Buffer::zeroed(s, "the tabu lists", walks * traces)?,
            memory: Buffer::zeroed(s, "the replicas", 0)?,
            common: Buffer::zeroed(s, "the shared notes", walks * common.next_multiple_of(16))?,
            slots: Buffer::zeroed(s, "the candidates", 0)?,
            kernel,
            known,
            element: PhantomData,
        })
    }

    /// Makes room for this many blocks per walk, unless there is.
    ///
    /// # Errors
    /// If memory is short.
    fn make_room(&mut self, parts: u32) -> Result<(), BackendError> {
        if self.parts == parts {
            return Ok(());
        }
        let (s, walks) = (self.device.stream(), self.spec.walks as usize);
        // Arrivals start at 0, a multiple of any number of blocks.
        self.slots = Buffer::zeroed(s, "the candidates", walks * slots(parts))?;
        if !self.fit.in_shared {
            let replicas = walks * parts as usize * self.layout.bytes as usize;
            // The old one is freed first.
            self.memory = Buffer::zeroed(s, "the replicas", 0)?;
            self.memory = Buffer::zeroed(s, "the replicas", replicas)?;
        }
        self.parts = parts;
        Ok(())
    }

    /// Runs one batch in one shape, and reads the states.
    ///
    /// # Errors
    /// [`BackendError::Launch`] if the launch is rejected, which changes no walk; [`BackendError::Busy`] if it was abandoned; or
    /// if memory is short, or the kernel fails.
    fn batch(&mut self, rules: &WalkRules, shape: Shape, enough: Enough) -> Result<(), BackendError> {
        self.make_room(shape.parts)?;
        let args = WalkArgs {
            shape: self.shape,
            rules: *rules,
            layout: self.layout,
            common: self.common_bytes as u64,
            parts: shape.parts,
            given: 0,
            in_shared: self.fit.in_shared.into(),
            padding: 0,
        };
        let launch =
            Launch { grid: self.spec.walks * shape.parts, block: shape.threads, shared: self.fit.shared };
        let ([old_states, states], [old_bests, bests]) = (&mut self.states, &mut self.bests);
        // SAFETY: `new` and `make_room` made the arrays for these walks and blocks.
        unsafe {
            self.kernel.launch_as(
                shape.parts > 1,
                self.device.stream(),
                launch,
                args,
                buffers::Walks {
                    tables: &self.tables,
                    old_states,
                    old_bests,
                    states,
                    bests,
                    solutions: &mut self.solutions,
                    accepted: &mut self.accepted,
                    traces: &mut self.traces,
                    memory: &mut self.memory,
                    common: &mut self.common,
                    slots: &mut self.slots,
                },
            )?;
        }
        self.device.wait(enough, GRACE)?;
        self.states.reverse();
        self.bests.reverse();
        self.states[0].read(self.device.stream(), &mut self.known)
    }
}

impl<E: Plain> Walks<E> for CudaWalks<'_, E> {
    /// A launch is not cut short, but abandoned if it goes on after an interrupt by `enough`; and none starts then.
    fn run(&mut self, rules: &WalkRules, enough: Enough) -> Result<&[WalkState], BackendError> {
        let mut rules = *rules;
        let end = rules.end;
        while let Some(now) = now(&self.known).filter(|&now| now < end && !enough()) {
            let trial = self.tuner.next(now, end);
            rules.end = trial.end;
            let begin = Instant::now();
            match self.batch(&rules, trial.shape, enough) {
                Ok(()) => self.tuner.took(trial, begin.elapsed(), trial.end - now),
                Err(BackendError::Launch { .. }) if self.tuner.failed(trial) => continue,
                Err(error) => return Err(error),
            }
            // Rivals compare only once.
            rules.rival_bit = 0;
        }
        Ok(&self.known)
    }

    fn save(&mut self, state: &mut State) -> Result<(), BackendError> {
        self.device.check_idle()?;
        let s = self.device.stream();
        let read = |buffer: &Buffer<u8>| -> Result<Vec<u8>, BackendError> {
            let mut bytes = allocate("a checkpoint", buffer.len())?;
            buffer.read(s, &mut bytes)?;
            Ok(bytes)
        };
        let (bests, solutions) = (read(&self.bests[0])?, read(&self.solutions)?);
        let accepts = self.spec.strategy.accepts_optima();
        let accepted = if accepts { read(&self.accepted)? } else { Vec::new() };
        let mut traces = allocate("a checkpoint", self.traces.len())?;
        if !traces.is_empty() {
            self.traces.read(s, &mut traces)?;
        }
        save_walks(state, &self.known, [&bests, &solutions, &accepted], &traces)
    }

    fn restore(&mut self, saved: SavedWalks<E>) -> Result<(), BackendError> {
        let s = self.device.stream();
        self.states[0].write(s, &saved.states)?;
        self.bests[0].write(s, bytes_of(&saved.bests))?;
        self.solutions.write(s, bytes_of(&saved.solutions))?;
        if !saved.accepted.is_empty() {
            self.accepted.write(s, bytes_of(&saved.accepted))?;
        }
        if !saved.traces.is_empty() {
            self.traces.write(s, &saved.traces)?;
        }
        self.known = saved.states;
        Ok(())
    }

    fn best(&mut self, walk: u32) -> Result<Vec<E>, BackendError> {
        self.device.check_idle()?;
        let size = self.n * size_of::<E>();
        let mut raw = vec![0u8; size];
        self.bests[0].read_from(self.device.stream(), walk as usize * size, &mut raw)?;
        // SAFETY: elements are plain, and were written as such.
        Ok((0..self.n).map(|i| unsafe { raw.as_ptr().cast::<E>().add(i).read_unaligned() }).collect())
    }

    fn describe(&self) -> String {
        let Shape { parts, threads } = self.tuner.best();
        format!(
            "{}, {} of {threads} threads per walk ({} trials), {} registers per thread, \
             {} per replica in {} memory",
            counted(self.spec.walks as usize, "walk"),
            counted(parts as usize, "block"),
            self.tuner.trials(),
            self.kernel.function.facts().registers,
            bytes(u64::from(self.layout.bytes)),
            if self.fit.in_shared { "shared" } else { "global" },
        )
    }
}

/// Returns the bytes of elements.
fn bytes_of<E: Plain>(elements: &[E]) -> &[u8] {
    // SAFETY: elements are plain.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// Evaluates neighbours on the device and sends their costs to the host.
pub struct CudaNeighbors<'p, E> {
    device: &'p Device,
    spec: WalksSpec,
    shape: antwarp_core::papers::problem::Shape,
    layout: Layout,
    kernel: EvaluateNeighbors,
    launch: Launch,
    tables: Buffer<u8>,
    solution: Buffer<u8>,
    given: Buffer<u8>,
    common: Buffer<u8>,
    slots: Buffer<u64>,
    device_costs: Buffer<u64>,
    costs: Vec<u64>,
    copies: Duration,
    kernels: Duration,
    element: PhantomData<E>,
}

impl<'p, E: Plain> CudaNeighbors<'p, E> {
    /// Loads the kernel and allocates its buffers. The outline and `E` are as for [`CudaWalks::new`].
    ///
    /// # Errors
    /// If the kernel is rejected or cannot be launched in any shape, a replica does not fit in shared memory, or memory is short.
    pub fn new(
        device: &'p Device,
        tables: &'p Tables,
        spec: &WalksSpec,
        &Outline { name, layout, neighbors, elements: n, common, .. }: &Outline,
    ) -> Result<Self, BackendError> {
        let name = format!("block_evaluate_{name}");
        let refused = || BackendError::Shape { kernel: name.clone(), needed: bytes(u64::from(layout.bytes)) };
        if layout.bytes + CREW_BYTES > device.shared_limit() {
            return Err(refused());
        }
        let function = device.function(&name)?;
        let fit = Fit::new(device, &function, (1, neighbors, false), (true, layout.bytes));
        // The paper has one thread per neighbour, 256 per block.
        let asked = spec.shape.and_then(|shape| shape.threads).unwrap_or(256);
        let fitting = fit.shapes.iter().filter(|shape| shape.threads <= asked);
        let shape = fitting.max_by_key(|shape| (shape.threads, shape.parts)).or(fit.shapes.first());
        let shape = *shape.ok_or_else(refused)?;
        let s = device.stream();
        let costs = neighbors as usize + 1;
        Ok(CudaNeighbors {
            device,
            spec: spec.clone(),
            shape: tables.shape,
            layout,
            launch: Launch { grid: shape.parts, block: shape.threads, shared: fit.shared },
            kernel: EvaluateNeighbors { name, function },
            tables: Buffer::from_slice(s, "the instance", tables.bytes())?,
            solution: Buffer::zeroed(s, "the solution", n * size_of::<E>())?,
            given: Buffer::zeroed(s, "the neighbours", 0)?,
            common: Buffer::zeroed(s, "the shared notes", common)?,
            slots: Buffer::zeroed(s, "the candidates", slots(shape.parts))?,
            device_costs: Buffer::zeroed(s, "the costs", costs)?,
            costs: vec![0; costs],
            copies: Duration::ZERO,
            kernels: Duration::ZERO,
            element: PhantomData,
        })
    }
}

impl<E: Plain> Neighbors<E> for CudaNeighbors<'_, E> {
    /// A launch is not cut short, but abandoned if it goes on after an interrupt by `enough`.
    fn costs(
        &mut self,
        solution: &[E],
        given: &[E],
        rules: &WalkRules,
        enough: Enough,
    ) -> Result<Option<&[u64]>, BackendError> {
        let begin = Instant::now();
        let stream = self.device.stream();
        self.solution.write(stream, bytes_of(solution))?;
        if !given.is_empty() {
            if self.given.is_empty() {
                self.given = Buffer::zeroed(stream, "the neighbours", size_of_val(given))?;
            }
            self.given.write(stream, bytes_of(given))?;
        }
        let copied = begin.elapsed();
        let args = WalkArgs {
            shape: self.shape,
            rules: *rules,
            layout: self.layout,
            common: self.common.len() as u64,
            parts: self.launch.grid,
            given: (!given.is_empty()).into(),
            in_shared: 1,
            padding: 0,
        };
        // SAFETY: `new` made the arrays for this problem.
        unsafe {
            self.kernel.launch_as(
                self.launch.grid > 1,
                stream,
                self.launch,
                args,
                buffers::EvaluateNeighbors {
                    tables: &self.tables,
                    solution: &self.solution,
                    given: &self.given,
                    common: &mut self.common,
                    slots: &mut self.slots,
                    costs: &mut self.device_costs,
                },
            )?;
        }
        match self.device.wait(enough, GRACE) {
            Err(BackendError::Busy) => return Ok(None),
            waited => waited?,
        }
        let ran = begin.elapsed();
        self.device_costs.read(stream, &mut self.costs)?;
        self.kernels += ran - copied;
        self.copies += copied + (begin.elapsed() - ran);
        Ok(Some(&self.costs))
    }

    fn phases(&self) -> (Duration, Duration) {
        (self.copies, self.kernels)
    }

    fn describe(&self) -> String {
        format!(
            "{} of {} threads evaluate, the host chooses ({})",
            counted(self.launch.grid as usize, "block"),
            self.launch.block,
            counted(self.spec.walks as usize, "walk")
        )
    }
}

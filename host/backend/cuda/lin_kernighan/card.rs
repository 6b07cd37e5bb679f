//! One GPU's part of a run of chained Lin-Kernighan: its kernels, its arrays, and the launches of a round.

use std::ops::Range;

use antwarp_core::kernels::TrialArgs;
use antwarp_core::lin_kernighan::cuts::MAX_SEGMENTS;
use antwarp_core::lin_kernighan::merge::{Merged, bit_words, pairs};
use antwarp_core::lin_kernighan::trial::{self, TrialRound, packed};
use warpsmith::{Event, Stream};

use super::super::device::LONG_GRACE;
use super::super::error::failed;
use super::super::tables::{device_matrix, place_bytes};
use super::super::{
    Buffer, Device, Launch, PackChanges, PlaceNodes, PlanMerge, RunTrials, TEAM_BYTES, TakeChanges,
    UnpackChanges, buffers,
};
use super::Begin;
use crate::engine::lin_kernighan::Spec;
use crate::engine::{BackendError, Enough, LocalSearch, Places, Problem};

/// Warps of a block that makes trials.
pub(super) const WARPS: u32 = 4;
/// Nodes of a tour per block that plans a merge.
const NODES_A_BLOCK: u32 = 2048;
/// Bytes of shared memory of a block that makes trials.
const SHARED: u32 = 4 * trial::WORDS * WARPS;

struct Kernels {
    run: RunTrials,
    take: TakeChanges,
    pack: PackChanges,
    unpack: UnpackChanges,
    plan: PlanMerge,
    place: PlaceNodes,
}

/// Returns the names of the kernels for places of this name, in the order of [`Kernels::load`]; without a local search, for
/// Lin-Kernighan moves.
pub(super) fn kernels_for(geometry: &str, local_search: Option<LocalSearch>) -> [String; 6] {
    let reach = if local_search.is_some() { "shallow" } else { "deep" };
    let [run, place] = [format!("block_run_trials_{reach}"), "grid_place_nodes".to_string()]
        .map(|kernel| format!("{kernel}_{geometry}"));
    let [take, pack, unpack, plan] = OF_ALL_PLACES.map(String::from);
    [run, place, take, pack, unpack, plan]
}

/// The kernels that are the same for all kinds of places.
pub(super) const OF_ALL_PLACES: [&str; 4] =
    ["grid_take_changes", "grid_pack_changes", "grid_unpack_changes", "blocks_plan_merge"];

impl Kernels {
    fn load(
        device: &Device,
        problem: &Problem,
        local_search: Option<LocalSearch>,
    ) -> Result<Kernels, BackendError> {
        let [run, place, take, pack, unpack, plan] =
            kernels_for(problem.places().kernel_name(), local_search);
        let load = |name: String| device.function(&name).map(|function| (name, function));
        let (name, function) = load(run)?;
        let run = RunTrials { name, function };
        let (name, function) = load(take)?;
        let take = TakeChanges { name, function };
        let (name, function) = load(pack)?;
        let pack = PackChanges { name, function };
        let (name, function) = load(unpack)?;
        let unpack = UnpackChanges { name, function };
        let (name, function) = load(plan)?;
        let plan = PlanMerge { name, function };
        let (name, function) = load(place)?;
        let place = PlaceNodes { name, function };
        Ok(Kernels { run, take, pack, unpack, plan, place })
    }
}

/// The arrays of a GPU, under the kernels' names. Those of tours and of trials have the parts of all its tours, concatenated.
struct Buffers {
    lists: Buffer<u32>,
    near: Buffer<i32>,
    places: Buffer<u8>,
    points: Buffer<[f64; 3]>,
    matrix: Buffer<i32>,
    order: Buffer<u32>,
    ahead: Buffer<i32>,
    position: Buffer<u32>,
    next_order: Buffer<u32>,
    next_ahead: Buffer<i32>,
    started: Buffer<u32>,
    gain: Buffer<i64>,
    count: Buffer<u32>,
    cuts: Buffer<[u32; 3]>,
    claims: Buffer<u64>,
    bits: Buffer<u32>,
    cuts_before_word: Buffer<u32>,
    cut_of_position: Buffer<u32>,
    cut_positions: Buffer<u32>,
    segment_start: Buffer<u32>,
    successor: Buffer<u32>,
    distance_or_cycle: Buffer<u32>,
    merged: Buffer<Merged>,
    costs: Buffer<i64>,
    arrivals: Buffer<u64>,
    partials: Buffer<u64>,
    best: Buffer<u32>,
}

impl Buffers {
    /// Makes the arrays for the start tours in `begin`.
    fn new(
        device: &Device,
        s: &Stream,
        problem: &Problem,
        spec: &Spec,
        begin: &Begin,
    ) -> Result<Buffers, BackendError> {
        let (n, chains) = (problem.n() as usize, begin.costs.len());
        let numbered = matches!(problem.places(), Places::Numbered(_));
        let matrix = if numbered { device_matrix(problem) } else { Vec::new() };
        let points = if numbered { problem.points() } else { &[] };
        let (what, all) = ("the tours", n * chains);
        let numbers = |len: usize| Buffer::<u32>::zeroed(s, what, len);
        let trials = spec.trials as usize * chains;
        let words = bit_words(problem.n()) as usize * chains;
        let pairs = pairs(problem.n()) as usize * chains;
        Ok(Buffers {
            lists: Buffer::from_slice(s, "the neighbour lists", problem.neighbors())?,
            near: Buffer::from_slice(s, "the neighbour lists", &problem.neighbor_lengths())?,
            places: Buffer::from_slice(s, "the coordinates", &place_bytes(problem.places()))?,
            points: Buffer::from_slice(s, "the coordinates", points)?,
            matrix: Buffer::from_slice(s, "the distance matrix", &matrix)?,
            order: Buffer::from_slice(s, what, &begin.order)?,
            ahead: Buffer::from_slice(s, what, &begin.ahead)?,
            position: Buffer::from_slice(s, what, &begin.position)?,
            next_order: numbers(all)?,
            next_ahead: Buffer::zeroed(s, what, all)?,
            started: numbers(1)?,
            gain: Buffer::zeroed(s, "the trials", trials)?,
            count: Buffer::zeroed(s, "the trials", trials)?,
            cuts: Buffer::zeroed(s, "the trials", trials * MAX_SEGMENTS as usize)?,
            claims: Buffer::zeroed(s, what, all)?,
            bits: numbers(words)?,
            cuts_before_word: numbers(words)?,
            cut_of_position: numbers(all)?,
            cut_positions: numbers(all)?,
            segment_start: numbers(all)?,
            successor: numbers(pairs)?,
            distance_or_cycle: numbers(pairs)?,
            merged: Buffer::zeroed(s, what, chains)?,
            costs: Buffer::from_slice(s, what, &begin.costs)?,
            arrivals: Buffer::zeroed(s, what, chains)?,
            partials: Buffer::zeroed(s, what, chains * device.multiprocessors() as usize)?,
            best: numbers(n)?,
        })
    }
}

/// The results of trials, as [`packed`] words.
struct Words {
    /// The results of this GPU's trials.
    own: Buffer<u32>,
    /// One element: the words in use.
    used: Buffer<u32>,
    /// The results of all, and the start of each change.
    all: Buffer<u32>,
    starts: Buffer<u32>,
}

/// One GPU with its tours, which stay in its memory for the whole run.
///
/// Its methods fail if the driver does; those that wait or read, also if a kernel queued before failed.
pub(super) struct Card<'p> {
    device: &'p Device,
    stream: Stream,
    problem: &'p Problem,
    local_search: Option<LocalSearch>,
    kernels: Kernels,
    buffers: Buffers,
    /// The words for exchanging results, where other processes have the same tour.
    words: Option<Words>,
    /// The numbers of its tours among those of all GPUs.
    chains: Range<u32>,
    /// Blocks that make trials at the same time.
    blocks: u32,
    /// Recorded when all its trials of a round are made.
    made: Event,
    /// Recorded when it has the results of other GPUs in the round.
    taken: Event,
}

impl<'p> Card<'p> {
    /// Loads the kernels, and allocates the arrays for the tours of these numbers, which start as all tours of `begin`.
    ///
    /// # Errors
    /// If the kernels are rejected, or device memory is short.
    pub(super) fn new(
        device: &'p Device,
        problem: &'p Problem,
        (spec, chains): (&Spec, Range<u32>),
        begin: &Begin,
    ) -> Result<Card<'p>, BackendError> {
        // Kernels get the number of tours from `chains`, and arrays their sizes from `begin`.
        let (tours, nodes) = (chains.len(), chains.len() * problem.n() as usize);
        assert_eq!((begin.costs.len(), begin.order.len()), (tours, nodes), "start tours, and their nodes");
        let kernels = Kernels::load(device, problem, spec.local_search)?;
        let blocks = kernels.run.function.blocks_per_multiprocessor(32 * WARPS, SHARED);
        let blocks = blocks.map_err(failed("asking for room on a multiprocessor"))?;
        let stream = device.new_stream()?;
        let event = || stream.mark().map_err(failed("making an event"));
        let (made, taken) = (event()?, event()?);
        Ok(Card {
            device,
            problem,
            local_search: spec.local_search,
            kernels,
            buffers: Buffers::new(device, &stream, problem, spec, begin)?,
            stream,
            words: None,
            chains,
            blocks: blocks.max(1) * device.multiprocessors(),
            made,
            taken,
        })
    }

    /// Returns the number of trials that it makes at the same time.
    pub(super) fn at_once(&self) -> u32 {
        self.blocks * WARPS
    }

    /// Returns the number of registers of a thread that makes trials.
    pub(super) fn registers(&self) -> u32 {
        self.kernels.run.function.facts().registers
    }

    /// Returns the numbers of its tours among those of all GPUs.
    pub(super) fn chains(&self) -> Range<u32> {
        self.chains.clone()
    }

    fn tours(&self) -> u32 {
        self.chains.end - self.chains.start
    }

    fn args(&self, round: TrialRound, trials: Range<u32>) -> TrialArgs {
        TrialArgs {
            round,
            n: self.problem.n(),
            k: self.problem.search_k(),
            chains: self.tours(),
            metric: self.problem.device_metric(),
            reach: self.local_search.unwrap_or_default().reach(),
            first_chain: self.chains.start,
            first: trials.start,
            end: trials.end,
        }
    }

    /// Queues these trials of each of its tours.
    pub(super) fn run(&mut self, round: TrialRound, trials: Range<u32>) -> Result<(), BackendError> {
        let args = self.args(round, trials);
        let blocks = (args.chains * (args.end - args.first)).div_ceil(WARPS).clamp(1, self.blocks);
        let launch = Launch { grid: blocks, block: 32 * WARPS, shared: SHARED };
        let (stream, b) = (&self.stream, &mut self.buffers);
        // SAFETY: `Buffers::new` made the arrays for this problem and at least so many trials.
        unsafe {
            self.kernels.run.launch(
                stream,
                launch,
                args,
                buffers::RunTrials {
                    order: &b.order,
                    position: &b.position,
                    ahead: &b.ahead,
                    lists: &b.lists,
                    near: &b.near,
                    places: &b.places,
                    points: &b.points,
                    matrix: &b.matrix,
                    started: &mut b.started,
                    gain: &mut b.gain,
                    count: &mut b.count,
                    cuts: &mut b.cuts,
                },
            )
        }
    }

    /// Returns a grid with a warp for each of this many trials, up to a useful size.
    fn warps(&self, trials: usize) -> Launch {
        let blocks = (trials as u32).div_ceil(8).clamp(1, 8 * self.device.multiprocessors());
        Launch { grid: blocks, block: 256, shared: 0 }
    }

    /// Queues these trials of its only tour, and the conversion of their results to words, which [`Card::found`] reads.
    pub(super) fn find(&mut self, round: TrialRound, trials: Range<u32>) -> Result<(), BackendError> {
        self.run(round, trials.clone())?;
        let what = "what trials found";
        let words = match &mut self.words {
            Some(words) => words,
            none => {
                let most = self.buffers.count.len() as u32;
                none.insert(Words {
                    own: Buffer::zeroed(&self.stream, what, (most * packed(MAX_SEGMENTS)) as usize)?,
                    used: Buffer::zeroed(&self.stream, what, 1)?,
                    all: Buffer::zeroed(&self.stream, what, 0)?,
                    starts: Buffer::zeroed(&self.stream, what, most as usize)?,
                })
            }
        };
        words.used.write(&self.stream, &[0])?;
        let (args, launch) = (self.args(round, trials.clone()), self.warps(trials.len()));
        let (stream, b) = (&self.stream, &self.buffers);
        let Some(Words { own, used, .. }) = &mut self.words else { return Ok(()) };
        // SAFETY: the arrays are of at least so many trials, and the words as many as those need.
        unsafe {
            self.kernels.pack.launch(
                stream,
                launch,
                args,
                buffers::PackChanges { gain: &b.gain, count: &b.count, cuts: &b.cuts, words: own, used },
            )
        }
    }

    /// Waits, and appends the words of the last [`Card::find`].
    pub(super) fn found(&self, all: &mut Vec<u32>) -> Result<(), BackendError> {
        let Some(words) = &self.words else { return Ok(()) };
        let used = words.used.to_vec(&self.stream)?;
        let first = all.len();
        all.resize(first + used[0] as usize, 0);
        words.own.read(&self.stream, &mut all[first..])
    }

    /// Queues the merge of the results of a round's trials, made here or elsewhere: changes [`packed`] in `all` at these indices.
    /// There must have been a [`Card::find`], which makes the buffers.
    pub(super) fn make(
        &mut self,
        round: TrialRound,
        all: &[u32],
        starts: &[u32],
    ) -> Result<(), BackendError> {
        // There is at most one change per trial, unless something is wrong.
        let starts = &starts[..starts.len().min(self.buffers.count.len())];
        let (args, launch) = (self.args(round, 0..starts.len() as u32), self.warps(starts.len()));
        let (stream, b) = (&self.stream, &mut self.buffers);
        if let Some(words) = &mut self.words {
            if words.all.len() < all.len() {
                words.all = Buffer::zeroed(stream, "what trials found", 2 * all.len())?;
            }
            words.all.write(stream, all)?;
            words.starts.write(stream, starts)?;
            b.count.clear(stream)?;
            // SAFETY: the arrays are of at least so many trials, and each change is of one of them.
            unsafe {
                self.kernels.unpack.launch(
                    stream,
                    launch,
                    args,
                    buffers::UnpackChanges {
                        words: &words.all,
                        starts: &words.starts,
                        gain: &mut b.gain,
                        count: &mut b.count,
                        cuts: &mut b.cuts,
                    },
                )?;
            }
        }
        self.merge(round)
    }

    /// Records that the work queued so far is its trials of a round.
    pub(super) fn has_made(&mut self) -> Result<(), BackendError> {
        self.stream.mark_again(&mut self.made).map_err(failed("recording an event"))
    }

    /// Returns whether its kernels can read another GPU's memory.
    pub(super) fn reaches(&self, other: &Card<'_>) -> bool {
        self.device.reaches(other.device)
    }

    /// Queues taking the results of these trials of the round from another GPU, once they are made there: only of trials that
    /// found something, if it can read them directly (`reaches`), else a copy of all.
    pub(super) fn take(
        &mut self,
        round: TrialRound,
        (from, reaches): (&Card<'_>, bool),
        trials: Range<u32>,
    ) -> Result<(), BackendError> {
        let (args, launch) = (self.args(round, trials.clone()), self.warps(trials.len()));
        let (stream, b, other) = (&self.stream, &mut self.buffers, &from.buffers);
        stream.wait(&from.made).map_err(failed("waiting for another GPU"))?;
        if !reaches {
            let (first, count, most) = (trials.start as usize, trials.len(), MAX_SEGMENTS as usize);
            // SAFETY: the stream waits for the results to be made, and the other GPU for `taken` before it changes them.
            unsafe {
                b.gain.copy_from(stream, &other.gain, first, count)?;
                b.count.copy_from(stream, &other.count, first, count)?;
                return b.cuts.copy_from(stream, &other.cuts, first * most, count * most);
            }
        }
        // SAFETY: both GPUs' arrays are of this problem and at least so many trials.
        unsafe {
            self.kernels.take.launch(
                stream,
                launch,
                args,
                buffers::TakeChanges {
                    from_gain: &other.gain,
                    from_count: &other.count,
                    from_cuts: &other.cuts,
                    gain: &mut b.gain,
                    count: &mut b.count,
                    cuts: &mut b.cuts,
                },
            )
        }
    }

    /// Records that the work queued so far is its copies of a round.
    pub(super) fn has_taken(&mut self) -> Result<(), BackendError> {
        self.stream.mark_again(&mut self.taken).map_err(failed("recording an event"))
    }

    /// Makes work queued from now on wait until another GPU has its copies of the round.
    pub(super) fn wait_for(&self, other: &Card<'_>) -> Result<(), BackendError> {
        self.stream.wait(&other.taken).map_err(failed("waiting for another GPU"))
    }

    /// Queues the merge of all trials of a round, in each of its tours.
    pub(super) fn merge(&mut self, round: TrialRound) -> Result<(), BackendError> {
        let (args, n, chains) = (self.args(round, 0..round.trials), self.problem.n(), self.tours());
        let (stream, k, b) = (&self.stream, &self.kernels, &mut self.buffers);
        // With few nodes, many threads would only wait for each other.
        let most = (self.device.multiprocessors() / chains).max(1);
        let planners = n.div_ceil(NODES_A_BLOCK).clamp(1, most);
        let plan = Launch { grid: chains * planners, block: 1024, shared: TEAM_BYTES };
        let spread = (n as usize * chains as usize).div_ceil(256) as u32;
        let place =
            Launch { grid: spread.clamp(1, 16 * self.device.multiprocessors()), block: 256, shared: 0 };
        // SAFETY: `Buffers::new` made the arrays for this problem and at least so many trials.
        unsafe {
            k.plan.launch_as(
                planners > 1,
                stream,
                plan,
                args,
                buffers::PlanMerge {
                    order: &b.order,
                    position: &b.position,
                    gain: &b.gain,
                    count: &mut b.count,
                    cuts: &b.cuts,
                    claims: &mut b.claims,
                    bits: &mut b.bits,
                    cuts_before_word: &mut b.cuts_before_word,
                    cut_of_position: &mut b.cut_of_position,
                    cut_positions: &mut b.cut_positions,
                    segment_start: &mut b.segment_start,
                    successor: &mut b.successor,
                    distance_or_cycle: &mut b.distance_or_cycle,
                    merged: &mut b.merged,
                    costs: &mut b.costs,
                    started: &mut b.started,
                    arrivals: &mut b.arrivals,
                    partials: &mut b.partials,
                },
            )?;
            k.place.launch(
                stream,
                place,
                args,
                buffers::PlaceNodes {
                    order: &b.order,
                    ahead: &b.ahead,
                    places: &b.places,
                    points: &b.points,
                    matrix: &b.matrix,
                    cuts: &b.cuts,
                    bits: &b.bits,
                    cuts_before_word: &b.cuts_before_word,
                    cut_of_position: &b.cut_of_position,
                    cut_positions: &b.cut_positions,
                    segment_start: &b.segment_start,
                    merged: &b.merged,
                    next_order: &mut b.next_order,
                    next_ahead: &mut b.next_ahead,
                    position: &mut b.position,
                },
            )?;
        }
        std::mem::swap(&mut b.order, &mut b.next_order);
        std::mem::swap(&mut b.ahead, &mut b.next_ahead);
        Ok(())
    }

    /// Waits for its queued work, as [`Device::wait`].
    pub(super) fn wait(&self, enough: Enough) -> Result<(), BackendError> {
        self.device.wait_on(&self.stream, enough, LONG_GRACE)
    }

    /// Marks its device's work as abandoned.
    pub(super) fn leave_behind(&self) {
        self.device.leave_behind();
    }

    /// Returns the length of each of its tours, and how many changes all of them were offered in their last round.
    pub(super) fn read(&self) -> Result<(Vec<i64>, u64), BackendError> {
        let stream = &self.stream;
        let merged = self.buffers.merged.to_vec(stream)?;
        let offered = merged.iter().map(|merged: &Merged| u64::from(merged.offered)).sum();
        Ok((self.buffers.costs.to_vec(stream)?, offered))
    }

    /// Queues a copy of one of its tours, given by its number among those of all GPUs, to be kept in place of the one before.
    pub(super) fn keep(&mut self, chain: u32) -> Result<(), BackendError> {
        let n = self.problem.n() as usize;
        let (b, first) = (&mut self.buffers, (chain - self.chains.start) as usize * n);
        b.best.copy_part(&self.stream, &b.order, first)
    }

    /// Returns the tour that [`Card::keep`] copied last; [`BackendError::Busy`] after abandoned work, as from [`Card::orders`].
    pub(super) fn kept(&self) -> Result<Vec<u32>, BackendError> {
        self.device.check_idle()?;
        self.buffers.best.to_vec(&self.stream)
    }

    /// Returns all its tours, concatenated.
    pub(super) fn orders(&self) -> Result<Vec<u32>, BackendError> {
        self.device.check_idle()?;
        self.buffers.order.to_vec(&self.stream)
    }

    /// Sets all its tours to one: its nodes in order, the distance from each to the next, each node's position, and its length.
    pub(super) fn set_all(
        &mut self,
        (order, ahead, position): (&[u32], &[i32], &[u32]),
        cost: i64,
    ) -> Result<(), BackendError> {
        let (stream, b, chains) = (&self.stream, &mut self.buffers, self.chains.len());
        b.order.write(stream, &order.repeat(chains))?;
        b.ahead.write(stream, &ahead.repeat(chains))?;
        b.position.write(stream, &position.repeat(chains))?;
        b.costs.write(stream, &vec![cost; chains])
    }
}

impl Drop for Card<'_> {
    /// The last clone of a stream waits for its kernels when it is dropped. That of an abandoned launch is leaked instead.
    fn drop(&mut self) {
        if self.device.is_abandoned() {
            std::mem::forget(self.stream.clone());
        }
    }
}

//! `block_start_pieces`, `grid_place_entries`, `block_judge_chains`, `grid_keep_best`, `block_compete`: what chains do
//! between their rounds.

use antwarp::backend::cuda::{
    Compete, Device, JudgeChains, KeepBest, Launch, PlaceEntries, StartPieces, TEAM_BYTES,
};
use antwarp_core::kernels::{JudgeChainsArgs, ToursArgs};
use antwarp_core::local_search::chains::{self, ChainsState, NOBODY};
use antwarp_core::local_search::tile::{self, Entries};
use antwarp_core::team::{Serial, Slots};

use crate::gpu::{assert_same, download, gpu, guarded, load, poisoned, sizes, upload};
use crate::input::Random;

tests![block_start_pieces, grid_place_entries, block_judge_chains, grid_keep_best, block_compete];

/// The kernels tested here.
pub const NAMES: &[&str] =
    &["block_start_pieces", "grid_place_entries", "block_judge_chains", "grid_keep_best", "block_compete"];

const SIZES: [u32; 5] = [1, 9, 33, 700, 5000];
const CHAINS: [u32; 3] = [1, 3, 6];
const WARPS: [u32; 3] = [1, 3, 32];
/// Of kernels whose threads go in grid strides: one thread an element, or fewer.
const LAUNCHES: [Launch; 3] = [
    Launch { grid: 1, block: 32, shared: 0 },
    Launch { grid: 3, block: 96, shared: 0 },
    Launch { grid: 128, block: 256, shared: 0 },
];

fn shapes() -> impl Iterator<Item = (u32, u32)> {
    sizes(&SIZES).flat_map(|n| CHAINS.map(|chains| (n, chains)))
}

fn state(done: u32) -> ChainsState {
    ChainsState { done, ..ChainsState::new(1000) }
}

fn args(n: u32, chains: u32) -> ToursArgs {
    ToursArgs { n, chains, rounds: 4, rival_bit: 0 }
}

/// n cut into pieces at random: where they begin.
fn cuts(random: &mut Random, n: u32) -> Vec<u32> {
    let often = 1 + random.below(n);
    (0..n).filter(|&i| i == 0 || random.below(often) == 0).collect()
}

/// For each of `chains`, lengths of pieces that have n nodes together, each at a place of its own.
fn lengths(random: &mut Random, n: u32, chains: u32) -> Vec<u32> {
    let mut all = Vec::new();
    for _ in 0..chains {
        let (starts, places) = (cuts(random, n), random.permutation(n));
        let mut lengths = vec![0; n as usize];
        for (i, &start) in starts.iter().enumerate() {
            let end = starts.get(i + 1).copied().unwrap_or(n);
            lengths[places[i] as usize] = end - start;
        }
        all.extend(lengths);
    }
    all
}

fn block_start_pieces() {
    let mut random = Random::new(31);
    let mut cases = Vec::new();
    for (n, chains) in shapes() {
        let lengths = lengths(&mut random, n, chains);
        let mut starts = lengths.clone();
        for chain in starts.chunks_mut(n as usize) {
            let mut sum = 0;
            // SAFETY: n lengths, and a sum for a team of one.
            unsafe { tile::start_pieces(Serial, n, Slots::new(chain.as_mut_ptr()), Slots::new(&mut sum)) };
        }
        cases.push((args(n, chains), lengths, starts));
    }
    let Some(gpu) = gpu() else { return };
    let (name, function) = load(&gpu, "block_start_pieces");
    let kernel = StartPieces { name, function };
    for (args, lengths, starts) in &cases {
        for (warps, done) in WARPS.into_iter().flat_map(|warps| [(warps, 0), (warps, 1)]) {
            let mut length = guarded(&gpu, lengths);
            let block = 32 * warps;
            let launch = Launch { grid: args.chains, block, shared: 4 * block };
            // SAFETY: arrays and shared memory have the sizes that the arguments tell.
            unsafe { kernel.launch(gpu.stream(), launch, *args, &upload(&gpu, &[state(done)]), &mut length) }
                .expect("the launch");
            let what = format!("{args:?}, {warps} warps, done {done}");
            let expected = if done == 0 { starts } else { lengths };
            assert_same(&what, &download(&gpu, &what, &length), expected);
        }
    }
}

/// Old tours, their pieces in another order, and the new tours.
struct Pieces {
    args: ToursArgs,
    old_order: Vec<u32>,
    old: Vec<u32>,
    piece: Vec<u32>,
    offset: Vec<u32>,
    length: Vec<u32>,
    order: Vec<u32>,
    position: Vec<u32>,
}

impl Pieces {
    fn new(random: &mut Random, (n, chains): (u32, u32)) -> Pieces {
        let old_order = random.tours(n, chains);
        let old = random.tours(n, chains);
        let all = || vec![0; (n * chains) as usize];
        let mut pieces = Pieces {
            args: args(n, chains),
            old_order,
            old,
            piece: all(),
            offset: all(),
            length: all(),
            order: all(),
            position: all(),
        };
        for from in (0..chains).map(|chain| (chain * n) as usize) {
            // The old position of what comes to each place.
            let moved = random.permutation(n);
            let starts = cuts(random, n);
            let mut entries = vec![(0, 0); n as usize];
            for (place, &position) in (0..).zip(&moved) {
                let start = starts[starts.partition_point(|&s| s <= place) - 1];
                let piece = moved[start as usize];
                entries[position as usize] = (piece, place - start);
                pieces.length[from + piece as usize] = start;
                // Piece by piece, node by node: what has to come out.
                let node = pieces.old_order[from + position as usize];
                pieces.order[from + place as usize] = node;
                pieces.position[from + node as usize] = place;
            }
            for i in from..from + n as usize {
                (pieces.piece[i], pieces.offset[i]) = entries[pieces.old[i] as usize];
            }
        }
        pieces
    }

    /// What core makes of it.
    fn placed(&mut self) -> (Vec<u32>, Vec<u32>) {
        let (n, mut order, mut position) = (self.args.n, self.order.clone(), self.position.clone());
        order.fill(u32::MAX);
        position.fill(u32::MAX);
        for from in (0..self.args.chains).map(|chain| (chain * n) as usize) {
            // SAFETY: n elements a chain, from `from` on, in every array.
            unsafe {
                let slots = |array: &mut [u32]| Slots::new(array.as_mut_ptr().add(from));
                let entries = Entries {
                    old: slots(&mut self.old),
                    piece: slots(&mut self.piece),
                    offset: slots(&mut self.offset),
                    length: slots(&mut self.length),
                };
                let (order, position) = (slots(&mut order), slots(&mut position));
                let old_order = self.old_order.as_ptr().add(from);
                (0..n).for_each(|entry| tile::place_entry(entry, entries, old_order, order, position));
            }
        }
        (order, position)
    }

    /// What the GPU makes of it.
    fn launched(&self, device: &Device, kernel: &PlaceEntries, launch: Launch, done: u32) -> [Vec<u32>; 2] {
        let put = |array: &[u32]| upload(device, array);
        let mut order = poisoned(device, self.order.len());
        let mut position = poisoned(device, self.order.len());
        // SAFETY: the arrays have the sizes that the arguments tell.
        unsafe {
            kernel.launch(
                device.stream(),
                launch,
                self.args,
                &upload(device, &[state(done)]),
                &put(&self.old),
                &put(&self.piece),
                &put(&self.offset),
                &put(&self.length),
                &put(&self.old_order),
                &mut order,
                &mut position,
            )
        }
        .expect("the launch");
        [order, position].map(|array| download(device, "a tour", &array))
    }
}

fn grid_place_entries() {
    let mut random = Random::new(32);
    let mut cases: Vec<_> = shapes().map(|shape| Pieces::new(&mut random, shape)).collect();
    for case in &mut cases {
        let (order, position) = case.placed();
        assert_eq!((&order, &position), (&case.order, &case.position), "{:?}", case.args);
    }
    let Some(gpu) = gpu() else { return };
    let (name, function) = load(&gpu, "grid_place_entries");
    let kernel = PlaceEntries { name, function };
    for (case, launch) in cases.iter().flat_map(|case| LAUNCHES.map(|launch| (case, launch))) {
        let what = format!("{:?}, {launch:?}", case.args);
        let [order, position] = case.launched(&gpu, &kernel, launch, 0);
        assert_same(&format!("{what}: nodes"), &order, &case.order);
        assert_same(&format!("{what}: positions"), &position, &case.position);
        let untouched = download(&gpu, &what, &poisoned::<u32>(&gpu, order.len()));
        let [order, position] = case.launched(&gpu, &kernel, launch, 1);
        assert_same(&format!("{what}: nodes, done"), &order, &untouched);
        assert_same(&format!("{what}: positions, done"), &position, &untouched);
    }
}

/// The end of a round: gains, and what was and will be.
struct Judgement {
    name: String,
    args: JudgeChainsArgs,
    gains: Vec<i64>,
    before: (ChainsState, Vec<i64>),
    after: (ChainsState, Vec<i64>),
}

impl Judgement {
    /// `best` and `target` are this much above the shortest tour of the round; costs are within `spread`.
    fn new(
        random: &mut Random,
        (chains, tiles): (u32, u32),
        (best, target, spread, done): (i64, i64, u32, u32),
    ) -> Judgement {
        let gains: Vec<i64> =
            (0..chains * tiles).map(|_| i64::from(random.below(spread)) - i64::from(spread / 4)).collect();
        let after: Vec<i64> = (0..chains).map(|_| (1 << 40) + i64::from(random.below(spread))).collect();
        let sums = gains.chunks(tiles as usize).map(|gains| gains.iter().sum::<i64>());
        let costs: Vec<i64> = after.iter().zip(sums).map(|(cost, gain)| cost + gain).collect();
        let least = after.iter().copied().min().expect("a chain");
        let state = ChainsState {
            best_cost: least + best,
            round_cost: least + best,
            rounds: 7,
            best_round: 3,
            winner: chains / 2,
            done,
        };
        let args = JudgeChainsArgs { target: least + target, chains, tiles };
        let mut case = Judgement {
            name: format!(
                "{chains} chains, {tiles} tiles, best {best:+}, target {target:+}, {spread}, done {done}"
            ),
            args,
            gains,
            before: (state, costs.clone()),
            after: (state, costs),
        };
        // SAFETY: the arrays have the sizes that `judge` asks for.
        unsafe {
            let costs = Slots::new(case.after.1.as_mut_ptr());
            chains::judge(
                Serial,
                (chains, tiles),
                args.target,
                case.gains.as_ptr(),
                costs,
                &mut case.after.0,
            );
        }
        let (state, costs) = &case.after;
        if done == 0 {
            assert_eq!(costs, &after, "{}", case.name);
            let winner = after.iter().position(|&cost| cost == least).map_or(NOBODY, |i| i as u32);
            assert_eq!(state.winner, if best > 0 { winner } else { NOBODY }, "{}", case.name);
            assert_eq!(state.done, u32::from(best > 0 && target >= 0), "{}", case.name);
            assert_eq!((state.rounds, state.round_cost), (8, least), "{}", case.name);
        } else {
            assert_eq!(case.after, case.before, "{}", case.name);
        }
        case
    }
}

fn block_judge_chains() {
    const SCENES: [(i64, i64, u32, u32); 8] = [
        (1, -1, 1 << 31, 0),
        (1 << 30, -1, 1 << 31, 0),
        (0, -1, 1 << 31, 0),
        (-1, 0, 1 << 31, 0),
        (1, 0, 1 << 31, 0),
        (1, -1, 3, 0),
        (1, 1, 1, 0),
        (1, 0, 1 << 31, 1),
    ];
    let mut random = Random::new(33);
    let mut cases = Vec::new();
    for chains in sizes(&[1, 2, 33, 64, 1025]) {
        for (tiles, scene) in [1, 5, 70].into_iter().flat_map(|tiles| SCENES.map(|scene| (tiles, scene))) {
            cases.push(Judgement::new(&mut random, (chains, tiles), scene));
        }
    }
    let Some(gpu) = gpu() else { return };
    let (name, function) = load(&gpu, "block_judge_chains");
    let kernel = JudgeChains { name, function };
    for (case, warps) in cases.iter().flat_map(|case| WARPS.map(|warps| (case, warps))) {
        let what = format!("{}, {warps} warps", case.name);
        let gains = upload(&gpu, &case.gains);
        let (mut state, mut costs) = (upload(&gpu, &[case.before.0]), guarded(&gpu, &case.before.1));
        let launch = Launch { grid: 1, block: 32 * warps, shared: TEAM_BYTES };
        // SAFETY: arrays and shared memory have the sizes that the arguments tell.
        unsafe { kernel.launch(gpu.stream(), launch, case.args, &gains, &mut costs, &mut state) }
            .expect("the launch");
        assert_same(&what, &download(&gpu, &what, &costs), &case.after.1);
        let mut after = [case.before.0];
        state.read(gpu.stream(), &mut after).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(after, [case.after.0], "{what}");
    }
}

fn grid_keep_best() {
    let Some(gpu) = gpu() else { return };
    let mut random = Random::new(34);
    let (name, function) = load(&gpu, "grid_keep_best");
    let kernel = KeepBest { name, function };
    for ((n, chains), launch) in shapes().flat_map(|shape| LAUNCHES.map(|launch| (shape, launch))) {
        let (args, tours, best) = (args(n, chains), random.tours(n, chains), random.permutation(n));
        let order = upload(&gpu, &tours);
        // A round that reaches the target keeps its tour; one that was skipped has none.
        for (rounds, done) in [(args.rounds, 0), (args.rounds, 1), (args.rounds - 1, 1), (args.rounds - 1, 0)]
        {
            for winner in (0..chains).chain([NOBODY]) {
                let state = ChainsState { rounds, winner, ..state(done) };
                let mut best_tour = guarded(&gpu, &best);
                // SAFETY: the arrays have the sizes that the arguments tell.
                unsafe {
                    kernel.launch(gpu.stream(), launch, args, &upload(&gpu, &[state]), &order, &mut best_tour)
                }
                .expect("the launch");
                let what = format!("{args:?}, {launch:?}, {state:?}");
                let keeps = winner != NOBODY && rounds == args.rounds;
                let expected = if keeps { &tours[(winner * n) as usize..][..n as usize] } else { &best };
                assert_same(&what, &download(&gpu, &what, &best_tour), expected);
            }
        }
    }
}

/// A tournament: what was, and what will be.
struct Tournament {
    args: ToursArgs,
    done: u32,
    before: (Vec<u32>, Vec<u32>, Vec<i64>),
    after: (Vec<u32>, Vec<u32>, Vec<i64>),
}

impl Tournament {
    fn new(random: &mut Random, (n, chains): (u32, u32), rival_bit: u32, done: u32) -> Tournament {
        // Few different costs: some rivals are equal.
        let costs: Vec<i64> = (0..chains).map(|_| (1 << 40) + i64::from(random.below(4))).collect();
        let before = (random.tours(n, chains), random.tours(n, chains), costs);
        let (mut after, n_usize) = (before.clone(), n as usize);
        for chain in 0..chains {
            // SAFETY: a cost a chain.
            let from = unsafe { chains::survivor(chains, chain, rival_bit, before.2.as_ptr()) };
            let (to, from) = (chain as usize, from as usize);
            after.2[to] = before.2[from];
            if done == 0 {
                let (to, from) = (to * n_usize, from * n_usize);
                after.0[to..to + n_usize].copy_from_slice(&before.0[from..from + n_usize]);
                after.1[to..to + n_usize].copy_from_slice(&before.1[from..from + n_usize]);
            }
        }
        Tournament { args: ToursArgs { rival_bit, ..args(n, chains) }, done, before, after }
    }
}

fn block_compete() {
    let mut random = Random::new(35);
    let mut cases = Vec::new();
    for (shape, rival_bit) in shapes().flat_map(|shape| [1, 2, 4, 8].map(|bit| (shape, bit))) {
        cases.extend([0, 1].map(|done| Tournament::new(&mut random, shape, rival_bit, done)));
    }
    assert!(cases.iter().any(|case| case.before.2 != case.after.2));
    let Some(gpu) = gpu() else { return };
    let (name, function) = load(&gpu, "block_compete");
    let kernel = Compete { name, function };
    for (case, warps) in cases.iter().flat_map(|case| WARPS.map(|warps| (case, warps))) {
        let what = format!("{:?}, {warps} warps, done {}", case.args, case.done);
        let costs = upload(&gpu, &case.before.2);
        let (mut order, mut position) = (guarded(&gpu, &case.before.0), guarded(&gpu, &case.before.1));
        let mut next_costs = poisoned(&gpu, case.before.2.len());
        let launch = Launch { grid: case.args.chains, block: 32 * warps, shared: 0 };
        let state = upload(&gpu, &[state(case.done)]);
        // SAFETY: the arrays have the sizes that the arguments tell.
        unsafe {
            kernel.launch(
                gpu.stream(),
                launch,
                case.args,
                &state,
                &costs,
                &mut order,
                &mut position,
                &mut next_costs,
            )
        }
        .expect("the launch");
        assert_same(&format!("{what}: nodes"), &download(&gpu, &what, &order), &case.after.0);
        assert_same(&format!("{what}: positions"), &download(&gpu, &what, &position), &case.after.1);
        assert_same(&format!("{what}: costs"), &download(&gpu, &what, &next_costs), &case.after.2);
    }
}

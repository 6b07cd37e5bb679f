//! `block_judge_*`: the end of an iteration.

use antwarp::backend::cuda::{Buffer, Device, Judge, Launch, TEAM_BYTES, buffers};
use antwarp_core::kernels::JudgeArgs;
use antwarp_core::node::NodeId;
use antwarp_core::papers::ants::colony::{self, ColonyRules, ColonyState, Depositor};
use antwarp_core::team::{Serial, Slots};

use crate::gpu::{Poison, assert_same, download, gpu, guarded, id_bytes, ids, load, poisoned, sizes, upload};
use crate::input::{Random, numbers, typed};
use crate::papers::construct::state;

tests![block_judge_u16, block_judge_u32];

/// The kernels tested here.
pub const NAMES: &[&str] = &["block_judge_u16", "block_judge_u32"];

const SIZES: [u32; 4] = [5, 33, 64, 700];
const ANTS: [u32; 5] = [1, 2, 33, 64, 1025];
const WARPS: [u32; 4] = [1, 2, 3, 32];

/// An iteration's end that a test is about.
struct Scene {
    name: &'static str,
    /// The best cost before, given the iteration's.
    best: fn(i64) -> i64,
    /// The target, given the iteration's cost.
    target: fn(i64) -> i64,
    /// The best cost since the last reset, given the best before and the iteration's.
    restart: fn(i64, i64) -> i64,
    depositor: Depositor,
    /// Of the rules. Four iterations have found nothing better.
    reset_after: u32,
    done: u32,
    /// Costs are below this.
    costs: u32,
}

const SCENE: Scene = Scene {
    name: "first",
    best: |_| i64::MAX,
    target: |_| i64::MIN,
    restart: |best, _| best,
    depositor: Depositor::Iteration,
    reset_after: 0,
    done: 0,
    costs: 1 << 31,
};

const SCENES: [Scene; 19] = [
    SCENE,
    Scene { name: "first, best deposits", depositor: Depositor::Best, ..SCENE },
    Scene { name: "improved", best: |c| c + 1, ..SCENE },
    Scene { name: "improved, best deposits", best: |c| c + 1, depositor: Depositor::Best, ..SCENE },
    Scene { name: "as good as the best", best: |c| c, ..SCENE },
    Scene { name: "as good as the best, best deposits", best: |c| c, depositor: Depositor::Best, ..SCENE },
    Scene { name: "worse", best: |c| c - 1, ..SCENE },
    Scene { name: "worse, best deposits", best: |c| c - 1, depositor: Depositor::Best, ..SCENE },
    Scene {
        name: "worse, best since reset deposits",
        best: |c| c - 1,
        depositor: Depositor::Restart,
        ..SCENE
    },
    Scene {
        name: "better since reset, best deposits",
        best: |c| c - 1,
        restart: |_, c| c + 1,
        depositor: Depositor::Best,
        ..SCENE
    },
    Scene {
        name: "better since reset, which deposits",
        best: |c| c - 1,
        restart: |_, c| c + 1,
        depositor: Depositor::Restart,
        reset_after: 4,
        ..SCENE
    },
    Scene {
        name: "first since reset",
        best: |c| c - 1,
        restart: |_, _| i64::MAX,
        depositor: Depositor::Restart,
        ..SCENE
    },
    Scene { name: "reset", best: |c| c, reset_after: 4, ..SCENE },
    Scene { name: "not yet reset", best: |c| c, reset_after: 5, ..SCENE },
    Scene { name: "some equal", costs: 3, ..SCENE },
    Scene { name: "all equal, of no length", costs: 1, ..SCENE },
    Scene { name: "target reached", target: |c| c, ..SCENE },
    Scene { name: "target missed", target: |c| c - 1, ..SCENE },
    Scene { name: "done", done: 1, best: |c| c + 1, ..SCENE },
];

/// All that the kernel writes.
#[derive(Clone, Debug, PartialEq)]
struct Outcome {
    state: ColonyState,
    best_tour: Vec<u32>,
    restart_tour: Vec<u32>,
    successor: Vec<u32>,
    predecessor: Vec<u32>,
}

struct Case {
    name: String,
    args: JudgeArgs,
    costs: Vec<i64>,
    tours: Vec<u32>,
    before: Outcome,
    after: Outcome,
}

impl Case {
    fn new<I: NodeId>(random: &mut Random, n: u32, ants: u32, scene: &Scene) -> Case {
        let offset = if scene.costs > 1 << 16 { 1 << 40 } else { 0 };
        let costs: Vec<i64> = (0..ants).map(|_| offset + i64::from(random.below(scene.costs))).collect();
        let least = costs.iter().copied().min().expect("a cost");
        let best_cost = (scene.best)(least);
        let rules = ColonyRules {
            target: (scene.target)(least),
            unit_cost: least as f64 * 1.25,
            persistence: 0.9,
            limit_ratio: 1.0 / f64::from(n),
            reset_after: scene.reset_after,
            padding: 0,
        };
        let before = Outcome {
            state: ColonyState {
                best_cost,
                iterations: 7,
                best_iteration: 3,
                resets: 1,
                restart_cost: (scene.restart)(best_cost, least),
                restart_iteration: 3,
                ..state(scene.done)
            },
            best_tour: random.permutation(n),
            restart_tour: random.permutation(n),
            successor: vec![u32::POISON; n as usize],
            predecessor: vec![u32::POISON; n as usize],
        };
        let args = JudgeArgs { rules, n, ants, depositor: scene.depositor, padding: 0 };
        let name = format!("{}, {n} nodes, {ants} ants", scene.name);
        let (tours, after) = (random.tours(n, ants), before.clone());
        let mut case = Case { name, args, costs, tours, before, after };
        case.after = case.expected::<I>();
        let best = if scene.done == 0 { least.min(best_cost) } else { best_cost };
        assert_eq!(case.after.state.best_cost, best, "{}", case.name);
        case
    }

    /// What the CPU makes of it.
    fn expected<I: NodeId>(&self) -> Outcome {
        let mut after = self.before.clone();
        let (args, tours) = (self.args, typed::<I>(&self.tours));
        let (mut best_tour, mut restart_tour) =
            (typed::<I>(&after.best_tour), typed::<I>(&after.restart_tour));
        // SAFETY: every array has the size that `judge` asks for.
        unsafe {
            colony::judge(
                Serial,
                args.rules,
                (args.n, args.ants, args.depositor),
                self.costs.as_ptr(),
                tours.as_ptr(),
                &mut after.state,
                (Slots::of(&mut best_tour), Slots::of(&mut restart_tour)),
                (Slots::of(&mut after.successor), Slots::of(&mut after.predecessor)),
            );
        }
        Outcome { best_tour: numbers(&best_tour), restart_tour: numbers(&restart_tour), ..after }
    }

    /// What the GPU makes of it.
    fn launched<I: NodeId>(&self, device: &Device, kernel: &Judge, warps: u32) -> Outcome {
        let n = self.args.n as usize;
        let (costs, tours) = (upload(device, &self.costs), upload(device, &id_bytes::<I>(&self.tours)));
        let mut state: Buffer<ColonyState> = upload(device, &[self.before.state]);
        let mut best_tour = guarded(device, &id_bytes::<I>(&self.before.best_tour));
        let mut restart_tour = guarded(device, &id_bytes::<I>(&self.before.restart_tour));
        let (mut successor, mut predecessor) = (poisoned::<u32>(device, n), poisoned::<u32>(device, n));
        let launch = Launch { grid: 1, block: 32 * warps, shared: TEAM_BYTES };
        // SAFETY: arrays and shared memory have the sizes that the arguments tell.
        unsafe {
            kernel.launch(
                device.stream(),
                launch,
                self.args,
                buffers::Judge {
                    costs: &costs,
                    tours: &tours,
                    state: &mut state,
                    best_tour: &mut best_tour,
                    restart_tour: &mut restart_tour,
                    successor: &mut successor,
                    predecessor: &mut predecessor,
                },
            )
        }
        .expect("the launch");
        let mut after = [self.before.state];
        state.read(device.stream(), &mut after).unwrap_or_else(|e| panic!("{}: {e}", self.name));
        Outcome {
            state: after[0],
            best_tour: ids::<I>(&download(device, &self.name, &best_tour)),
            restart_tour: ids::<I>(&download(device, &self.name, &restart_tour)),
            successor: download(device, &self.name, &successor),
            predecessor: download(device, &self.name, &predecessor),
        }
    }
}

fn check<I: NodeId>(name: &str) {
    let mut random = Random::new(6);
    let mut cases = Vec::new();
    for (n, ants) in sizes(&SIZES).flat_map(|n| sizes(&ANTS).map(move |ants| (n, ants))) {
        cases.extend(SCENES.iter().map(|scene| Case::new::<I>(&mut random, n, ants, scene)));
    }
    let Some(gpu) = gpu() else { return };
    let (name, function) = load(&gpu, name);
    let kernel = Judge { name, function };
    for (case, warps) in cases.iter().flat_map(|case| WARPS.map(|warps| (case, warps))) {
        let what = format!("{}, {}, {warps} warps", kernel.name, case.name);
        let (gpu, cpu) = (case.launched::<I>(&gpu, &kernel, warps), &case.after);
        assert_eq!(gpu.state, cpu.state, "{what}: state on the GPU and the CPU");
        assert_same(&format!("{what}: best tour"), &gpu.best_tour, &cpu.best_tour);
        assert_same(&format!("{what}: best tour since the reset"), &gpu.restart_tour, &cpu.restart_tour);
        assert_same(&format!("{what}: successors"), &gpu.successor, &cpu.successor);
        assert_same(&format!("{what}: predecessors"), &gpu.predecessor, &cpu.predecessor);
    }
}

fn block_judge_u16() {
    check::<u16>("block_judge_u16");
}

fn block_judge_u32() {
    check::<u32>("block_judge_u32");
}

//! The pheromone memories by name, and what each has to remember, with no thought of speed.

use super::memory::Array;
use antwarp_core::distance::Distance;
use antwarp_core::node::NodeId;
use antwarp_core::papers::ants::acs::{self, World};
use antwarp_core::papers::ants::construct::row_stride;
use antwarp_core::papers::ants::pheromone::matrix::FAR;
use antwarp_core::papers::ants::pheromone::selective::stride;
use antwarp_core::papers::ants::pheromone::{
    Atomic, Candidate, CandidateTrails, MatrixTrails, Memory, Selective,
};
use antwarp_core::papers::ants::tabu::NONE;
use antwarp_core::relaxed::load_f32;
use antwarp_core::team::{Serial, Slots, Team};
use std::collections::{HashMap, HashSet};
use std::fmt::Debug;

/// What a memory of trails has to remember.
pub trait Model {
    fn clear(&mut self, node: u32);
    fn update(&mut self, node: u32, v: u32, revise: &dyn Fn(f32) -> f32);
    fn trail(&self, node: u32, v: u32) -> f32;
    /// A best tour has gone from `node` to `v`, which is no candidate.
    fn remember(&mut self, _node: u32, _v: u32) {}
    /// The nodes that may be offered to an ant without open candidate, and whether these are all there are.
    fn offers(&self, node: u32) -> (Vec<u32>, bool);
}

/// A trail an edge, of all edges or of those to candidates; of all edges, also where best tours have gone.
pub struct Edges {
    n: u32,
    lists: Option<Vec<Vec<u32>>>,
    far: Vec<HashSet<u32>>,
    trails: HashMap<(u32, u32), f32>,
    initial: f32,
}

impl Edges {
    fn new<I: NodeId>(shape: Shape<I>, lists: Option<Vec<Vec<u32>>>) -> Self {
        let far = vec![HashSet::new(); shape.n as usize];
        Edges { n: shape.n, lists, far, trails: HashMap::new(), initial: shape.initial }
    }
}

impl Model for Edges {
    fn clear(&mut self, node: u32) {
        self.trails.retain(|edge, _| edge.0 != node);
        self.far[node as usize].clear();
    }
    fn update(&mut self, node: u32, v: u32, revise: &dyn Fn(f32) -> f32) {
        if self.lists.as_ref().is_none_or(|lists| lists[node as usize].contains(&v)) {
            self.trails.insert((node, v), revise(self.trail(node, v)));
        }
    }
    fn trail(&self, node: u32, v: u32) -> f32 {
        *self.trails.get(&(node, v)).unwrap_or(&self.initial)
    }
    fn remember(&mut self, node: u32, v: u32) {
        self.far[node as usize].insert(v);
    }
    fn offers(&self, node: u32) -> (Vec<u32>, bool) {
        let far = &self.far[node as usize];
        if self.lists.is_some() {
            (Vec::new(), false)
        } else if far.len() < FAR as usize {
            (far.iter().copied().collect(), false)
        } else {
            ((0..self.n).collect(), true)
        }
    }
}

/// The slots of a node, and the one filled last.
type Ring = (Vec<Option<(u32, f32)>>, usize);

/// Figure 5 of Skinderowicz 2016: a new edge takes the place behind the one added last.
pub struct Rings {
    rings: Vec<Ring>,
    lowest: f32,
}

impl Model for Rings {
    fn clear(&mut self, node: u32) {
        let (ring, tail) = &mut self.rings[node as usize];
        ring.fill(None);
        *tail = ring.len() - 1;
    }
    fn update(&mut self, node: u32, v: u32, revise: &dyn Fn(f32) -> f32) {
        let (ring, tail) = &mut self.rings[node as usize];
        match ring.iter_mut().flatten().find(|edge| edge.0 == v) {
            Some(edge) => edge.1 = revise(edge.1),
            None => {
                *tail = (*tail + 1) % ring.len();
                ring[*tail] = Some((v, revise(self.lowest)));
            }
        }
    }
    fn trail(&self, node: u32, v: u32) -> f32 {
        let mut edges = self.rings[node as usize].0.iter().flatten();
        edges.find(|edge| edge.0 == v).map_or(self.lowest, |edge| edge.1)
    }
    fn offers(&self, node: u32) -> (Vec<u32>, bool) {
        (self.rings[node as usize].0.iter().flatten().map(|edge| edge.0).collect(), false)
    }
}

/// The arrays behind a memory; some are empty.
pub struct Arrays {
    /// Trails to candidates.
    pub near: Array<f32>,
    /// Trails to all nodes.
    pub all: Array<f32>,
    pub far: Array<u32>,
    pub edges: Array<u64>,
    pub tails: Array<u32>,
    /// Slots of a ring.
    pub slots: u32,
}

impl Arrays {
    fn new((near, all, far): (u32, u32, u32), (edges, tails, slots): (u32, u32, u32)) -> Self {
        Arrays {
            near: Array::rubbish(near as usize),
            all: Array::rubbish(all as usize),
            far: Array::rubbish(far as usize),
            edges: Array::rubbish(edges as usize),
            tails: Array::rubbish(tails as usize),
            slots,
        }
    }

    /// Every bit, but those of a matrix that a candidate's trail has the place of: nobody reads them.
    pub fn state<I: NodeId>(&self, shape: Shape<I>) -> Vec<u64> {
        let mut all: Vec<u64> = self.all.iter().map(|t| t.to_bits().into()).collect();
        if !all.is_empty() {
            for node in 0..shape.n {
                let row = (node * row_stride(shape.n)) as usize;
                shape.list(node).into_iter().for_each(|v| all[row + v as usize] = 0);
            }
        }
        all.extend(self.near.iter().map(|t| u64::from(t.to_bits())));
        all.extend(self.far.iter().chain(self.tails.iter()).map(|&word| u64::from(word)));
        all.extend(self.edges.iter());
        all
    }

    /// The nodes that a row of a matrix remembers, and how many there were.
    pub fn far(&self, node: u32) -> (Vec<u32>, u32) {
        let row = &self.far[(node * FAR) as usize..][..FAR as usize];
        (row[1..].iter().copied().take(row[0] as usize).collect(), row[0])
    }

    /// The words of a ring.
    pub fn ring(&self, node: u32) -> &[u64] {
        &self.edges[(node * stride(self.slots)) as usize..][..self.slots as usize]
    }
}

/// A memory among n nodes with k candidates each.
#[derive(Clone, Copy)]
pub struct Shape<I> {
    pub n: u32,
    pub k: u32,
    pub lists: *const I,
    pub initial: f32,
}

impl<I: NodeId> Shape<I> {
    pub fn list(&self, node: u32) -> Vec<u32> {
        // SAFETY: the callers keep n x k candidates.
        (0..self.k).map(|i| unsafe { *self.lists.add((node * self.k + i) as usize) }.get()).collect()
    }
}

/// A kind of memory.
pub trait Kind: Copy + Debug + Sync {
    type Memory<I: NodeId>: Memory;
    /// Ants may update it at the same time without losing anything.
    const ATOMIC: bool;

    fn arrays<I: NodeId>(self, shape: Shape<I>) -> Arrays;
    fn memory<I: NodeId>(self, shape: Shape<I>, arrays: &mut Arrays) -> Self::Memory<I>;
    fn model<I: NodeId>(self, shape: Shape<I>) -> Box<dyn Model>;

    /// The trail of an edge, whose row is `row` and which leads to candidate number `i` if there is one.
    ///
    /// # Safety
    /// The edge is one of [`edges`].
    unsafe fn trail<I: NodeId>(
        memory: Self::Memory<I>,
        row: <Self::Memory<I> as Memory>::Row,
        i: Option<u32>,
        (_node, v): (u32, u32),
    ) -> f32 {
        // SAFETY: the caller's promise.
        unsafe { memory.trail(row, i.unwrap_or(u32::MAX), v).0 }
    }
    /// [`Atomic::update_edge`], or the next best.
    ///
    /// # Safety
    /// As [`Memory::update`].
    unsafe fn update_edge<T: Team, I: NodeId>(
        team: T,
        memory: Self::Memory<I>,
        edge: (u32, u32),
        back: bool,
        seen: f32,
        revise: impl Fn(f32) -> f32,
    );
    /// [`acs::update_step_atomically`], or the next best.
    ///
    /// # Safety
    /// As [`acs::update_step`].
    unsafe fn step_atomically<T: Team, I: NodeId, D: Distance>(
        team: T,
        world: World<I, Self::Memory<I>, D>,
        memory: *mut u8,
        tour: Slots<I>,
        step: u32,
    );
}

/// [`MatrixTrails`]: a trail for every edge.
#[derive(Clone, Copy, Debug)]
pub struct OfMatrix;

/// [`CandidateTrails`]: a trail for every edge to a candidate.
#[derive(Clone, Copy, Debug)]
pub struct OfCandidates;

/// [`Selective`], with so many slots.
#[derive(Clone, Copy, Debug)]
pub struct OfRings(pub u32);

macro_rules! atomic {
    () => {
        const ATOMIC: bool = true;

        unsafe fn update_edge<T: Team, I: NodeId>(
            team: T,
            memory: Self::Memory<I>,
            edge: (u32, u32),
            back: bool,
            seen: f32,
            revise: impl Fn(f32) -> f32,
        ) {
            // SAFETY: the caller's promise.
            unsafe { memory.update_edge(team, edge, back, seen, revise) }
        }
        unsafe fn step_atomically<T: Team, I: NodeId, D: Distance>(
            team: T,
            world: World<I, Self::Memory<I>, D>,
            memory: *mut u8,
            tour: Slots<I>,
            step: u32,
        ) {
            // SAFETY: the caller's promise.
            unsafe { acs::update_step_atomically(team, world, memory, tour, step) }
        }
    };
}

impl Kind for OfMatrix {
    type Memory<I: NodeId> = MatrixTrails<I>;
    atomic!();

    fn arrays<I: NodeId>(self, shape: Shape<I>) -> Arrays {
        Arrays::new((shape.n * shape.k, shape.n * row_stride(shape.n), shape.n * FAR), (0, 0, 0))
    }
    fn memory<I: NodeId>(self, shape: Shape<I>, arrays: &mut Arrays) -> MatrixTrails<I> {
        let near = OfCandidates.memory(shape, arrays);
        MatrixTrails { near, all: arrays.all.slots(), n: shape.n, far: arrays.far.slots() }
    }
    fn model<I: NodeId>(self, shape: Shape<I>) -> Box<dyn Model> {
        Box::new(Edges::new(shape, None))
    }
    unsafe fn trail<I: NodeId>(
        memory: MatrixTrails<I>,
        row: <MatrixTrails<I> as Memory>::Row,
        i: Option<u32>,
        (node, v): (u32, u32),
    ) -> f32 {
        // SAFETY: the caller's promise.
        unsafe {
            match i {
                Some(i) => memory.trail(row, i, v).0,
                None => load_f32(memory.all.at(node * row_stride(memory.n) + v), true),
            }
        }
    }
}

impl Kind for OfCandidates {
    type Memory<I: NodeId> = CandidateTrails<I>;
    atomic!();

    fn arrays<I: NodeId>(self, shape: Shape<I>) -> Arrays {
        Arrays::new((shape.n * shape.k, 0, 0), (0, 0, 0))
    }
    fn memory<I: NodeId>(self, shape: Shape<I>, arrays: &mut Arrays) -> CandidateTrails<I> {
        CandidateTrails {
            form: Candidate { lists: shape.lists, k: shape.k },
            trails: arrays.near.slots(),
            fresh: true,
        }
    }
    fn model<I: NodeId>(self, shape: Shape<I>) -> Box<dyn Model> {
        Box::new(Edges::new(shape, Some((0..shape.n).map(|node| shape.list(node)).collect())))
    }
}

impl Kind for OfRings {
    type Memory<I: NodeId> = Selective;
    const ATOMIC: bool = false;

    fn arrays<I: NodeId>(self, shape: Shape<I>) -> Arrays {
        Arrays::new((0, 0, 0), (shape.n * stride(self.0), shape.n, self.0))
    }
    fn memory<I: NodeId>(self, shape: Shape<I>, arrays: &mut Arrays) -> Selective {
        let (edges, tails) = (arrays.edges.slots(), arrays.tails.slots());
        Selective { edges, tails, slots: self.0, lowest: shape.initial, fresh: true, passing: true }
    }
    fn model<I: NodeId>(self, shape: Shape<I>) -> Box<dyn Model> {
        let empty = (vec![None; self.0 as usize], self.0 as usize - 1);
        Box::new(Rings { rings: vec![empty; shape.n as usize], lowest: shape.initial })
    }
    unsafe fn update_edge<T: Team, I: NodeId>(
        team: T,
        memory: Selective,
        (from, to): (u32, u32),
        back: bool,
        _seen: f32,
        revise: impl Fn(f32) -> f32,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            memory.update(team, from, to, &revise);
            if back {
                memory.update(team, to, from, &revise);
            }
        }
    }
    unsafe fn step_atomically<T: Team, I: NodeId, D: Distance>(
        team: T,
        world: World<I, Selective, D>,
        memory: *mut u8,
        tour: Slots<I>,
        step: u32,
    ) {
        // SAFETY: the caller's promise.
        unsafe { acs::update_step(team, world, memory, tour, step) }
    }
}

/// The edges whose trail can be asked for: those to candidates, or all.
pub fn edges<K: Kind, I: NodeId>(shape: Shape<I>) -> Vec<(u32, u32)> {
    let all = |node| (0..shape.n).filter(move |&v| v != node).collect();
    let from = |node| if K::Memory::<I>::BEYOND { all(node) } else { shape.list(node) };
    (0..shape.n).flat_map(|node| from(node).into_iter().map(move |v| (node, v))).collect()
}

/// The trail of an edge, for a member alone.
pub fn trail<K: Kind, I: NodeId>(memory: K::Memory<I>, shape: Shape<I>, (node, v): (u32, u32)) -> f32 {
    let i = shape.list(node).iter().position(|&u| u == v).map(|i| i as u32);
    // SAFETY: where only candidates have trails, only these are asked for.
    unsafe { K::trail(memory, memory.enter(Serial, node, NONE), i, (node, v)) }
}

/// Where two lists differ first, in few words.
pub fn difference<T: PartialEq + Debug>(got: &[T], expected: &[T]) -> Option<String> {
    let at = (0..got.len().max(expected.len())).find(|&i| got.get(i) != expected.get(i))?;
    Some(format!("number {at} is {:?} instead of {:?}", got.get(at), expected.get(at)))
}

//! The pheromone memories by name, and what each has to remember, with no thought of speed.

use super::memory::Array;
use antwarp_core::acs::{self, World};
use antwarp_core::distance::Distance;
use antwarp_core::node::NodeId;
use antwarp_core::pheromone::{Atomic, Candidate, Form, Matrix, Memory, Selective, Table};
use antwarp_core::tabu::NONE;
use antwarp_core::team::{Serial, Slots, Team};
use std::collections::HashMap;
use std::fmt::Debug;

/// What a memory of trails has to remember.
pub trait Model {
    fn clear(&mut self, node: u32);
    fn update(&mut self, node: u32, v: u32, revise: &dyn Fn(f32) -> f32);
    fn trail(&self, node: u32, v: u32) -> f32;
    /// The nodes that may be offered to an ant without open candidate.
    fn offers(&self, node: u32) -> Vec<u32>;
}

/// A trail an edge, of all edges or of those to candidates.
pub struct Edges {
    n: u32,
    lists: Option<Vec<Vec<u32>>>,
    trails: HashMap<(u32, u32), f32>,
    initial: f32,
}

impl Model for Edges {
    fn clear(&mut self, node: u32) {
        self.trails.retain(|edge, _| edge.0 != node)
    }
    fn update(&mut self, node: u32, v: u32, revise: &dyn Fn(f32) -> f32) {
        if self.lists.as_ref().is_none_or(|lists| lists[node as usize].contains(&v)) {
            self.trails.insert((node, v), revise(self.trail(node, v)));
        }
    }
    fn trail(&self, node: u32, v: u32) -> f32 {
        *self.trails.get(&(node, v)).unwrap_or(&self.initial)
    }
    fn offers(&self, _: u32) -> Vec<u32> {
        if self.lists.is_none() { (0..self.n).collect() } else { Vec::new() }
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
    fn offers(&self, node: u32) -> Vec<u32> {
        self.rings[node as usize].0.iter().flatten().map(|edge| edge.0).collect()
    }
}

/// The arrays behind a memory; some are empty.
pub struct Arrays {
    pub trails: Array<f32>,
    pub edges: Array<u64>,
    pub tails: Array<u32>,
}

impl Arrays {
    fn new(trails: u32, edges: u32, tails: u32) -> Self {
        Arrays {
            trails: Array::rubbish(trails as usize),
            edges: Array::rubbish(edges as usize),
            tails: Array::rubbish(tails as usize),
        }
    }

    /// Every bit.
    pub fn state(&self) -> Vec<u64> {
        let trails = self.trails.iter().map(|t| t.to_bits().into());
        trails.chain(self.edges.iter().copied()).chain(self.tails.iter().map(|&t| t.into())).collect()
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
    fn list(&self, node: u32) -> Vec<u32> {
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

    /// [`Atomic::update_atomically`], or the next best.
    ///
    /// # Safety
    /// As [`Memory::update`].
    unsafe fn update_atomically<T: Team, I: NodeId>(
        team: T,
        memory: Self::Memory<I>,
        edge: (u32, u32),
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

/// A [`Table`] of all edges.
#[derive(Clone, Copy, Debug)]
pub struct OfMatrix;

/// A [`Table`] of the edges to candidates.
#[derive(Clone, Copy, Debug)]
pub struct OfCandidates;

/// [`Selective`], with so many slots.
#[derive(Clone, Copy, Debug)]
pub struct OfRings(pub u32);

macro_rules! atomic {
    () => {
        const ATOMIC: bool = true;

        unsafe fn update_atomically<T: Team, I: NodeId>(
            team: T,
            memory: Self::Memory<I>,
            (node, v): (u32, u32),
            revise: impl Fn(f32) -> f32,
        ) {
            // SAFETY: the caller's promise.
            unsafe { memory.update_atomically(team, node, v, revise) }
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
    type Memory<I: NodeId> = Table<Matrix>;
    atomic!();

    fn arrays<I: NodeId>(self, shape: Shape<I>) -> Arrays {
        Arrays::new(shape.n * Matrix { n: shape.n }.stride(), 0, 0)
    }
    fn memory<I: NodeId>(self, shape: Shape<I>, arrays: &mut Arrays) -> Table<Matrix> {
        Table { form: Matrix { n: shape.n }, trails: arrays.trails.slots() }
    }
    fn model<I: NodeId>(self, shape: Shape<I>) -> Box<dyn Model> {
        Box::new(Edges { n: shape.n, lists: None, trails: HashMap::new(), initial: shape.initial })
    }
}

impl Kind for OfCandidates {
    type Memory<I: NodeId> = Table<Candidate<I>>;
    atomic!();

    fn arrays<I: NodeId>(self, shape: Shape<I>) -> Arrays {
        Arrays::new(shape.n * shape.k, 0, 0)
    }
    fn memory<I: NodeId>(self, shape: Shape<I>, arrays: &mut Arrays) -> Table<Candidate<I>> {
        Table { form: Candidate { lists: shape.lists, k: shape.k }, trails: arrays.trails.slots() }
    }
    fn model<I: NodeId>(self, shape: Shape<I>) -> Box<dyn Model> {
        let lists = Some((0..shape.n).map(|node| shape.list(node)).collect());
        Box::new(Edges { n: shape.n, lists, trails: HashMap::new(), initial: shape.initial })
    }
}

impl Kind for OfRings {
    type Memory<I: NodeId> = Selective;
    const ATOMIC: bool = false;

    fn arrays<I: NodeId>(self, shape: Shape<I>) -> Arrays {
        Arrays::new(0, shape.n * self.0, shape.n)
    }
    fn memory<I: NodeId>(self, shape: Shape<I>, arrays: &mut Arrays) -> Selective {
        let (edges, tails) = (arrays.edges.slots(), arrays.tails.slots());
        Selective { edges, tails, slots: self.0, lowest: shape.initial }
    }
    fn model<I: NodeId>(self, shape: Shape<I>) -> Box<dyn Model> {
        let empty = (vec![None; self.0 as usize], self.0 as usize - 1);
        Box::new(Rings { rings: vec![empty; shape.n as usize], lowest: shape.initial })
    }
    unsafe fn update_atomically<T: Team, I: NodeId>(
        team: T,
        memory: Selective,
        (node, v): (u32, u32),
        revise: impl Fn(f32) -> f32,
    ) {
        // SAFETY: the caller's promise.
        unsafe { memory.update(team, node, v, revise) }
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
    let from = |node| if K::Memory::<I>::LISTED { shape.list(node) } else { all(node) };
    (0..shape.n).flat_map(|node| from(node).into_iter().map(move |v| (node, v))).collect()
}

/// The trail of an edge, for a member alone.
pub fn trail<M: Memory, I: NodeId>(memory: M, shape: Shape<I>, (node, v): (u32, u32)) -> f32 {
    let mut scratch = Array::<u32>::rubbish(memory.scratch() as usize);
    let i = shape.list(node).iter().position(|&u| u == v).unwrap_or(u32::MAX as usize);
    // SAFETY: the scratch is as large as the memory wants; of listed memories only candidates are asked for.
    unsafe {
        let row = memory.enter(Serial, (node, NONE), scratch.slots(), |t| t);
        memory.trail(row, i as u32, v).0
    }
}

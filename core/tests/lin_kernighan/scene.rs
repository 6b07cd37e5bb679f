//! A tour with what the rounds read and write, in guarded memory.

use crate::common::memory::Array;
use crate::common::world::{Dice, World};
use antwarp_core::geometry::Numbered;
use antwarp_core::lin_kernighan::Tour;
use antwarp_core::lin_kernighan::cuts::MAX_SEGMENTS;
use antwarp_core::lin_kernighan::merge::{MergeBoard, Next, pairs};
use antwarp_core::lin_kernighan::trial::{self, TrialChanges};
use antwarp_core::team::Slots;

/// See the module.
pub struct Scene {
    pub world: World,
    pub nodes: Vec<u32>,
    order: Array<u32>,
    position: Array<u32>,
    ahead: Array<i32>,
    near: Vec<i32>,
    next_order: Array<u32>,
    next_ahead: Array<i32>,
    pub memory: Array<u64>,
    pub gain: Array<i64>,
    pub count: Array<u32>,
    pub cuts: Vec<[u32; 3]>,
    claims: Array<u64>,
    words: [Array<u32>; 2],
    numbers: [Array<u32>; 3],
    doubles: [Array<u32>; 2],
}

impl Scene {
    /// A random tour, and room for so many trials.
    pub fn new(world: World, trials: u32, dice: &mut Dice) -> Self {
        let n = world.n as usize;
        let nodes = dice.shuffled(world.n);
        let mut position = vec![0; n];
        (0..).zip(&nodes).for_each(|(p, &v)| position[v as usize] = p);
        let ahead: Vec<i32> = (0..n).map(|p| world.gap(nodes[p], nodes[(p + 1) % n]) as i32).collect();
        let near =
            (0..world.n * world.k).map(|e| world.gap(e / world.k, world.lists[e as usize]) as i32).collect();
        Scene {
            order: Array::of(&nodes),
            position: Array::of(&position),
            ahead: Array::of(&ahead),
            near,
            next_order: Array::rubbish(n),
            next_ahead: Array::rubbish(n),
            memory: Array::rubbish(trial::WORDS.div_ceil(2) as usize),
            gain: Array::rubbish(trials as usize),
            count: Array::rubbish(trials as usize),
            cuts: vec![[u32::MAX; 3]; (trials * MAX_SEGMENTS) as usize],
            claims: Array::of(&vec![0; n]),
            words: [0; 2].map(|_| Array::rubbish(n / 32 + 1)),
            numbers: [0; 3].map(|_| Array::rubbish(n)),
            doubles: [0; 2].map(|_| Array::rubbish(pairs(n as u32) as usize)),
            nodes,
            world,
        }
    }

    /// Another tour instead.
    pub fn put(&mut self, tour: &[u32]) {
        let n = tour.len();
        let mut position = vec![0; n];
        (0..).zip(tour).for_each(|(p, &v)| position[v as usize] = p);
        let ahead: Vec<i32> = (0..n).map(|p| self.world.gap(tour[p], tour[(p + 1) % n]) as i32).collect();
        (self.order, self.position) = (Array::of(tour), Array::of(&position));
        (self.ahead, self.nodes) = (Array::of(&ahead), tour.to_vec());
    }

    pub fn tour(&mut self) -> Tour<Numbered> {
        Tour {
            n: self.world.n,
            k: self.world.k,
            order: self.order.start(),
            position: self.position.start(),
            ahead: self.ahead.start(),
            lists: self.world.lists.as_ptr(),
            near: self.near.as_ptr(),
            places: self.world.numbered(),
        }
    }

    pub fn changes(&mut self) -> TrialChanges {
        // SAFETY: the scene is kept for as long as they are used.
        let cuts = unsafe { Slots::of(&mut self.cuts) };
        TrialChanges { gain: self.gain.slots(), count: self.count.slots(), cuts }
    }

    pub fn board(&mut self) -> MergeBoard {
        let [bits, cuts_before_word] = self.words.each_mut().map(Array::slots);
        let [cut_of_position, cut_positions, segment_start] = self.numbers.each_mut().map(Array::slots);
        let [successor, distance_or_cycle] = self.doubles.each_mut().map(Array::slots);
        MergeBoard {
            claims: self.claims.slots(),
            bits,
            cuts_before_word,
            cut_of_position,
            cut_positions,
            segment_start,
            successor,
            distance_or_cycle,
        }
    }

    pub fn next(&mut self) -> Next {
        Next {
            order: self.next_order.slots(),
            ahead: self.next_ahead.slots(),
            position: self.position.slots(),
        }
    }

    /// The tour that was placed takes the place of the old one; it is checked to be one.
    pub fn turn_over(&mut self) {
        std::mem::swap(&mut self.order, &mut self.next_order);
        std::mem::swap(&mut self.ahead, &mut self.next_ahead);
        self.nodes = self.order.to_vec();
        let n = self.nodes.len();
        for (p, &v) in self.nodes.iter().enumerate() {
            assert_eq!(self.position[v as usize] as usize, p);
            assert_eq!(self.ahead[p] as i64, self.world.gap(v, self.nodes[(p + 1) % n]));
        }
        let mut all = self.nodes.clone();
        all.sort_unstable();
        assert!(all.iter().copied().eq(0..n as u32));
        assert!(self.claims.iter().all(|&c| c == 0));
    }
}

//! What comes of a pair of parents.

use antwarp_core::eax::{self, Bench, Cycles, Entropy, Frequencies, Gene, Near, score};
use antwarp_core::geometry::Geometry;
use antwarp_core::rng::Stream;

use super::super::allocate;
use crate::engine::{BackendError, Enough};

/// What a thread works with.
pub struct Desk {
    pub bench: Vec<u64>,
    cycles: Vec<u64>,
    /// The AB-cycles that no child has had yet.
    deck: Vec<u32>,
}

impl Desk {
    /// Memory for tours of `n` nodes.
    pub fn new(n: u32) -> Result<Desk, BackendError> {
        let words = |bytes: usize| allocate("the crossover", bytes.div_ceil(8));
        let (bench, cycles) = (words(Bench::memory_bytes(n))?, words(Cycles::memory_bytes(n))?);
        Ok(Desk { bench, cycles, deck: Vec::new() })
    }

    /// Bytes of a desk, for tours of `n` nodes.
    pub fn bytes(n: u32) -> usize {
        Bench::memory_bytes(n) + Cycles::memory_bytes(n)
    }
}

/// A child that takes its parent's place.
#[derive(Default)]
pub struct Heir {
    /// By how much it is shorter; 0: there is none.
    pub gain: i64,
    /// Nodes, each with its two neighbours.
    pub changes: Vec<u32>,
}

/// Steps of a pair's stream that choose AB-cycles; those before divide edges into them.
const CHOICES: u32 = 1 << 31;

/// The best of the children of a pair, `children` at most, of an AB-cycle each: the most gain for the loss of entropy.
///
/// # Safety
/// The desk is one for as many nodes as the parents have, `near` has tables for them, too, and the frequencies are those
/// of a population with the first parent in it, as large as the entropy is for; nobody changes them meanwhile.
pub unsafe fn breed<G: Geometry>(
    near: Near<G>,
    (a, b): (Gene, Gene),
    (frequencies, entropy): (Frequencies, Entropy),
    (children, stream): (u32, Stream),
    desk: &mut Desk,
    enough: Enough,
) -> Heir {
    // SAFETY: the memory has the sizes asked for, and is this thread's for as long as it works on the pair; the rest is
    // the caller's promise.
    unsafe {
        let cycles = eax::decompose(a, b, stream, desk.cycles.as_mut_ptr().cast());
        let bench = Bench::new(a.n(), desk.bench.as_mut_ptr().cast());
        desk.deck.clear();
        desk.deck.extend(0..cycles.count());
        let mut heir = Heir::default();
        let mut most = 0;
        for child in 0..children.min(cycles.count()) {
            if child > 0 && enough() {
                break;
            }
            let left = cycles.count() - child;
            let chosen = stream.step(CHOICES + child).below(0, left);
            let cycle = desk.deck.swap_remove(chosen as usize);
            let found = eax::evaluate(near, a, cycles, &cycle, 1, bench);
            if found.gain <= 0 {
                continue;
            }
            let score = score(found.gain, entropy.loss(frequencies, a, bench));
            if score > most {
                most = score;
                heir.gain = found.gain;
                heir.changes.clear();
                heir.changes.extend((0..bench.changes()).flat_map(|i| bench.change(i)));
            }
        }
        heir
    }
}

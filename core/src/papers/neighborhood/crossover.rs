//! A child of two permutations.

use crate::papers::genetic::shuffle::Shuffle;
use crate::rng::Stream;
use crate::team::{Slots, Team};

/// A place without an element.
const NONE: u32 = u32::MAX;

/// Uniform crossover of two permutations of 0 .. n: places where both parents agree stay the same. The other places take, in random
/// order, one parent's element, chosen by a coin; if that is already used, the other parent's. Elements that no place took go at
/// random to the remaining places. (D. M. Tate and A. E. Smith, "A genetic approach to the quadratic assignment problem", Computers
/// & Operations Research 22, 1995; trying a place's other parent, too, is ours.)
///
/// One member does the part that the parents do not share: a few steps per place, once in thousands of iterations. Every member
/// calls this, and waits at the end. The contents of `used` are lost.
///
/// # Safety
/// Both parents are permutations of 0 .. n that nobody writes to; `child` and `used` have at least n places, and nobody else
/// accesses them.
#[inline(always)]
pub unsafe fn crossover<T: Team>(
    team: T,
    n: u32,
    (mother, father): (*const u32, *const u32),
    (child, used): (Slots<u32>, Slots<u32>),
    seed: u64,
) {
    // SAFETY: the caller's promise; between barriers an element belongs to one member.
    unsafe {
        team.for_each(n, |e| used.set(e, 0));
        team.barrier();
        team.for_each(n, |i| {
            let element = *mother.add(i as usize);
            let is_shared = element == *father.add(i as usize);
            child.set(i, if is_shared { element } else { NONE });
            if is_shared {
                used.set(element, 1);
            }
        });
        team.barrier();
        team.single(|| {
            let [places, elements] = [0, 1].map(|epoch| Shuffle::new(Stream::new(seed, epoch, 0), n));
            let coins = Stream::new(seed, 2, 0).step(0);
            // Each place tries its coin's parent; once all have, the other one.
            let mut turn = 0;
            while turn < 2 {
                let mut k = 0;
                while k < n {
                    let i = places.at(k);
                    k += 1;
                    if child.get(i) == NONE {
                        let parent = if (coins.bits(i) ^ turn) & 1 == 0 { mother } else { father };
                        let element = *parent.add(i as usize);
                        if used.get(element) == 0 {
                            child.set(i, element);
                            used.set(element, 1);
                        }
                    }
                }
                turn += 1;
            }
            let (mut k, mut place) = (0, 0);
            while k < n {
                let element = elements.at(k);
                k += 1;
                if used.get(element) == 0 {
                    while child.get(place) != NONE {
                        place += 1;
                    }
                    child.set(place, element);
                }
            }
        });
        team.barrier();
    }
}

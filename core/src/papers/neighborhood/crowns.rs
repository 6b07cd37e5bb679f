//! Vectors of real numbers: random points around one, at increasing distances.

use core::marker::PhantomData;

use super::{Clock, NEIGHBORS, Neighborhood, Standing, Walk};
use crate::rng::{Stream, exponential};
use crate::sine::{Real, unit_sine_of_turns};
use crate::team::Team;

/// Points that the tabu list remembers.
const REMEMBERED: u32 = 8;

/// m points around a point of the cube from -1 to 1: one in each of m concentric shells, the crowns between balls whose radii grow
/// in equal steps (Luong et al. 2013, section 4.5; R. Chelouah and P. Siarry, "Tabu search applied to global optimization", EJOR
/// 123, 2000). Directions are uniform; points outside the cube are moved to its face.
///
/// The tabu list holds the last 8 points that were left; a move is tabu if it leads into a small ball around one of them.
#[derive(Clone, Copy, Debug)]
pub struct Crowns<R> {
    /// Dimensions.
    pub n: u32,
    /// Number of shells, and of neighbours, from the innermost on.
    pub m: u32,
    /// Radius of the largest ball.
    pub radius: f32,
    /// Radius of the balls around points in the tabu list.
    pub tabu_radius: f32,
    /// The kind of numbers.
    pub reals: PhantomData<R>,
}

impl<R: Real> Crowns<R> {
    /// Returns a normal variate for coordinate `k` of neighbour `index` (G.E.P. Box and M.E. Muller, "A note on the generation of
    /// random normal deviates", 1958).
    #[inline(always)]
    fn normal(stream: Stream, index: u32, k: u32) -> f32 {
        let draws = stream.step(NEIGHBORS + 1 + k);
        // 2 ln 2, because the exponential variate is to base 2.
        let square = exponential(draws.bits(2 * index)) * core::f32::consts::LN_2 * 2.0;
        Real::sqrt(square) * unit_sine_of_turns(draws.bits(2 * index + 1))
    }

    /// Returns the factor that stretches the unit normals of neighbour `index` into its shell; `stream` is [`Walk::stream`].
    #[inline(always)]
    pub fn stretch(&self, stream: Stream, index: u32) -> R {
        let mut square = 0.0;
        let mut k = 0;
        while k < self.n {
            let x = Self::normal(stream, index, k);
            square += x * x;
            k += 1;
        }
        let inside = stream.step(NEIGHBORS).unit(index);
        let radius = (index as i32 as f32 + inside) / self.m as i32 as f32 * self.radius;
        R::from_f64((radius / Real::sqrt(square.max(1e-30))) as f64)
    }

    /// Returns coordinate `k` of neighbour `index`, whose [`Crowns::stretch`] is `stretch`; `x` is that coordinate of the solution.
    #[inline(always)]
    pub fn coordinate(stream: Stream, index: u32, k: u32, x: R, stretch: R) -> R {
        let moved = x + R::from_f64(Self::normal(stream, index, k) as f64) * stretch;
        let low = if moved < -R::ONE { -R::ONE } else { moved };
        if low > R::ONE { R::ONE } else { low }
    }

    /// Returns the words of the tabu list per point: the iteration until which it is in the list, and its coordinates.
    #[inline(always)]
    fn words(&self) -> u32 {
        1 + 2 * self.n
    }
}

impl<R: Real> Neighborhood for Crowns<R> {
    type Element = R;
    /// The number of a shell. The neighbour's place in it follows from the walk's stream.
    type Move = u32;

    #[inline(always)]
    fn elements(&self) -> u32 {
        self.n
    }
    #[inline(always)]
    fn len(&self) -> u64 {
        self.m as u64
    }
    #[inline(always)]
    fn at(&self, index: u64) -> u32 {
        index as u32
    }
    #[inline(always)]
    fn index(&self, step: u32) -> u64 {
        step as u64
    }
    #[inline(always)]
    fn random(&self, stream: Stream, i: u32) -> R {
        R::from_f64((2.0 * stream.step(0).unit(i) - 1.0) as f64)
    }

    /// Every point is one.
    fn is_solution(&self, _: &[R], _: &mut [u8]) -> bool {
        true
    }

    #[inline(always)]
    unsafe fn apply<T: Team>(&self, team: T, walk: &Walk<R>, step: u32) {
        let stretch = self.stretch(walk.stream, step);
        // SAFETY: the caller's promise; a coordinate belongs to one member.
        team.for_each(self.n, |k| unsafe {
            let x = walk.solution.get(k);
            walk.solution.set(k, Self::coordinate(walk.stream, step, k, x, stretch));
        });
        team.barrier();
    }

    #[inline(always)]
    fn traces(&self) -> u32 {
        REMEMBERED * self.words()
    }

    #[inline(always)]
    unsafe fn standing(&self, walk: &Walk<R>, clock: Clock, step: u32) -> Standing {
        let stretch = self.stretch(walk.stream, step);
        let near = R::from_f64(self.tabu_radius as f64 * self.tabu_radius as f64);
        let mut squares = [R::ZERO; REMEMBERED as usize];
        let mut k = 0;
        // SAFETY: the caller's promise.
        unsafe {
            while k < self.n {
                let x = Self::coordinate(walk.stream, step, k, walk.solution.get(k), stretch);
                for (at, square) in (0..).step_by(self.words() as usize).zip(&mut squares) {
                    let (low, high) = (walk.traces.get(at + 1 + 2 * k), walk.traces.get(at + 2 + 2 * k));
                    let away = x - R::from_bits64(low as u64 | (high as u64) << 32);
                    *square = *square + away * away;
                }
                k += 1;
            }
            let mut is_tabu = false;
            for (at, square) in (0..).step_by(self.words() as usize).zip(squares) {
                is_tabu |= walk.traces.get(at) > clock.now && square < near;
            }
            if is_tabu { Standing::Tabu } else { Standing::Free }
        }
    }

    #[inline(always)]
    unsafe fn leave<T: Team>(&self, team: T, walk: &Walk<R>, _: u32, until: impl Fn(u32) -> u32) {
        // The place of the point that has been in the list for longest, or is no longer in it.
        let (mut oldest, mut place) = (u32::MAX, 0);
        let mut point = 0;
        while point < REMEMBERED {
            // SAFETY: the caller's promise.
            let until = unsafe { walk.traces.get(point * self.words()) };
            if until < oldest {
                (oldest, place) = (until, point);
            }
            point += 1;
        }
        team.barrier();
        let at = place * self.words();
        // SAFETY: the caller's promise; a word belongs to one member.
        unsafe {
            team.single(|| walk.traces.set(at, until(0)));
            team.for_each(self.n, |k| {
                let bits = walk.solution.get(k).to_bits64();
                walk.traces.set(at + 1 + 2 * k, bits as u32);
                walk.traces.set(at + 2 + 2 * k, (bits >> 32) as u32);
            });
        }
    }
}

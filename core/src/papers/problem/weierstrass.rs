//! The Weierstrass-Mandelbrot function, continuous and nowhere smooth.

use super::{Problem, Shape};
use crate::papers::neighborhood::{Crowns, Walk};
use crate::papers::search::{Cost, Crew};
use crate::sine::Real;
use crate::team::Team;

/// W(x) = sum over coordinates k and i = 1 .. terms of b^(-i h) sin(b^i x_k), on the cube from -1 to 1 (Luong et al. 2013,
/// equation 1, whose x is one number; E. Lutton and J. Lévy-Véhel, "Hölder functions and deception of genetic algorithms",
/// IEEE Transactions on Evolutionary Computation 2(2), 1998). Everything is computed in `R`: the arguments b^i x are rounded to
/// it, and their sines are reduced exactly.
///
/// Shape: `sizes` = dimensions, terms, shells of the neighbourhood; `numbers` = radius of the neighbourhood, tabu radius.
/// Tables: pairs of b^i and b^(-i h) for each i, `R`.
#[derive(Clone, Copy, Debug)]
pub struct Weierstrass<R> {
    table: *const [R; 2],
    terms: u32,
    moves: Crowns<R>,
}

impl<R: Real> Weierstrass<R> {
    /// Returns the sum of all terms of one coordinate.
    ///
    /// # Safety
    /// The table exists.
    #[inline(always)]
    unsafe fn at(&self, x: R) -> R {
        // SAFETY: the caller's promise.
        let term = |i: u32| unsafe {
            let [frequency, amplitude] = *self.table.add(i as usize);
            amplitude * (frequency * x).sine()
        };
        let mut sum = R::ZERO;
        let mut i = 0;
        // Four sines at a time hide each other's latency; the order of the sum stays the same.
        while i + 4 <= self.terms {
            let (a, b, c, d) = (term(i), term(i + 1), term(i + 2), term(i + 3));
            sum = sum + a + b + c + d;
            i += 4;
        }
        while i < self.terms {
            sum = sum + term(i);
            i += 1;
        }
        sum
    }
}

impl<R: Real + Cost + Named> Problem for Weierstrass<R> {
    type Moves = Crowns<R>;
    type Cost = R;
    const NAME: &'static str = R::NAME;

    #[inline(always)]
    unsafe fn new(shape: &Shape, tables: *const u8) -> Self {
        let [n, terms, m, _] = shape.sizes;
        let [radius, tabu_radius, ..] = shape.numbers;
        let moves = Crowns { n, m, radius, tabu_radius, reals: core::marker::PhantomData };
        Weierstrass { table: tables.cast(), terms, moves }
    }

    #[inline(always)]
    fn moves(&self) -> Crowns<R> {
        self.moves
    }

    #[inline(always)]
    fn effort(&self) -> u64 {
        /// Steps per sine.
        const SINE: u64 = 8;
        SINE * self.moves.n as u64 * self.terms as u64
    }

    /// Every member computes everything: the sum's order must not depend on the team.
    #[inline(always)]
    unsafe fn begin<C: Crew>(&self, crew: &mut C, walk: &Walk<R>) -> R {
        let mut sum = R::ZERO;
        let mut k = 0;
        while k < self.moves.n {
            // SAFETY: the caller's promise.
            sum = sum + unsafe { self.at(walk.solution.get(k)) };
            k += 1;
        }
        crew.team().barrier();
        sum
    }

    /// All coordinates change, so nothing is saved.
    #[inline(always)]
    unsafe fn neighbor_cost(&self, walk: &Walk<R>, _: R, step: u32) -> R {
        let stretch = self.moves.stretch(walk.stream, step);
        let mut sum = R::ZERO;
        let mut k = 0;
        while k < self.moves.n {
            // SAFETY: the caller's promise.
            sum = sum
                + unsafe {
                    let x = walk.solution.get(k);
                    self.at(Crowns::coordinate(walk.stream, step, k, x, stretch))
                };
            k += 1;
        }
        sum
    }
}

/// Number types by the name of their kernels.
pub trait Named {
    /// See [`Problem::NAME`].
    const NAME: &'static str;
}

impl Named for f32 {
    const NAME: &'static str = "weierstrass_f32";
}

impl Named for f64 {
    const NAME: &'static str = "weierstrass_f64";
}

//! The Weierstrass-Mandelbrot function as its problem in core reads it.

use antwarp_core::papers::problem::Shape;
use antwarp_core::sine::Real;

use crate::engine::Tables;

/// A Weierstrass-Mandelbrot function and the neighbourhood of its points.
#[derive(Clone, Debug)]
pub struct WeierstrassSpec {
    /// Number of dimensions: of elements of a solution.
    pub dimensions: u32,
    /// Number of terms of the sum.
    pub terms: u32,
    /// How much faster each term oscillates than the one before: b > 1.
    pub b: f64,
    /// How much smaller each term is, as an exponent of b: 0 < h < 1.
    pub h: f64,
    /// Number of neighbours: one in each shell.
    pub shells: u32,
    /// Radius of the neighbourhood.
    pub radius: f32,
    /// Radius around points in the tabu list.
    pub tabu_radius: f32,
}

impl WeierstrassSpec {
    /// Describes the [function](antwarp_core::papers::problem::Weierstrass) of this many dimensions and terms, with b and
    /// h, and a neighbourhood of this many shells up to a radius.
    pub fn tables<R: Real>(&self) -> Tables {
        let term = |i: u32| {
            let power = |x: f64| R::from_f64(x);
            [power(self.b.powi(i as i32)), power(self.b.powf(-f64::from(i) * self.h))]
        };
        let bytes = |x: R| x.to_bits64().to_ne_bytes().into_iter().take(size_of::<R>());
        let table: Vec<u8> = (1..=self.terms).flat_map(term).flat_map(bytes).collect();
        let shape = Shape {
            sizes: [self.dimensions, self.terms, self.shells, 0],
            numbers: [self.radius, self.tabu_radius, 0.0, 0.0],
        };
        Tables::new(shape, &[&table])
    }
}

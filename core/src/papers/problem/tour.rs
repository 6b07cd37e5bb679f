//! The travelling salesman problem with exchanges of cities in the tour: the neighbourhoods of permutations, not those that suit
//! tours ([`local_search`](crate::papers::local_search) has those).

use super::{Problem, Shape};
use crate::distance::{Distances, Exceptions};
use crate::geometry::{Geometry, Grid, Numbered};
use crate::metric::Metric;
use crate::papers::neighborhood::{Exchanges, Neighborhood, Rotation, Rotations, Walk};
use crate::papers::search::Crew;
use crate::team::{Slots, Team};

/// A geometry that can be made from a shape and tables.
pub trait Tabled: Geometry {
    /// Its name in the names of kernels of [`SwappedTour`].
    const SWAP: &'static str;
    /// Its name in the names of kernels of [`RotatedTour`].
    const ROTATE: &'static str;

    /// Returns the geometry, and its places, one per city.
    ///
    /// # Safety
    /// `tables` holds what [`SwappedTour`] requires.
    unsafe fn tabled(shape: &Shape, tables: *const u8) -> (Self, *const Self::Place);
}

/// Value of `sizes[1]` if distances come from a matrix; otherwise it is the number of a [`Metric`].
pub const MATRIX: u32 = u32::MAX;

impl Tabled for Grid {
    const SWAP: &'static str = "tour_swap_grid";
    const ROTATE: &'static str = "tour_rotate_grid";
    #[inline(always)]
    unsafe fn tabled(shape: &Shape, tables: *const u8) -> (Self, *const u64) {
        (Grid { up: shape.sizes[1] == Metric::Ceil2d as u32 }, tables.cast())
    }
}

/// Distances come from the matrix, which any metric can be converted to.
impl Tabled for Numbered {
    const SWAP: &'static str = "tour_swap_numbered";
    const ROTATE: &'static str = "tour_rotate_numbered";
    #[inline(always)]
    unsafe fn tabled(shape: &Shape, tables: *const u8) -> (Self, *const u32) {
        let n = shape.sizes[0];
        // SAFETY: the matrix follows the places.
        let matrix = unsafe { tables.add(4 * n.next_multiple_of(4) as usize) }.cast();
        (
            Numbered {
                distances: Distances {
                    matrix,
                    points: core::ptr::null(),
                    metric: None,
                    n,
                    exceptions: Exceptions::NONE,
                },
            },
            tables.cast(),
        )
    }
}

/// The tour of a walk's solution, as noted by its team: by position, so that neighbours of neighbours are adjacent.
#[derive(Clone, Copy)]
struct Noted<G: Geometry> {
    geometry: G,
    n: u32,
    /// The place of the city at each position, and again of the first after the last; the last before the first.
    places: Slots<G::Place>,
    /// The length of the edge from each position to the next; that from the last to the first also before the first.
    edges: Slots<i32>,
}

impl<G: Geometry> Noted<G> {
    fn bytes(n: u32) -> usize {
        (n as usize + 2) * (size_of::<G::Place>() + 4)
    }

    /// # Safety
    /// `notes` has enough bytes and is aligned.
    #[inline(always)]
    unsafe fn new(geometry: G, n: u32, notes: *mut u8) -> Self {
        let (places, room): (*mut G::Place, _) = (notes.cast(), n as usize + 2);
        // SAFETY: the caller's promise.
        unsafe {
            Noted {
                geometry,
                n,
                places: Slots::new(places, room),
                edges: Slots::new(places.add(room).cast(), n as usize + 1),
            }
        }
    }

    /// Returns the place at a position from -1 to n.
    #[inline(always)]
    unsafe fn place(&self, position: u32) -> G::Place {
        // SAFETY: the caller's promise.
        unsafe { self.places.get(position.wrapping_add(1)) }
    }

    /// Returns the edge from a position, from -1 to n - 1, to the next.
    #[inline(always)]
    unsafe fn edge(&self, position: u32) -> i64 {
        // SAFETY: the caller's promise.
        unsafe { self.edges.get(position.wrapping_add(1)) as i64 }
    }

    #[inline(always)]
    unsafe fn between(&self, a: G::Place, b: G::Place) -> i64 {
        // SAFETY: places of cities.
        unsafe { self.geometry.between(a, b) as i64 }
    }

    /// Notes the whole tour; returns its length.
    ///
    /// # Safety
    /// `of_city` has a place for each city of `solution`.
    #[inline(always)]
    unsafe fn begin<T: Team>(&self, team: T, solution: Slots<u32>, of_city: *const G::Place) -> i64 {
        let (n, mut length) = (self.n, 0);
        // SAFETY: the caller's promise; between barriers an element belongs to one member.
        unsafe {
            team.for_each(n + 2, |i| {
                let position = if i == 0 {
                    n - 1
                } else if i > n {
                    0
                } else {
                    i - 1
                };
                self.places.set(i, *of_city.add(solution.get(position) as usize));
            });
            team.barrier();
            team.for_each(n + 1, |i| {
                let edge = self.geometry.between(self.places.get(i), self.places.get(i + 1));
                self.edges.set(i, edge);
                length += if i == 0 { 0 } else { edge as i64 };
            });
        }
        team.sum(length as u64) as i64
    }

    /// Updates the notes at a few positions.
    ///
    /// # Safety
    /// The team has waited since the solution changed, and nobody reads the notes meanwhile.
    #[inline(always)]
    unsafe fn update<T: Team, const D: usize>(
        &self,
        team: T,
        solution: Slots<u32>,
        of_city: *const G::Place,
        positions: [u32; D],
    ) {
        let n = self.n;
        // SAFETY: the caller's promise.
        unsafe {
            team.single(|| {
                for position in positions {
                    let place = *of_city.add(solution.get(position) as usize);
                    self.places.set(position + 1, place);
                    if position == 0 {
                        self.places.set(n + 1, place);
                    }
                    if position == n - 1 {
                        self.places.set(0, place);
                    }
                }
            });
            team.barrier();
            team.for_each(2 * D as u32, |which| {
                let mut position = 0;
                for (i, at) in (0..).zip(positions) {
                    position = if i == which / 2 { at } else { position };
                }
                // The edges before and after it.
                let from = if which % 2 == 1 {
                    position
                } else if position == 0 {
                    n - 1
                } else {
                    position - 1
                };
                // An edge after one position and before another is handled by the other.
                let to = if from == n - 1 { 0 } else { from + 1 };
                if which % 2 == 1 && positions.contains(&to) {
                    return;
                }
                let edge = self.geometry.between(self.place(from), self.place(from + 1));
                self.edges.set(from + 1, edge);
                if from == n - 1 {
                    self.edges.set(0, edge);
                }
            });
        }
        team.barrier();
    }
}

macro_rules! tour_problem {
    ($(#[$doc:meta])* $name:ident, $moves:ident, $kernel:ident $(, $scan:item)?) => {
        $(#[$doc])*
        ///
        /// Shape: `sizes` = cities (at least 4), the metric's number or [`MATRIX`]. Tables: one place per city; for [`Numbered`],
        /// the cities' numbers and, 16-byte aligned, the distance matrix, n x n by rows, i32. A solution is the cities in order.
        #[derive(Clone, Copy)]
        pub struct $name<G: Geometry> {
            geometry: G,
            of_city: *const G::Place,
            n: u32,
        }

        impl<G: Tabled> $name<G> {
            #[inline(always)]
            fn noted(&self, walk: &Walk<u32>) -> Noted<G> {
                // SAFETY: the notes are as long as `notes` asks for, and aligned.
                unsafe { Noted::new(self.geometry, self.n, walk.notes) }
            }
        }

        impl<G: Tabled> Problem for $name<G> {
            type Moves = $moves;
            type Cost = i64;
            const NAME: &'static str = G::$kernel;

            #[inline(always)]
            unsafe fn new(shape: &Shape, tables: *const u8) -> Self {
                // SAFETY: the caller's promise.
                let (geometry, of_city) = unsafe { G::tabled(shape, tables) };
                $name { geometry, of_city, n: shape.sizes[0] }
            }

            #[inline(always)]
            fn moves(&self) -> $moves {
                Self::moves_of(self.n)
            }

            #[inline(always)]
            fn notes(&self) -> usize {
                Noted::<G>::bytes(self.n)
            }

            #[inline(always)]
            unsafe fn begin<C: Crew>(&self, crew: &mut C, walk: &Walk<u32>) -> i64 {
                // SAFETY: the caller's promise.
                unsafe { self.noted(walk).begin(crew.team(), walk.solution, self.of_city) }
            }

            #[inline(always)]
            unsafe fn neighbor_cost(
                &self,
                walk: &Walk<u32>,
                cost: i64,
                step: <$moves as Neighborhood>::Move,
            ) -> i64 {
                // SAFETY: the caller's promise.
                cost + unsafe { self.change(walk, step) }
            }

            $($scan)?

            #[inline(always)]
            unsafe fn make<C: Crew>(
                &self,
                crew: &mut C,
                walk: &Walk<u32>,
                step: <$moves as Neighborhood>::Move,
            ) {
                // SAFETY: the caller's promise.
                unsafe {
                    self.moves().apply(crew.team(), walk, step);
                    let positions = Self::positions(step);
                    self.noted(walk).update(crew.team(), walk.solution, self.of_city, positions);
                }
            }
        }
    };
}

tour_problem! {
    /// A tour in which two cities swap places (Luong et al. 2013, section 6.4).
    SwappedTour, Exchanges, SWAP,
    #[inline(always)]
    unsafe fn scan<C: Crew>(
        &self,
        crew: &C,
        walk: &Walk<u32>,
        _: u32,
        cost: i64,
        mut visit: impl FnMut(u64, (u32, u32), i64),
    ) {
        let moves = self.moves();
        moves.sweep(crew, |i, j| {
            let step = (i.min(j), i.max(j));
            // SAFETY: the caller's promise.
            visit(moves.index(step), step, cost + unsafe { self.change(walk, step) })
        });
    }
}

tour_problem! {
    /// A tour in which three cities rotate.
    RotatedTour, Rotations, ROTATE
}

impl<G: Tabled> SwappedTour<G> {
    #[inline(always)]
    fn moves_of(n: u32) -> Exchanges {
        Exchanges { n, by_place: false }
    }

    #[inline(always)]
    fn positions((i, j): (u32, u32)) -> [u32; 2] {
        [i, j]
    }

    /// # Safety
    /// The walk is of this problem, and i < j are positions.
    #[inline(always)]
    unsafe fn change(&self, walk: &Walk<u32>, (i, j): (u32, u32)) -> i64 {
        let t = self.noted(walk);
        // SAFETY: the caller's promise.
        unsafe {
            let (a, b) = (t.place(i), t.place(j));
            let (before_a, behind_b) = (t.place(i.wrapping_sub(1)), t.place(j + 1));
            let (before_b, behind_a) = (t.place(j - 1), t.place(i + 1));
            if j == i + 1 {
                return t.between(before_a, b) + t.between(b, a) + t.between(a, behind_b)
                    - t.edge(i.wrapping_sub(1))
                    - t.edge(i)
                    - t.edge(j);
            }
            if i == 0 && j == self.n - 1 {
                return t.between(before_b, a) + t.between(a, b) + t.between(b, behind_a)
                    - t.edge(j - 1)
                    - t.edge(j)
                    - t.edge(i);
            }
            t.between(before_a, b) + t.between(b, behind_a) + t.between(before_b, a) + t.between(a, behind_b)
                - (t.edge(i.wrapping_sub(1)) + t.edge(i) + t.edge(j - 1) + t.edge(j))
        }
    }
}

impl<G: Tabled> RotatedTour<G> {
    #[inline(always)]
    fn moves_of(n: u32) -> Rotations {
        Rotations { n }
    }

    #[inline(always)]
    fn positions(step: Rotation) -> [u32; 3] {
        let (i, j, k) = step.places;
        [i, j, k]
    }

    /// # Safety
    /// The walk is of this problem, and the places are positions.
    #[inline(always)]
    unsafe fn change(&self, walk: &Walk<u32>, step: Rotation) -> i64 {
        let (t, n) = (self.noted(walk), self.n);
        let ((i, j, k), (from_i, from_j, from_k)) = (step.places, step.sources());
        // SAFETY: the caller's promise.
        unsafe {
            // Returns the place at a position afterwards.
            let after = |position: u32| {
                let is = |one: u32, source: u32, other: u32| if position == one { source } else { other };
                t.place(is(i, from_i, is(j, from_j, is(k, from_k, position))))
            };
            let change = |from: u32| {
                let to = if from == n - 1 { 0 } else { from + 1 };
                t.between(after(from), after(to)) - t.edge(from)
            };
            let before_i = if i == 0 { n - 1 } else { i - 1 };
            // Every edge at one of the positions once: the one before i may be the one after k.
            let mut sum = change(i) + change(j) + change(k);
            sum += if before_i == k { 0 } else { change(before_i) };
            sum += if j == i + 1 { 0 } else { change(j - 1) };
            sum + if k == j + 1 { 0 } else { change(k - 1) }
        }
    }
}

//! A move as nodes, and as the exchanges of two edges that make it.

/// How the pieces of a tour are reconnected. With t2 the node after t1 in the direction of the move, the tour is A B C (A alone and
/// the rest for [`Kind::Pair`]): A starts at t2, and C ends at t1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// A^r C, where A is t2 .. t4.
    Pair = 0,
    /// B A^r C, with A = t2 .. t5, B = t6 .. t4; or B^r A C, with A = t2 .. t4, B = t3 .. t6.
    Turned = 1,
    /// B A C, with A = t2 .. t5, B = t6 .. t3.
    Shifted = 2,
    /// A^r B^r C, with A = t2 .. t6, B = t5 .. t3.
    BothTurned = 3,
    /// As `Shifted`, in a tour whose edges have a direction: t2 is the node before t1, and no part may be reversed, not even
    /// temporarily. [`interchange`](super::array::ArrayTour::interchange) makes it.
    Directed = 4,
}

impl Kind {
    /// Returns the kind with a number, if there is one.
    #[inline(always)]
    pub fn numbered(number: u32) -> Option<Kind> {
        match number {
            0 => Some(Kind::Pair),
            1 => Some(Kind::Turned),
            2 => Some(Kind::Shifted),
            3 => Some(Kind::BothTurned),
            4 => Some(Kind::Directed),
            _ => None,
        }
    }
}

/// A move by its nodes: the edges (t1, t2), (t3, t4), (t5, t6) are removed, (t2, t3), (t4, t5), (t6, t1) are added; for a pair (t1,
/// t2), (t3, t4) are removed, (t2, t3), (t4, t1) are added. For a directed move the added edges lead from t2 to t3, from t4 to t5
/// and from t6 to t1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeMove {
    /// How the pieces are reconnected.
    pub kind: Kind,
    /// The nodes t1 to t6; t5 and t6 mean nothing for a pair.
    pub t: [u32; 6],
}

impl EdgeMove {
    /// Returns the number of exchanges that it takes.
    #[inline(always)]
    pub fn steps(&self) -> u32 {
        match self.kind {
            Kind::Pair => 1,
            Kind::Turned | Kind::BothTurned => 2,
            Kind::Shifted | Kind::Directed => 3,
        }
    }

    /// Returns its exchange number `step`, below [`EdgeMove::steps`]: the arguments of
    /// [`exchange`](super::array::ArrayTour::exchange).
    #[inline(always)]
    pub fn step(&self, step: u32) -> [u32; 4] {
        let [t1, t2, t3, t4, t5, t6] = self.t;
        match (self.kind, step) {
            (Kind::Pair | Kind::Turned, 0) => [t1, t2, t4, t3],
            (Kind::Pair | Kind::Turned, _) => [t1, t4, t6, t5],
            (Kind::BothTurned, 0) => [t1, t2, t6, t5],
            (Kind::BothTurned, _) => [t2, t5, t3, t4],
            (Kind::Shifted | Kind::Directed, 0) => [t1, t2, t3, t4],
            (Kind::Shifted | Kind::Directed, 1) => [t1, t3, t6, t5],
            (Kind::Shifted | Kind::Directed, _) => [t3, t5, t2, t4],
        }
    }

    /// Returns the number of nodes whose edges it changes: the first ones of `t`.
    #[inline(always)]
    pub fn ends(&self) -> u32 {
        if self.kind == Kind::Pair { 4 } else { 6 }
    }
}

//! Tours of any shape, from the definitions alone: open or closed, with fixed and forbidden edges.

tests! {
    dynamic_programming_over_shapes_finds_what_all_orders_have,
    great_circles_are_as_long_as_known,
}

/// A problem of few nodes, and what its tours must be like.
#[derive(Clone, Debug)]
pub struct Shaped {
    /// From each node to each.
    pub costs: Vec<Vec<f64>>,
    /// Whether edges have a direction.
    pub is_directed: bool,
    /// Start and end of open paths, where given.
    pub ends: Option<[Option<usize>; 2]>,
    pub fixed: Vec<(usize, usize)>,
    pub forbidden: Vec<(usize, usize)>,
}

/// What is wrong with a tour, then its cost: fixed edges that it lacks, forbidden edges that it has, the cost of all others.
pub type Score = (usize, usize, f64);

fn is_less(a: Score, b: Score) -> bool {
    (a.0, a.1) < (b.0, b.1) || (a.0, a.1) == (b.0, b.1) && a.2 < b.2
}

impl Shaped {
    fn len(&self) -> usize {
        self.costs.len()
    }

    /// Whether a step goes along an edge.
    fn is_along(&self, (from, to): (usize, usize), (a, b): (usize, usize)) -> bool {
        (from, to) == (a, b) || !self.is_directed && (to, from) == (a, b)
    }

    pub fn is_forbidden(&self, from: usize, to: usize) -> bool {
        self.forbidden.iter().any(|&edge| self.is_along((from, to), edge))
    }

    /// The fixed edges, each once.
    fn distinct(&self) -> Vec<(usize, usize)> {
        let mut distinct: Vec<(usize, usize)> = Vec::new();
        for &edge in &self.fixed {
            if !distinct.iter().any(|&other| self.is_along(edge, other)) {
                distinct.push(edge);
            }
        }
        distinct
    }

    fn may_start(&self, node: usize) -> bool {
        self.ends.is_none_or(|[start, _]| start.is_none_or(|start| start == node))
    }

    fn may_end(&self, node: usize) -> bool {
        self.ends.is_none_or(|[_, end]| end.is_none_or(|end| end == node))
    }

    fn steps(&self, tour: &[usize]) -> Vec<(usize, usize)> {
        let mut steps: Vec<_> = tour.windows(2).map(|step| (step[0], step[1])).collect();
        if self.ends.is_none() && tour.len() > 1 {
            steps.push((tour[tour.len() - 1], tour[0]));
        }
        steps
    }

    /// The score of an order of all nodes; `None` if it does not start or end where it must.
    pub fn score(&self, tour: &[usize]) -> Option<Score> {
        let mut visited = tour.to_vec();
        visited.sort_unstable();
        assert!(visited.into_iter().eq(0..self.len()), "{tour:?} is no order of all nodes");
        if !self.may_start(tour[0]) || !self.may_end(tour[tour.len() - 1]) {
            return None;
        }
        let steps = self.steps(tour);
        let lacks = |&edge: &(usize, usize)| !steps.iter().any(|&step| self.is_along(step, edge));
        let (forbidden, allowed): (Vec<_>, Vec<_>) =
            steps.iter().partition(|&&(from, to)| self.is_forbidden(from, to));
        let cost = allowed.iter().map(|&(from, to)| self.costs[from][to]).sum();
        Some((self.distinct().into_iter().filter(lacks).count(), forbidden.len(), cost))
    }

    /// The least score of all orders.
    pub fn optimum(&self) -> Option<Score> {
        // A closed tour of two nodes goes along an edge twice.
        if self.len() <= 3 { self.of_all_orders() } else { self.of_all_sets() }
    }

    fn of_all_orders(&self) -> Option<Score> {
        fn least(shaped: &Shaped, tour: &mut Vec<usize>, at: usize) -> Option<Score> {
            if at == tour.len() {
                return shaped.score(tour);
            }
            let mut best: Option<Score> = None;
            for next in at..tour.len() {
                tour.swap(at, next);
                let found = least(shaped, tour, at + 1);
                tour.swap(at, next);
                best = match (best, found) {
                    (Some(best), Some(found)) if !is_less(found, best) => Some(best),
                    (best, found) => found.or(best),
                };
            }
            best
        }
        least(self, &mut (0..self.len()).collect(), 0)
    }

    /// By dynamic programming over sets of visited nodes. A fixed edge that is used is worth more than anything else.
    fn of_all_sets(&self) -> Option<Score> {
        const NONE: Score = (usize::MAX, 0, 0.0);
        let n = self.len();
        let fixed = self.distinct();
        // Fixed edges are counted down from n each step, so that numbers stay positive.
        let step = |from: usize, to: usize| -> Score {
            let used = fixed.iter().filter(|&&edge| self.is_along((from, to), edge)).count();
            let is_forbidden = self.is_forbidden(from, to);
            (n - used, is_forbidden.into(), if is_forbidden { 0.0 } else { self.costs[from][to] })
        };
        let add = |a: Score, b: Score| (a.0 + b.0, a.1 + b.1, a.2 + b.2);
        let mut least = vec![vec![NONE; n]; 1 << n];
        let starts: Vec<usize> = match self.ends {
            None => vec![0],
            Some(_) => (0..n).filter(|&node| self.may_start(node)).collect(),
        };
        starts.iter().for_each(|&start| least[1 << start][start] = (0, 0, 0.0));
        for set in 1..1_usize << n {
            for last in (0..n).filter(|&last| set >> last & 1 == 1) {
                let so_far = least[set][last];
                if so_far == NONE {
                    continue;
                }
                for next in (0..n).filter(|&next| set >> next & 1 == 0) {
                    let found = add(so_far, step(last, next));
                    let best = &mut least[set | 1 << next][next];
                    if is_less(found, *best) {
                        *best = found;
                    }
                }
            }
        }
        let all = least.pop().unwrap();
        let home = |last: usize| if self.ends.is_none() { step(last, 0) } else { (0, 0, 0.0) };
        let complete = (0..n).filter(|&last| all[last] != NONE && self.may_end(last));
        let best = complete.map(|last| add(all[last], home(last)));
        let best = best.reduce(|best, other| if is_less(other, best) { other } else { best })?;
        let steps = if self.ends.is_none() { n } else { n - 1 };
        let used = n * steps - best.0;
        Some((fixed.len() - used, best.1, best.2))
    }
}

/// The metres between two places given as latitude and longitude in degrees, on a sphere of the earth's mean radius.
pub fn great_circle(a: [f64; 2], b: [f64; 2]) -> f64 {
    let [a, b] = [a, b].map(|place| place.map(f64::to_radians));
    let half = |x: f64| (x / 2.0).sin().powi(2);
    let chord = half(b[0] - a[0]) + a[0].cos() * b[0].cos() * half(b[1] - a[1]);
    2.0 * 6_371_008.8 * chord.sqrt().min(1.0).asin()
}

fn great_circles_are_as_long_as_known() {
    let quarter = 6_371_008.8 * std::f64::consts::FRAC_PI_2;
    assert!((great_circle([0.0, 10.0], [0.0, 100.0]) - quarter).abs() < 1e-6);
    assert!((great_circle([90.0, 0.0], [0.0, 33.0]) - quarter).abs() < 1e-6);
    assert_eq!(great_circle([5.0, 6.0], [5.0, 6.0]), 0.0);
}

fn dynamic_programming_over_shapes_finds_what_all_orders_have() {
    for seed in 0..400 {
        let draws = &mut crate::draws::Draws::new(seed);
        let n = 2 + draws.below(5);
        let mut shaped = Shaped {
            costs: (0..n).map(|_| (0..n).map(|_| draws.below(50) as f64).collect()).collect(),
            is_directed: draws.chance(0.5),
            ends: None,
            fixed: Vec::new(),
            forbidden: Vec::new(),
        };
        let node = |draws: &mut crate::draws::Draws| draws.below(n);
        shaped.ends = draws.maybe(|draws| [draws.maybe(node), draws.maybe(node)]);
        let edges = |draws: &mut crate::draws::Draws| -> Vec<(usize, usize)> {
            let edges = (0..draws.below(4)).map(|_| (draws.below(n), draws.below(n)));
            edges.filter(|(a, b)| a != b).collect()
        };
        (shaped.fixed, shaped.forbidden) = (edges(draws), edges(draws));
        if !shaped.is_directed {
            let costs = shaped.costs.clone();
            (0..n).for_each(|i| (0..i).for_each(|j| shaped.costs[i][j] = costs[j][i]));
        }
        if n > 3 {
            assert_eq!(shaped.of_all_sets(), shaped.of_all_orders(), "{shaped:?}");
        }
    }
}

//! The random uniform instances `E` of the 8th DIMACS Implementation Challenge, bit for bit.
//!
//! `E10k.0` names the first instance of 10,000 cities; the letter k or M is part of the name.

use antwarp_core::metric::Metric;

use super::model::Instance;

/// Name, number of cities, best published tour length of the first instance of that size, as far as it is listed here.
const SIZES: [(&str, usize, Option<i64>); 9] = [
    ("E1k", 1_000, Some(23_360_648)),
    ("E3k", 3_162, Some(40_634_081)),
    ("E10k", 10_000, Some(71_865_826)),
    ("E31k", 31_623, Some(127_281_803)),
    ("E100k", 100_000, Some(225_783_795)),
    ("E316k", 316_228, Some(401_294_850)),
    ("E1M", 1_000_000, Some(713_176_566)),
    ("E3M", 3_162_278, None),
    ("E10M", 10_000_000, None),
];

/// The highest accepted instance number: beyond it, seeds would collide with those of other sizes.
const LAST: usize = 9;

/// Generates the instance with this name, as in `E10k.0`; `None` if the name does not belong to the family.
pub fn by_name(name: &str) -> Option<Instance> {
    let (n, seed) = size_and_seed(name)?;
    let points = points(n, seed).collect();
    let instance = Instance::from_points(name, Metric::Euc2d, points).expect("its cities are valid");
    Some(instance.with_comments(vec![format!("portgen N={n}, seed={seed}")]))
}

/// Returns whether this is the name of an instance.
pub(super) fn is_name(name: &str) -> bool {
    size_and_seed(name).is_some()
}

/// Returns the instance's name as given by the challenge's own generator.
pub(super) fn long_name(name: &str) -> Option<String> {
    size_and_seed(name).map(|(n, seed)| format!("portgen-{n}-{seed}"))
}

/// Returns the best published tour length of the instance with this name, if `instance` has exactly its cities.
pub(super) fn best_known(name: &str, instance: &Instance) -> Option<i64> {
    let (n, seed) = size_and_seed(name)?;
    let best = SIZES.iter().find(|size| size.1 == n)?.2?;
    let is_plain = instance.metric() == Some(Metric::Euc2d) && instance.fixed_edges().is_empty();
    // The first instance of a size has its number of cities as the seed.
    let is_first = seed == n && is_plain && instance.points()?.iter().copied().eq(points(n, seed));
    is_first.then_some(best)
}

/// Parses `E10k.3`, and `portgen-10000-100003`, the name given by the challenge's own generator.
fn size_and_seed(name: &str) -> Option<(usize, usize)> {
    if let Some((n, seed)) = name.strip_prefix("portgen-").and_then(|rest| rest.split_once('-')) {
        let (n, seed) = (n.parse().ok()?, seed.parse().ok()?);
        return SIZES.iter().any(|size| size.1 == n).then_some((n, seed)).filter(|_| seed < MODULUS as usize);
    }
    let (size, number) = name.split_once('.')?;
    let &(_, n, _) = SIZES.iter().find(|entry| entry.0 == size)?;
    let number: usize = number.parse().ok().filter(|&number| number <= LAST)?;
    Some((n, if number == 0 { n } else { 10 * n + number }))
}

fn points(n: usize, seed: usize) -> impl Iterator<Item = [f64; 3]> {
    let mut draws = Portgen::new(seed as i32);
    // Struct and array expressions are evaluated in order: x is drawn before y.
    (0..n).map(move |_| [f64::from(draws.next() / 1000), f64::from(draws.next() / 1000), 0.0])
}

const MODULUS: i32 = 1_000_000_000;

/// The challenge's portable generator: Knuth's subtractive method (The Art of Computer Programming,
/// volume 2, section 3.6).
struct Portgen {
    state: [i32; 55],
    a: usize,
    b: usize,
}

impl Portgen {
    fn new(seed: i32) -> Portgen {
        let mut state = [0; 55];
        let (mut last, mut next) = (seed, 1);
        state[0] = last;
        for i in 1..55 {
            let at = 21 * i % 55;
            state[at] = next;
            next = wrap(last - next);
            last = state[at];
        }
        let mut generator = Portgen { state, a: 0, b: 24 };
        for _ in 0..165 {
            generator.next();
        }
        generator
    }

    fn next(&mut self) -> i32 {
        self.a = self.a.checked_sub(1).unwrap_or(54);
        self.b = self.b.checked_sub(1).unwrap_or(54);
        let draw = wrap(self.state[self.a] - self.state[self.b]);
        self.state[self.a] = draw;
        draw
    }
}

fn wrap(x: i32) -> i32 {
    if x < 0 { x + MODULUS } else { x }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;
    use crate::tsplib;

    /// Hashes the file as written by the challenge's generator: under its own name, without an EOF line.
    fn fingerprint(name: &str) -> String {
        let instance = by_name(name).unwrap();
        let mut text = Vec::new();
        tsplib::write(&instance, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let n = instance.len();
        let text = text.replacen(&format!("NAME : {name}\n"), &format!("NAME : portgen-{n}-{n}\n"), 1);
        let text = text.strip_suffix("EOF\n").unwrap();
        Sha256::digest(text.as_bytes()).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn files_are_those_of_the_challenge() {
        let known = [
            ("E1k.0", "a1a2e090"),
            ("E3k.0", "b6d2eb32"),
            ("E10k.0", "57ed8b6a"),
            ("E31k.0", "498f4455"),
            ("E100k.0", "d1f379b8"),
            ("E316k.0", "8d9cb55f"),
            ("E1M.0", "a49ee81c"),
        ];
        for (name, sha256) in known {
            assert_eq!(fingerprint(name), sha256, "{name}");
        }
    }

    #[test]
    fn names_choose_size_and_seed() {
        assert_eq!(size_and_seed("E3k.0"), Some((3162, 3162)));
        assert_eq!(size_and_seed("E3k.1"), Some((3162, 31621)));
        assert_eq!(size_and_seed("portgen-1000-1000"), Some((1000, 1000)));
        for name in
            ["E3k", "E3k.", "E3k.10", "E2k.0", "e3k.0", "E3k.-1", "portgen-1000-1000000000", "portgen-5-5"]
        {
            assert_eq!(size_and_seed(name), None, "{name}");
        }
    }

    #[test]
    fn only_the_first_of_a_size_has_a_best_known_length() {
        assert_eq!(by_name("E1k.0").unwrap().best_known().unwrap().cost, 23_360_648);
        assert_eq!(by_name("E1k.1").unwrap().best_known(), None);
    }

    #[test]
    fn a_name_alone_has_no_best_known_length() {
        let named =
            |name: &str, points| Instance::from_points(name, Metric::Euc2d, points).unwrap().best_known();
        let mut cities: Vec<_> = points(1000, 1000).collect();
        assert!(named("portgen-1000-1000", cities.clone()).is_some());
        assert_eq!(named("portgen-1000-1001", cities.clone()), None);
        assert_eq!(named("E1k.0", cities[..999].to_vec()), None);
        cities[999][0] += 1.0;
        assert_eq!(named("E1k.0", cities), None);
    }
}

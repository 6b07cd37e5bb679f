//! The best tour lengths and costs that are published for well-known instances.
//!
//! Sources: the best-known lists of TSPLIB95 (G. Reinelt, University of Heidelberg), and the VLSI and
//! national instance pages of the University of Waterloo (W. Cook), whose values are all proven optimal;
//! the 8th DIMACS Implementation Challenge and the tables of its successors for the random `E` instances; the
//! best-known list of QAPLIB (R. E. Burkard, S. E. Karisch, F. Rendl: QAPLIB - A Quadratic Assignment Problem
//! Library, Journal of Global Optimization 10, 1997), and for the proofs of tai30a and sko42 K. Fujii, N. Ito,
//! S. Kim, M. Kojima, Y. Shinano, K.-C. Toh: Solving Challenging Large Scale QAPs, 2021.

use antwarp_core::metric::Metric;

use super::dimacs;
use super::model::{Instance, Kind};

/// A published tour length, or the published cost of another problem's solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestKnown {
    /// The length or cost.
    pub cost: i64,
    /// Whether nothing is better, by proof.
    pub proven: bool,
}

/// The best length known for an instance. Its name alone does not tell: kind and dimension must
/// match, and the metric where files of one name differ in it.
pub(crate) fn look_up(instance: &Instance) -> Option<BestKnown> {
    let proven = |cost| Some(BestKnown { cost, proven: true });
    // Names of files stand in for names of instances: pa561 calls itself pa561.tsp.
    let name = instance.name().trim_end_matches(".tsp").trim_end_matches(".atsp");
    if !instance.fixed_edges().is_empty() {
        // linhp318 asks for the shortest path from node 1 to node 214, 41345. Its file, which calls
        // itself lin318, fixes the edge that closes the path, and the length of that edge counts.
        let is_linhp318 = matches!(name, "lin318" | "linhp318") && instance.fixed_edges() == [(0, 213)];
        return if is_linhp318 && instance.len() == 318 { proven(41345 + 3869) } else { None };
    }
    if let Some(cost) = dimacs::best_known(name).filter(|_| instance.metric() == Some(Metric::Euc2d)) {
        return (dimacs::dimension(name) == Some(instance.len()))
            .then_some(BestKnown { cost, proven: false });
    }
    match (name, instance.metric()) {
        ("dsj1000", Some(Metric::Ceil2d)) if instance.len() == 1000 => return proven(18660188),
        ("dsj1000", Some(Metric::Euc2d)) if instance.len() == 1000 => return proven(18659688),
        _ => {}
    }
    let tables: &[_] = match instance.kind() {
        Kind::Tsp => &[TSPLIB, WATERLOO],
        Kind::Atsp => &[TSPLIB_ASYMMETRIC],
    };
    let entry = tables.iter().copied().flatten().find(|entry| entry.0.eq_ignore_ascii_case(name))?;
    if entry.1 as usize == instance.len() { proven(entry.2) } else { None }
}

/// The best cost known for the quadratic assignment problem of this name and size.
pub(super) fn look_up_qap(name: &str, n: u32) -> Option<BestKnown> {
    let entry = QAPLIB.iter().find(|entry| entry.0.eq_ignore_ascii_case(name) && entry.1 == n)?;
    Some(BestKnown { cost: entry.2, proven: entry.3 })
}

/// TSPLIB95, symmetric.
#[rustfmt::skip]
const TSPLIB: &[(&str, u32, i64)] = &[
    ("a280", 280, 2579), ("ali535", 535, 202339), ("att48", 48, 10628), ("att532", 532, 27686),
    ("bayg29", 29, 1610), ("bays29", 29, 2020), ("berlin52", 52, 7542), ("bier127", 127, 118282),
    ("brazil58", 58, 25395), ("brd14051", 14051, 469385), ("brg180", 180, 1950), ("burma14", 14, 3323),
    ("ch130", 130, 6110), ("ch150", 150, 6528), ("d1291", 1291, 50801), ("d15112", 15112, 1573084),
    ("d1655", 1655, 62128), ("d18512", 18512, 645238), ("d198", 198, 15780), ("d2103", 2103, 80450),
    ("d493", 493, 35002), ("d657", 657, 48912), ("dantzig42", 42, 699), ("eil101", 101, 629),
    ("eil51", 51, 426), ("eil76", 76, 538), ("fl1400", 1400, 20127), ("fl1577", 1577, 22249),
    ("fl3795", 3795, 28772), ("fl417", 417, 11861), ("fnl4461", 4461, 182566), ("fri26", 26, 937),
    ("gil262", 262, 2378), ("gr120", 120, 6942), ("gr137", 137, 69853), ("gr17", 17, 2085),
    ("gr202", 202, 40160), ("gr21", 21, 2707), ("gr229", 229, 134602), ("gr24", 24, 1272),
    ("gr431", 431, 171414), ("gr48", 48, 5046), ("gr666", 666, 294358), ("gr96", 96, 55209),
    ("hk48", 48, 11461), ("kroA100", 100, 21282), ("kroA150", 150, 26524), ("kroA200", 200, 29368),
    ("kroB100", 100, 22141), ("kroB150", 150, 26130), ("kroB200", 200, 29437), ("kroC100", 100, 20749),
    ("kroD100", 100, 21294), ("kroE100", 100, 22068), ("lin105", 105, 14379), ("lin318", 318, 42029),
    ("nrw1379", 1379, 56638), ("p654", 654, 34643), ("pa561", 561, 2763), ("pcb1173", 1173, 56892),
    ("pcb3038", 3038, 137694), ("pcb442", 442, 50778), ("pla33810", 33810, 66048945),
    ("pla7397", 7397, 23260728), ("pla85900", 85900, 142382641), ("pr1002", 1002, 259045),
    ("pr107", 107, 44303), ("pr124", 124, 59030), ("pr136", 136, 96772), ("pr144", 144, 58537),
    ("pr152", 152, 73682), ("pr226", 226, 80369), ("pr2392", 2392, 378032), ("pr264", 264, 49135),
    ("pr299", 299, 48191), ("pr439", 439, 107217), ("pr76", 76, 108159), ("rat195", 195, 2323),
    ("rat575", 575, 6773), ("rat783", 783, 8806), ("rat99", 99, 1211), ("rd100", 100, 7910),
    ("rd400", 400, 15281), ("rl11849", 11849, 923288), ("rl1304", 1304, 252948), ("rl1323", 1323, 270199),
    ("rl1889", 1889, 316536), ("rl5915", 5915, 565530), ("rl5934", 5934, 556045), ("si1032", 1032, 92650),
    ("si175", 175, 21407), ("si535", 535, 48450), ("st70", 70, 675), ("swiss42", 42, 1273),
    ("ts225", 225, 126643), ("tsp225", 225, 3916), ("u1060", 1060, 224094), ("u1432", 1432, 152970),
    ("u159", 159, 42080), ("u1817", 1817, 57201), ("u2152", 2152, 64253), ("u2319", 2319, 234256),
    ("u574", 574, 36905), ("u724", 724, 41910), ("ulysses16", 16, 6859), ("ulysses22", 22, 7013),
    ("usa13509", 13509, 19982859), ("vm1084", 1084, 239297), ("vm1748", 1748, 336556),
];

/// TSPLIB95, asymmetric.
#[rustfmt::skip]
const TSPLIB_ASYMMETRIC: &[(&str, u32, i64)] = &[
    ("br17", 17, 39), ("ft53", 53, 6905), ("ft70", 70, 38673), ("ftv170", 171, 2755), ("ftv33", 34, 1286),
    ("ftv35", 36, 1473), ("ftv38", 39, 1530), ("ftv44", 45, 1613), ("ftv47", 48, 1776), ("ftv55", 56, 1608),
    ("ftv64", 65, 1839), ("ftv70", 71, 1950), ("kro124p", 100, 36230), ("p43", 43, 5620),
    ("rbg323", 323, 1326), ("rbg358", 358, 1163), ("rbg403", 403, 2465), ("rbg443", 443, 2720),
    ("ry48p", 48, 14422),
];

/// VLSI and national instances of the University of Waterloo.
#[rustfmt::skip]
const WATERLOO: &[(&str, u32, i64)] = &[
    ("bcl380", 380, 1621), ("dj38", 38, 6656), ("dka1376", 1376, 4666), ("dkg813", 813, 3199),
    ("lu980", 980, 11340), ("nu3496", 3496, 96132), ("pma343", 343, 1368), ("qa194", 194, 9352),
    ("rw1621", 1621, 26051), ("uy734", 734, 79114), ("wi29", 29, 27603), ("xmc10150", 10150, 28387),
    ("xqc2175", 2175, 6830), ("xqe3891", 3891, 11995), ("xqf131", 131, 564), ("xqg237", 237, 1019),
    ("xql662", 662, 2513), ("zi929", 929, 95345),
];

/// QAPLIB: name, size, cost, whether it is proven.
#[rustfmt::skip]
const QAPLIB: &[(&str, u32, i64, bool)] = &[
    ("chr12a", 12, 9552, true), ("els19", 19, 17212548, true), ("esc16a", 16, 68, true),
    ("nug12", 12, 578, true), ("nug20", 20, 2570, true), ("nug30", 30, 6124, true),
    ("rou20", 20, 725522, true), ("sko100a", 100, 152002, false), ("sko42", 42, 15812, true),
    ("tai100a", 100, 21044752, false), ("tai100b", 100, 1185996137, false), ("tai12a", 12, 224416, true),
    ("tai20a", 20, 703482, true), ("tai20b", 20, 122455319, true), ("tai25a", 25, 1167256, true),
    ("tai30a", 30, 1818146, true), ("tai35a", 35, 2422002, false), ("tai40a", 40, 3139370, false),
    ("tai50a", 50, 4938796, false), ("tai60a", 60, 7205962, false), ("tho150", 150, 8133398, false),
];

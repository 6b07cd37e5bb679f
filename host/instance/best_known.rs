//! The best published tour lengths and costs of well-known instances.
//!
//! Sources: the best-known lists of TSPLIB95 (G. Reinelt, University of Heidelberg), and the VLSI and
//! national instance pages of the University of Waterloo (W. Cook), whose values are all proven optimal;
//! the 8th DIMACS Implementation Challenge and the tables of its successors for the random `E` instances; the
//! best-known list of QAPLIB (R. E. Burkard, S. E. Karisch, F. Rendl: QAPLIB - A Quadratic Assignment Problem
//! Library, Journal of Global Optimization 10, 1997), and for the proofs of tai30a and sko42 K. Fujii, N. Ito,
//! S. Kim, M. Kojima, Y. Shinano, K.-C. Toh: Solving Challenging Large Scale QAPs, 2021.

use super::dimacs;
use super::model::Instance;
use super::qaplib::Qap;

/// A published tour length, or the published cost of a solution of another problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestKnown {
    /// The length of a tour, as [`Instance::check_tour`] returns it, or the cost of a solution, as [`Qap::cost`] does.
    pub cost: i64,
    /// Whether it is proven to be optimal.
    pub proven: bool,
}

impl Instance {
    /// Returns the best published tour length; `None` if none is listed here.
    ///
    /// A name alone does not identify an instance: an optimum stops a run, and that of another instance would stop it far too
    /// early. So the data must also match the published instance.
    pub fn best_known(&self) -> Option<BestKnown> {
        if !self.is_as_given() || self.forbidden().is_some() || self.ends().is_some() {
            return None;
        }
        // Some instances are named like their file: pa561 calls itself pa561.tsp.
        let name = self.name().trim_end_matches(".tsp").trim_end_matches(".atsp");
        if let Some(cost) = dimacs::best_known(name, self) {
            return Some(BestKnown { cost, proven: false });
        }
        // The fingerprint comes last, since it takes the longest: few instances have a name in the lists.
        let is_of = |entry: &&Entry| {
            entry.0.eq_ignore_ascii_case(name)
                && entry.1 as usize == self.len()
                && entry.3 == self.fingerprint()
        };
        let entry = [TSPLIB, TSPLIB_ASYMMETRIC, WATERLOO].into_iter().flatten().find(is_of)?;
        Some(BestKnown { cost: entry.2, proven: true })
    }
}

impl Qap {
    /// Returns the best published cost, found in the same way as for an instance; `None` if none is listed here.
    pub fn best_known(&self) -> Option<BestKnown> {
        let entry = QAPLIB.iter().find(|entry| {
            entry.0.eq_ignore_ascii_case(&self.name) && entry.1 == self.n && entry.4 == self.fingerprint()
        })?;
        Some(BestKnown { cost: entry.2, proven: entry.3 })
    }
}

/// Name, number of nodes, optimal length, fingerprint. `tests/instances/tours.rs` reports the fingerprint of a file without an
/// entry.
type Entry = (&'static str, u32, i64, u64);

/// TSPLIB95, symmetric.
///
/// dsj1000 is listed with both of its metrics, CEIL_2D first. linhp318 is about the shortest path from node 1 to node 214, 41345.
/// Its file, which calls itself lin318, fixes the edge that closes the path, and the length of that edge, 3869, counts.
#[rustfmt::skip]
const TSPLIB: &[Entry] = &[
    ("a280", 280, 2579, 0x291319b7bfd655fb), ("ali535", 535, 202339, 0xcb427b958dd5ee60),
    ("att48", 48, 10628, 0x0568e9e8354f2ffb), ("att532", 532, 27686, 0x5369b127d1ad8842),
    ("bayg29", 29, 1610, 0x89adfd1259f3a9d1), ("bays29", 29, 2020, 0xc8dc074a8339ff79),
    ("berlin52", 52, 7542, 0x85617b5497eddbe2), ("bier127", 127, 118282, 0x6ee4a48d31ccf4a8),
    ("brazil58", 58, 25395, 0xcc1b789e2f0fdf72), ("brd14051", 14051, 469385, 0xfc4ea849f967734e),
    ("brg180", 180, 1950, 0xc3009d6ca59fb308), ("burma14", 14, 3323, 0x0b7132e4bdc73403),
    ("ch130", 130, 6110, 0x7356f57abdeda1a1), ("ch150", 150, 6528, 0x0888e5b31bbe1a5c),
    ("d1291", 1291, 50801, 0x0d907a1a3c3c91fe), ("d15112", 15112, 1573084, 0x8f1f015ffa7cf96c),
    ("d1655", 1655, 62128, 0xe4592790613d5099), ("d18512", 18512, 645238, 0x931e963e96276a7e),
    ("d198", 198, 15780, 0x0d469c5ae3f23ddd), ("d2103", 2103, 80450, 0xd36412fd7e83348d),
    ("d493", 493, 35002, 0x5e9afbac5c99e5d9), ("d657", 657, 48912, 0x5331109889643c17),
    ("dantzig42", 42, 699, 0x21e38804c7601536), ("dsj1000", 1000, 18660188, 0x22a46eda29284e3a),
    ("dsj1000", 1000, 18659688, 0x7777ac4807098388), ("eil101", 101, 629, 0x37621ad98392ba8c),
    ("eil51", 51, 426, 0x6c5ae652c3151cf2), ("eil76", 76, 538, 0x7fad8acec319ddb5),
    ("fl1400", 1400, 20127, 0x26f994340f77e631), ("fl1577", 1577, 22249, 0x93d533470e78e86f),
    ("fl3795", 3795, 28772, 0x898c470cd240b1ef), ("fl417", 417, 11861, 0x7ae57f3b3af601de),
    ("fnl4461", 4461, 182566, 0x341ab8ea3edb7579), ("fri26", 26, 937, 0x7d47f0619c2c0332),
    ("gil262", 262, 2378, 0x789856446f8af64d), ("gr120", 120, 6942, 0xa7b135282b7c026c),
    ("gr137", 137, 69853, 0x6785bc607fdeb1c8), ("gr17", 17, 2085, 0x3f5af2f52251440d),
    ("gr202", 202, 40160, 0x988e5f225d7e29d2), ("gr21", 21, 2707, 0x82c9c154a5e32809),
    ("gr229", 229, 134602, 0xbd5a35841565e6bc), ("gr24", 24, 1272, 0x371546966c779a34),
    ("gr431", 431, 171414, 0x658b8553ce0f6e04), ("gr48", 48, 5046, 0xd3ff1f5b63af26a0),
    ("gr666", 666, 294358, 0x17a36ec5ee62e349), ("gr96", 96, 55209, 0xba9e5b9d1736fad8),
    ("hk48", 48, 11461, 0xca276a40ba643038), ("kroA100", 100, 21282, 0x10f46710ae792320),
    ("kroA150", 150, 26524, 0xdd44f0ea85eb1557), ("kroA200", 200, 29368, 0xde2d589ed426cf70),
    ("kroB100", 100, 22141, 0x72aed517e0f186ec), ("kroB150", 150, 26130, 0xdef6045e5c8952e8),
    ("kroB200", 200, 29437, 0xff8203a2410e02d9), ("kroC100", 100, 20749, 0xe52f0a6585fe24de),
    ("kroD100", 100, 21294, 0xf4d1f5df58527233), ("kroE100", 100, 22068, 0xe4172c417d317f2f),
    ("lin105", 105, 14379, 0x069e55ed64e89d6e), ("lin318", 318, 42029, 0xaad72fc7c6053207),
    ("lin318", 318, 45214, 0x34220b1b46f49442), ("linhp318", 318, 45214, 0x34220b1b46f49442),
    ("nrw1379", 1379, 56638, 0x21c50bac8e1b4cf7), ("p654", 654, 34643, 0x083929a7dc377fec),
    ("pa561", 561, 2763, 0x6d1f0d09207091a7), ("pcb1173", 1173, 56892, 0x726ce56558c79f4a),
    ("pcb3038", 3038, 137694, 0x784f3a66023050d7), ("pcb442", 442, 50778, 0x63d7985b6b7edfee),
    ("pla33810", 33810, 66048945, 0x4d1c9a106a587a6a), ("pla7397", 7397, 23260728, 0x9e0444922ef4914f),
    ("pla85900", 85900, 142382641, 0x514276cb3deaea3b), ("pr1002", 1002, 259045, 0x36b5d6b2b4e24e29),
    ("pr107", 107, 44303, 0x2c0c4b37a50c4399), ("pr124", 124, 59030, 0xd3c8c75a2de2de2f),
    ("pr136", 136, 96772, 0x448c0e31fd33e8de), ("pr144", 144, 58537, 0x9d4d9445480b580e),
    ("pr152", 152, 73682, 0xb0cf89f2159da752), ("pr226", 226, 80369, 0x9fed1481fd56703c),
    ("pr2392", 2392, 378032, 0x4a8fd84688a1292d), ("pr264", 264, 49135, 0x965cf1e3dc0f28e4),
    ("pr299", 299, 48191, 0x6a8e9ea29d657da3), ("pr439", 439, 107217, 0xed6483c6c2ba95c2),
    ("pr76", 76, 108159, 0xe89345f6373b02a4), ("rat195", 195, 2323, 0x48219749b606bda7),
    ("rat575", 575, 6773, 0x2df22f0b882fcf18), ("rat783", 783, 8806, 0x6e4b02acd3cfcf3d),
    ("rat99", 99, 1211, 0x2d86f59759c5ca9e), ("rd100", 100, 7910, 0x8603f750a2b33ad8),
    ("rd400", 400, 15281, 0x99f5be127efb77a7), ("rl11849", 11849, 923288, 0x3653b11827a668f9),
    ("rl1304", 1304, 252948, 0xa07e6ec563c6823b), ("rl1323", 1323, 270199, 0xddfa3ccd20a01e86),
    ("rl1889", 1889, 316536, 0xdb3213813ea3e31f), ("rl5915", 5915, 565530, 0xc394c1f9343f18bf),
    ("rl5934", 5934, 556045, 0xedebc645e4239be7), ("si1032", 1032, 92650, 0xa98e08a901084338),
    ("si175", 175, 21407, 0x10ab619c557171eb), ("si535", 535, 48450, 0x43172c9d1592faf1),
    ("st70", 70, 675, 0xb4caf53b5ba18a2b), ("swiss42", 42, 1273, 0xa0382802e1459556),
    ("ts225", 225, 126643, 0x3c59b0ad1c6bf66f), ("tsp225", 225, 3916, 0x47fc59a88095764f),
    ("u1060", 1060, 224094, 0xafa877f1c03ee16a), ("u1432", 1432, 152970, 0xdb4d62b87849e7ef),
    ("u159", 159, 42080, 0xfa910fa310dba3da), ("u1817", 1817, 57201, 0x59f9eafb1702cd33),
    ("u2152", 2152, 64253, 0x15c3cdecdecfe949), ("u2319", 2319, 234256, 0x773d287729f27b00),
    ("u574", 574, 36905, 0x30a05d7d6aad4201), ("u724", 724, 41910, 0x43d7650d5d482ecf),
    ("ulysses16", 16, 6859, 0xa73e0a0f54e6ad73), ("ulysses22", 22, 7013, 0x747a9fe5080f0927),
    ("usa13509", 13509, 19982859, 0xa5ddafad6b8d4bc2), ("vm1084", 1084, 239297, 0xa9e333d21ba09e5e),
    ("vm1748", 1748, 336556, 0xbd6f32fb3eef744e),
];

/// TSPLIB95, asymmetric.
#[rustfmt::skip]
const TSPLIB_ASYMMETRIC: &[Entry] = &[
    ("br17", 17, 39, 0x80af44d1680a3614), ("ft53", 53, 6905, 0x84b31bcfe032e9a9),
    ("ft70", 70, 38673, 0x4287214896b36891), ("ftv170", 171, 2755, 0x1a40568ec36fe964),
    ("ftv33", 34, 1286, 0x02cd672f3cacfc6e), ("ftv35", 36, 1473, 0xb4d9e58ec7a6d701),
    ("ftv38", 39, 1530, 0x8a2217aa9ea5cbc1), ("ftv44", 45, 1613, 0x97fcad9688b18aad),
    ("ftv47", 48, 1776, 0x42473d8f113e9f7a), ("ftv55", 56, 1608, 0xc88711027262f00f),
    ("ftv64", 65, 1839, 0x2dabfbe949e8ce73), ("ftv70", 71, 1950, 0x0928e4d1650d8319),
    ("kro124p", 100, 36230, 0xcaad404fe305139e), ("p43", 43, 5620, 0xf9cac4dcb030f0dd),
    ("rbg323", 323, 1326, 0xd6ebbb14bd7da0e2), ("rbg358", 358, 1163, 0x241d3a1ce6705055),
    ("rbg403", 403, 2465, 0x930c58463c02535d), ("rbg443", 443, 2720, 0x4b0c790f956a5d07),
    ("ry48p", 48, 14422, 0x2a47804ca858f26a),
];

/// VLSI and national instances of the University of Waterloo.
#[rustfmt::skip]
const WATERLOO: &[Entry] = &[
    ("bcl380", 380, 1621, 0xa645fde506b5ad43), ("dj38", 38, 6656, 0xb362e9f834609986),
    ("dka1376", 1376, 4666, 0x34dc73b47deb83fd), ("dkg813", 813, 3199, 0x67e0c86f7b687ca8),
    ("lu980", 980, 11340, 0xa35504d9fc716502), ("nu3496", 3496, 96132, 0x67a80da442713623),
    ("pma343", 343, 1368, 0xf1e793a470ec2a21), ("qa194", 194, 9352, 0x33ca7e5b61dfa343),
    ("rw1621", 1621, 26051, 0xf860c8fa4fc7ce7e), ("uy734", 734, 79114, 0x1d782eadb4d79231),
    ("wi29", 29, 27603, 0xc6b675f83681b9c8), ("xmc10150", 10150, 28387, 0x3c7b5833be5f817e),
    ("xqc2175", 2175, 6830, 0xbd3e0f5694331ad2), ("xqe3891", 3891, 11995, 0xdf336dd18bec79d1),
    ("xqf131", 131, 564, 0x08b60f58f6c33d34), ("xqg237", 237, 1019, 0xf1f2edb944d4689a),
    ("xql662", 662, 2513, 0xe3e84f7c90e3e125), ("zi929", 929, 95345, 0xc522ec5e1f81158c),
];

/// QAPLIB: name, size, cost, whether it is proven, fingerprint.
#[rustfmt::skip]
const QAPLIB: &[(&str, u32, i64, bool, u64)] = &[
    ("chr12a", 12, 9552, true, 0xc50a83e18722e3b3), ("els19", 19, 17212548, true, 0x8aad7f7bcd980274),
    ("esc16a", 16, 68, true, 0xc201fa9b64090caf), ("nug12", 12, 578, true, 0x021963d528337043),
    ("nug20", 20, 2570, true, 0xa31916f38196b25b), ("nug30", 30, 6124, true, 0x9a95e529d63b3cc1),
    ("rou20", 20, 725522, true, 0x2f3510c742a59c0b), ("sko100a", 100, 152002, false, 0x42b6574d6f972a2b),
    ("sko42", 42, 15812, true, 0xaa8ff6e5bcab1b65), ("tai100a", 100, 21044752, false, 0x76d6a37b560cb10b),
    ("tai100b", 100, 1185996137, false, 0xfb582e8f7d62e95e), ("tai12a", 12, 224416, true, 0xe0ce1319783c2403),
    ("tai20a", 20, 703482, true, 0x671be8c155cf9abb), ("tai20b", 20, 122455319, true, 0x4e939eb03ff5f2bc),
    ("tai25a", 25, 1167256, true, 0xfc770e1807d23d96), ("tai30a", 30, 1818146, true, 0x3b2d999bf51fcd61),
    ("tai35a", 35, 2422002, false, 0x08118a6c1845b4ec), ("tai40a", 40, 3139370, false, 0x67a7527e34b48237),
    ("tai50a", 50, 4938796, false, 0x9ec145366ec7243d), ("tai60a", 60, 7205962, false, 0x4809fc6836ee47b3),
    ("tho150", 150, 8133398, false, 0xd986a391302f0489),
];

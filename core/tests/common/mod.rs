//! What the tests share: guarded memory, teams of several members, statistics, how many random cases there are.

pub mod memory;
pub mod statistics;
pub mod teams;
pub mod trails;
pub mod world;

/// So many random cases; two under Miri, which takes a thousand times as long.
pub fn cases(number: u32) -> proptest::test_runner::Config {
    proptest::test_runner::Config::with_cases(if cfg!(miri) { 2 } else { number })
}

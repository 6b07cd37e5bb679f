//! What the tests share: guarded memory, teams of several members, statistics.
#![allow(dead_code, reason = "every test program uses a part of it")]

pub mod memory;
pub mod statistics;
pub mod teams;
pub mod trails;

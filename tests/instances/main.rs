//! Instance files: published ones, broken ones, those that we write, and those that the fuzzer found.

mod corpus;
mod problems;
mod tours;

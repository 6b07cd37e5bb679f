#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| antwarp_fuzz::certificate(bytes));

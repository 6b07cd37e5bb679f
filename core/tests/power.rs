//! Powers of trails and heuristic values.

use antwarp_core::power::power;

#[test]
fn powers_are_powers() {
    for e in [0.0f32, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.3] {
        for x in [1e-4f32, 0.03, 0.7, 1.0, 1.1, 9.99, 1234.5] {
            let (got, exact) = (power(x, e) as f64, (x as f64).powf(e as f64));
            // Three roundings at most.
            assert!((got / exact - 1.0).abs() < 3.0 * 2f64.powi(-24), "{x}^{e}: {got} for {exact}");
        }
    }
}

#[test]
fn nothing_stays_nothing() {
    for e in [0.5, 1.0, 2.0, 3.0, 4.5] {
        assert_eq!(power(0.0, e), 0.0);
    }
}

//! Goodness of fit.

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Tests run under fixed seeds: a level this low fails only for a wrong distribution.
pub const LEVEL: f64 = 1e-4;

/// Joins classes that expect fewer than 5, so that the chi-square approximation holds.
fn joined(classes: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut rare = (0.0, 0.0);
    let mut common = Vec::new();
    for (seen, expected) in classes {
        if expected >= 5.0 {
            common.push((seen, expected))
        } else {
            rare = (rare.0 + seen, rare.1 + expected)
        }
    }
    if rare.1 > 0.0 {
        if rare.1 >= 5.0 || common.is_empty() {
            common.push(rare)
        } else {
            let last = common.len() - 1;
            common[last] = (common[last].0 + rare.0, common[last].1 + rare.1);
        }
    }
    common
}

fn survival(statistic: f64, classes: usize) -> f64 {
    assert!(classes > 1, "nothing to test");
    ChiSquared::new((classes - 1) as f64).unwrap().sf(statistic)
}

/// The probability of counts at least this far from what the weights let expect.
pub fn fit(counts: &[u64], weights: &[f64]) -> f64 {
    assert_eq!(counts.len(), weights.len());
    let draws: u64 = counts.iter().sum();
    let total: f64 = weights.iter().sum();
    for (count, weight) in counts.iter().zip(weights) {
        assert!(*weight > 0.0 || *count == 0, "chosen in spite of its weight of 0");
    }
    let classes = joined(counts.iter().zip(weights).map(|(&c, w)| (c as f64, w / total * draws as f64)));
    survival(classes.iter().map(|(o, e)| (o - e).powi(2) / e).sum(), classes.len())
}

/// [`fit`] to equal weights.
pub fn uniformity(counts: &[u64]) -> f64 {
    fit(counts, &vec![1.0; counts.len()])
}

/// The probability that two samples of one size differ at least this much if they have one distribution.
pub fn likeness(a: &[u64], b: &[u64]) -> f64 {
    assert_eq!(a.iter().sum::<u64>(), b.iter().sum::<u64>());
    let classes = joined(
        a.iter().zip(b).filter(|(a, b)| **a + **b > 0).map(|(&a, &b)| (a as f64, (a + b) as f64 / 2.0)),
    );
    survival(classes.iter().map(|(o, e)| 2.0 * (o - e).powi(2) / e).sum(), classes.len())
}

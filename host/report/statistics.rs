//! Comparing variants by rank (Friedman 1937; the correction for ties after Conover 1999, section 5.8).

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// The outcome of a Friedman test.
#[derive(Clone, Debug, PartialEq)]
pub struct Friedman {
    /// The mean rank of each treatment; 1 is the smallest value.
    pub mean_ranks: Vec<f64>,
    /// The statistic, nearly χ² distributed.
    pub statistic: f64,
    /// How likely such a statistic is if all treatments are alike; `None` if they never differed.
    pub p_value: Option<f64>,
}

/// Tests whether treatments differ: a row a block, a column a treatment. `None` without two of each.
///
/// # Panics
/// If the rows are not equally long.
pub fn friedman(blocks: &[Vec<f64>]) -> Option<Friedman> {
    let treatments = blocks.first()?.len();
    if treatments < 2 || blocks.len() < 2 {
        return None;
    }
    let (k, b) = (treatments as f64, blocks.len() as f64);
    let mut sums = vec![0.0; treatments];
    let mut squares = 0.0;
    for block in blocks {
        assert_eq!(block.len(), treatments, "every block has every treatment");
        for (sum, rank) in sums.iter_mut().zip(ranks(block)) {
            *sum += rank;
            squares += rank * rank;
        }
    }
    let spread = squares - b * k * (k + 1.0).powi(2) / 4.0;
    let middle = b * (k + 1.0) / 2.0;
    let between: f64 = sums.iter().map(|sum| (sum - middle).powi(2)).sum();
    let differ = spread > 1e-9;
    let statistic = if differ { (k - 1.0) * between / spread } else { 0.0 };
    let p_value = differ.then(|| ChiSquared::new(k - 1.0).ok().map(|chi| chi.sf(statistic))).flatten();
    Some(Friedman { mean_ranks: sums.iter().map(|sum| sum / b).collect(), statistic, p_value })
}

/// The rank of each value from 1; equal values share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let smaller = values.iter().filter(|v| *v < value).count() as f64;
        let equal = values.iter().filter(|v| *v == value).count() as f64;
        smaller + (equal + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_a_rank() {
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
    }

    #[test]
    fn a_constant_order_is_significant() {
        let test = friedman(&vec![vec![1.0, 2.0, 3.0]; 10]).unwrap();
        assert_eq!(test.mean_ranks, [1.0, 2.0, 3.0]);
        // The largest possible: b (k - 1).
        assert!((test.statistic - 20.0).abs() < 1e-9);
        assert!((test.p_value.unwrap() - (-10f64).exp()).abs() < 1e-9);
    }

    #[test]
    fn ties_only_are_no_evidence() {
        assert_eq!(friedman(&vec![vec![7.0; 3]; 4]).unwrap().p_value, None);
        assert_eq!(friedman(&[vec![1.0, 2.0]]), None);
        assert_eq!(friedman(&[]), None);
    }
}

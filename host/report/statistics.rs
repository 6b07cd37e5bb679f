//! Means, medians and deviations; and compares variants by rank: several by Friedman's test (Friedman 1937; the correction for ties
//! after Conover 1999, section 5.8), two, or one and a published number, by Wilcoxon's (Wilcoxon 1945). Several tests are corrected by
//! Holm's method (Holm 1979).

use std::cmp::Ordering;

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

/// Returns the mean; `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the median, which is the mean of the two in the middle if their number is even; `None` without values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) = (*values.get(values.len().checked_sub(1)? / 2)?, *values.get(values.len() / 2)?);
    Some(low + (high - low) / 2.0)
}

/// Returns the standard deviation, estimated from a sample; `None` without two values.
pub fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let sum: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((sum / (values.len() - 1) as f64).sqrt())
}

/// The outcome of a Friedman test.
#[derive(Clone, Debug, PartialEq)]
pub struct Friedman {
    /// The mean rank of each treatment; 1 is the smallest value.
    pub mean_ranks: Vec<f64>,
    /// The statistic, approximately χ² distributed.
    pub statistic: f64,
    /// The probability of a statistic this large if all treatments are alike; `None` if they never differed.
    pub p_value: Option<f64>,
}

/// Tests whether treatments differ: rows are blocks, columns are treatments. `None` without at least two of each. Values are only
/// compared.
///
/// # Panics
/// If the rows have different lengths.
pub fn friedman<T: PartialOrd>(blocks: &[Vec<T>]) -> Option<Friedman> {
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

/// Returns the p-values of several tests, adjusted so that the probability of any false rejection among them is at most the level
/// they are compared with (Holm 1979); in the order given.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let (mut adjusted, mut largest) = (vec![0.0; p_values.len()], 0f64);
    for (rank, &i) in order.iter().enumerate() {
        largest = largest.max((p_values.len() - rank) as f64 * p_values[i]).min(1.0);
        adjusted[i] = largest;
    }
    adjusted
}

/// The outcome of one of Wilcoxon's tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wilcoxon {
    /// The sum of ranks.
    pub statistic: f64,
    /// The statistic minus its expected value if nothing differs: below 0 if the values are the smaller ones.
    pub excess: f64,
    /// The two-sided probability of a statistic this far off if nothing differs.
    pub p_value: f64,
}

impl Wilcoxon {
    /// Computes the p-value by the normal approximation, with a continuity correction.
    fn new(statistic: f64, expected: f64, variance: f64) -> Wilcoxon {
        let excess = statistic - expected;
        let off = (excess.abs() - 0.5).max(0.0);
        // If all values are equal, there is no variance and no evidence.
        let z = if variance > 0.0 { off / variance.sqrt() } else { 0.0 };
        Wilcoxon { statistic, excess, p_value: (2.0 * Normal::standard().sf(z)).min(1.0) }
    }
}

/// Performs Wilcoxon's rank-sum test (Mann-Whitney test) of whether values of `a` differ from those of `b`. The statistic is the
/// sum of the ranks of `a` among all (Wilcoxon 1945; the correction for ties after Hollander & Wolfe 1999, section 4.1). `None` if
/// either is empty. Values are only compared.
pub fn rank_sum<T: PartialOrd + Copy>(a: &[T], b: &[T]) -> Option<Wilcoxon> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let (m, n, all) = (a.len() as f64, b.len() as f64, (a.len() + b.len()) as f64);
    let pooled = [a, b].concat();
    let statistic = ranks(&pooled).iter().take(a.len()).sum();
    let variance = m * n / 12.0 * (all + 1.0 - ties(&pooled) / (all * (all - 1.0)));
    Some(Wilcoxon::new(statistic, m * (all + 1.0) / 2.0, variance))
}

/// Performs Wilcoxon's signed-rank test of whether values differ from `center`. The statistic is the sum of the ranks, by distance,
/// of the values above it; values equal to it are ignored (Wilcoxon 1945; the correction for ties after Hollander & Wolfe 1999,
/// section 3.1). `None` without values.
pub fn signed_rank(values: &[f64], center: f64) -> Option<Wilcoxon> {
    if values.is_empty() {
        return None;
    }
    let differences: Vec<f64> = values.iter().map(|value| value - center).filter(|d| *d != 0.0).collect();
    let distances: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
    let ranked = ranks(&distances).into_iter().zip(&differences);
    let statistic = ranked.filter(|(_, difference)| **difference > 0.0).map(|(rank, _)| rank).sum();
    let n = distances.len() as f64;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties(&distances) / 48.0;
    Some(Wilcoxon::new(statistic, n * (n + 1.0) / 4.0, variance))
}

/// Returns the order of values, and where each run of equal ones ends in it.
fn runs<T: PartialOrd>(values: &[T]) -> (Vec<usize>, Vec<usize>) {
    let compare = |a: &usize, b: &usize| values[*a].partial_cmp(&values[*b]).unwrap_or(Ordering::Equal);
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(compare);
    let is_last = |&end: &usize| end == order.len() || compare(&order[end - 1], &order[end]).is_ne();
    let ends = (1..=order.len()).filter(is_last).collect();
    (order, ends)
}

/// Returns the sum of t³ - t over all groups of t equal values.
fn ties<T: PartialOrd>(values: &[T]) -> f64 {
    let (_, ends) = runs(values);
    let starts = std::iter::once(&0).chain(&ends);
    starts.zip(&ends).map(|(start, end)| (end - start) as f64).map(|equal| equal.powi(3) - equal).sum()
}

/// Returns the rank of each value from 1; equal values share the mean of their ranks.
fn ranks<T: PartialOrd>(values: &[T]) -> Vec<f64> {
    let (order, ends) = runs(values);
    let (mut ranks, mut start) = (vec![0.0; values.len()], 0);
    for end in ends {
        order[start..end].iter().for_each(|&i| ranks[i] = (start + 1 + end) as f64 / 2.0);
        start = end;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_in_the_middle() {
        let of = |values: &[f64]| median(values.to_vec());
        assert_eq!([of(&[]), of(&[5.0]), of(&[5.0, 1.0])], [None, Some(5.0), Some(3.0)]);
        assert_eq!([of(&[9.0, 1.0, 2.0]), of(&[9.0, 1.0, 2.0, 4.0])], [Some(2.0), Some(3.0)]);
    }

    #[test]
    fn equal_values_share_a_rank() {
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
    }

    /// As 64-bit floats, all of these would be equal.
    #[test]
    fn large_whole_numbers_are_told_apart() {
        let large = 450_358_044_767_908_290_i64;
        assert_eq!(ranks(&[large + 2, large, large + 1]), [3.0, 1.0, 2.0]);
        assert_eq!(ties(&[large + 2, large, large + 1]), 0.0);
        assert_eq!(friedman(&vec![vec![large, large + 1]; 4]).unwrap().mean_ranks, [1.0, 2.0]);
        assert_eq!(rank_sum(&[large], &[large + 1]).unwrap().statistic, 1.0);
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
        assert_eq!(friedman::<f64>(&[]), None);
    }

    /// Ranks of four grasses by twelve home owners (Conover 1999, section 5.8, example 1).
    #[test]
    fn a_friedman_test_is_as_in_the_book() {
        let grasses = [
            [4.0, 3.0, 2.0, 1.0],
            [4.0, 2.0, 3.0, 1.0],
            [3.0, 1.5, 1.5, 4.0],
            [3.0, 1.0, 2.0, 4.0],
            [4.0, 2.0, 1.0, 3.0],
            [2.0, 2.0, 2.0, 4.0],
            [1.0, 3.0, 2.0, 4.0],
            [2.0, 4.0, 1.0, 3.0],
            [3.5, 1.0, 2.0, 3.5],
            [4.0, 1.0, 3.0, 2.0],
            [4.0, 2.0, 3.0, 1.0],
            [3.5, 1.0, 2.0, 3.5],
        ];
        let test = friedman(&grasses.map(Vec::from)).unwrap();
        let sums: Vec<f64> = test.mean_ranks.iter().map(|mean| mean * 12.0).collect();
        assert!(sums.iter().zip([38.0, 23.5, 24.5, 34.0]).all(|(sum, book)| (sum - book).abs() < 1e-9));
        // 3 (3752.5 - 12 * 300) / (356.5 - 300)
        assert!((test.statistic - 8.097).abs() < 1e-3, "{}", test.statistic);
        assert!((test.p_value.unwrap() - 0.0440).abs() < 1e-4, "{:?}", test.p_value);
    }

    /// Pulses of seven students before, at and after exercise: the example of `scipy.stats.friedmanchisquare`, whose
    /// documentation gives 10.57142857142857 and 0.005063414171757498.
    #[test]
    fn a_friedman_test_is_as_scipy_has_it() {
        let before = [72.0, 96.0, 88.0, 92.0, 74.0, 76.0, 82.0];
        let at = [120.0, 120.0, 132.0, 120.0, 101.0, 96.0, 112.0];
        let after = [76.0, 95.0, 104.0, 96.0, 84.0, 72.0, 76.0];
        let blocks: Vec<Vec<f64>> = (0..7).map(|i| vec![before[i], at[i], after[i]]).collect();
        let test = friedman(&blocks).unwrap();
        assert!((test.statistic - 10.571_428_571_428_57).abs() < 1e-9, "{}", test.statistic);
        assert!((test.p_value.unwrap() - 0.005_063_414_171_757_498).abs() < 1e-9, "{:?}", test.p_value);
    }

    #[test]
    fn holm_lets_no_smaller_p_value_overtake() {
        let is_like = |p: &[f64], adjusted: &[f64]| {
            holm(p).iter().zip(adjusted).all(|(own, right)| (own - right).abs() < 1e-12)
        };
        // At level 0.05 the first and the last are rejected, step by step: 0.005 < 0.05 / 4, 0.01 < 0.05 / 3, 0.03 > 0.05 / 2.
        assert!(is_like(&[0.01, 0.04, 0.03, 0.005], &[0.03, 0.06, 0.06, 0.02]));
        assert!(is_like(&[0.5, 0.9, 0.5], &[1.0, 1.0, 1.0]));
        assert!(is_like(&[0.2], &[0.2]) && holm(&[]).is_empty());
    }

    /// Permeability constants of a membrane at term and in early pregnancy (Hollander & Wolfe 1999, example 4.1).
    const TERM: [f64; 10] = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
    const EARLY: [f64; 5] = [1.15, 0.88, 0.90, 0.74, 1.21];

    /// Improvement of a depression (Hollander & Wolfe 1999, example 3.1).
    const EASED: [f64; 9] = [0.952, -0.147, 1.022, 0.43, 0.62, 0.59, 0.49, -0.08, 0.01];

    #[test]
    fn a_rank_sum_is_as_in_the_book() {
        let test = rank_sum(&EARLY, &TERM).unwrap();
        assert_eq!((test.statistic, test.excess), (30.0, -10.0));
        // z = 9.5 / sqrt(10 * 5 * 16 / 12)
        assert!((test.p_value - 0.2446).abs() < 1e-4, "{}", test.p_value);
        // Every five of the fifteen ranks: 2 * 0.1272 by the book's table.
        let sums = (0u32..1 << 15)
            .filter(|set| set.count_ones() == 5)
            .map(|set| (0..15).filter(|i| set >> i & 1 == 1).map(|i| f64::from(i + 1)).sum::<f64>());
        let (far, all) = count(sums, |sum| (sum - 40.0f64).abs() >= 10.0);
        assert_eq!(all, 3003.0);
        assert!((far / all - 0.2544).abs() < 1e-4);
        assert!((far / all - test.p_value).abs() < 0.02);
        let other = rank_sum(&TERM, &EARLY).unwrap();
        assert_eq!((other.excess, other.p_value), (10.0, test.p_value));
    }

    #[test]
    fn a_signed_rank_is_as_in_the_book() {
        let test = signed_rank(&EASED, 0.0).unwrap();
        assert_eq!((test.statistic, test.excess), (40.0, 17.5));
        // z = 17 / sqrt(9 * 10 * 19 / 24)
        assert!((test.p_value - 0.0440).abs() < 1e-4, "{}", test.p_value);
        // Every choice of signs: 2 * 0.0195 by the book's table.
        let sums = (0u32..1 << 9)
            .map(|set| (0..9).filter(|i| set >> i & 1 == 1).map(|i| f64::from(i + 1)).sum::<f64>());
        let (far, all) = count(sums, |sum| (sum - 22.5f64).abs() >= 17.5);
        assert_eq!((far, all), (20.0, 512.0));
        assert!((far / all - test.p_value).abs() < 0.01);
        let moved: Vec<f64> = EASED.iter().map(|value| -value).collect();
        assert_eq!(signed_rank(&moved, 0.0).unwrap().excess, -17.5);
    }

    /// Returns the number of values that are far off, and the number of all values.
    fn count(values: impl Iterator<Item = f64>, is_far: impl Fn(f64) -> bool) -> (f64, f64) {
        values.fold((0.0, 0.0), |(far, all), value| (far + f64::from(u8::from(is_far(value))), all + 1.0))
    }

    #[test]
    fn equal_values_lower_the_variance_and_zeros_are_left_out() {
        // Ranks 1.5, 1.5, 3 and 4, 5, 6; variance 9 / 12 (7 - 6 / 30) = 5.1; z = (4.5 - 0.5) / sqrt(5.1).
        let test = rank_sum(&[1.0, 1.0, 2.0], &[3.0, 4.0, 5.0]).unwrap();
        assert_eq!((test.statistic, test.excess), (6.0, -4.5));
        assert!((test.p_value - 0.07652).abs() < 1e-4, "{}", test.p_value);
        // Distances 1, 1, 2, 3 with ranks 1.5, 1.5, 3, 4: variance 4 * 5 * 9 / 24 - 6 / 48 = 7.375; z = 3 / sqrt of it.
        let test = signed_rank(&[5.0, 6.0, 4.0, 7.0, 8.0, 5.0], 5.0).unwrap();
        assert_eq!((test.statistic, test.excess), (8.5, 3.5));
        let without = signed_rank(&[6.0, 4.0, 7.0, 8.0], 5.0).unwrap();
        assert_eq!(test, without);
        assert!((test.p_value - 0.2693).abs() < 1e-4, "{}", test.p_value);
    }

    #[test]
    fn values_that_are_all_alike_differ_in_nothing() {
        assert_eq!(rank_sum(&[2.0; 4], &[2.0; 5]).unwrap().p_value, 1.0);
        assert_eq!(signed_rank(&[2.0; 4], 2.0).unwrap().p_value, 1.0);
        assert_eq!((rank_sum(&[], &[1.0]), rank_sum(&[1.0], &[]), signed_rank(&[], 0.0)), (None, None, None));
        // Values that are constant but always on one side do differ.
        assert!(rank_sum(&[1.0; 10], &[2.0; 10]).unwrap().p_value < 0.001);
        assert!(signed_rank(&[1.0; 10], 2.0).unwrap().p_value < 0.01);
    }
}

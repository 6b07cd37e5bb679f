use std::sync::Arc;

use antwarp_instance::form::Form;
use antwarp_instance::{Instance, Metric};

use super::*;
use crate::Board;
use crate::certificate::{self, check};

/// The cost of a shortest tour, by dynamic programming over sets of nodes.
fn optimum(instance: &Instance) -> i64 {
    let n = instance.len();
    if n == 1 {
        return 0;
    }
    let partner =
        |node: usize| instance.partners().map_or(Instance::NO_PARTNER, |partners| partners[node]) as usize;
    let step = |a: usize, b: usize| {
        let cost = i64::from(instance.distance(a as u32, b as u32));
        instance.has_edge(a as u32, b as u32).then_some(cost)
    };
    // A fixed edge is worth more than all others cost.
    let worth = |a: usize, b: usize| if partner(a) == b { -FAR } else { 0 };
    const FAR: i64 = 1 << 40;
    let mut least = vec![i64::MAX; n << n];
    least[n] = 0;
    for set in (1..1_usize << n).step_by(2) {
        for last in (0..n).filter(|&last| set >> last & 1 == 1) {
            let so_far = least[set * n + last];
            if so_far == i64::MAX {
                continue;
            }
            for next in (0..n).filter(|&next| set >> next & 1 == 0) {
                if let Some(cost) = step(last, next) {
                    let best = &mut least[(set | 1 << next) * n + next];
                    *best = (*best).min(so_far + cost + worth(last, next));
                }
            }
        }
    }
    let all = (1 << n) - 1;
    let home = |last: usize| {
        Some(least[all * n + last])
            .filter(|&so_far| so_far < i64::MAX)
            .zip(step(last, 0))
            .map(|(so_far, cost)| so_far + cost + worth(last, 0))
    };
    let best = (1..n).filter_map(home).min().unwrap();
    best + FAR * (0..n).filter(|&node| partner(node) < n).count() as i64 / 2
}

fn prove_all(instance: &Instance) -> (Outcome, Certificate) {
    let incumbent = Incumbent::new();
    let settings = Settings { board: Arc::new(Board::new(1)), threads: 1, keeps_certificate: true };
    let (outcome, certificate) = prove(instance, &incumbent, &settings, &|| false);
    (outcome, certificate.unwrap())
}

/// A random instance of any kind, closed.
fn random(seed: u64) -> Instance {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |limit: u64| {
        // xorshift64 (Marsaglia 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) % limit
    };
    let n = 1 + below(9);
    let kind = below(8);
    if kind < 4 {
        const METRICS: [Metric; 11] = [
            Metric::Euc2d,
            Metric::Euc3d,
            Metric::Max2d,
            Metric::Max3d,
            Metric::Man2d,
            Metric::Man3d,
            Metric::Ceil2d,
            Metric::Geo,
            Metric::Att,
            Metric::Floor2d,
            Metric::Geom,
        ];
        let metric = METRICS[below(11) as usize];
        let size = [3, 10, 89][below(3) as usize];
        let centre = |at: u64| if kind == 3 { at % 3 * 30 } else { 0 };
        let points = (0..n).map(|at| [(); 3].map(|()| ((below(size) + centre(at)) % 89) as f64));
        let points: Vec<_> = points.collect();
        return Instance::from_points("points", metric, points).unwrap();
    }
    let most = [2, 10, 1000, 1 << 20][below(4) as usize];
    let decimals = [1.0, 100.0, 3.0][below(3) as usize];
    let is_directed = kind > 5;
    let n = if is_directed { n.min(6) } else { n } as usize;
    let mut costs = vec![0.0; n * n];
    for a in 0..n {
        for b in 0..a {
            costs[a * n + b] = below(most) as f64 / decimals;
            costs[b * n + a] = if is_directed { below(most) as f64 / decimals } else { costs[a * n + b] };
        }
    }
    let instance = Instance::from_costs("matrix", costs).unwrap();
    if instance.is_symmetric() { instance } else { Form::doubled(&instance, None).into_instance() }
}

#[test]
fn proofs_agree_with_dynamic_programming_and_their_certificates_check() {
    for seed in 0..400 {
        let instance = random(seed);
        let best = optimum(&instance);
        let (outcome, certificate) = prove_all(&instance);
        assert_eq!((outcome.bound, certificate.cost), (best, best), "seed {seed}");
        let verified = check(&instance, &certificate);
        assert!(verified.as_ref().is_ok_and(|verified| verified.is_optimal()), "seed {seed}: {verified:?}");
        let mut text = Vec::new();
        certificate.write(&mut text).unwrap();
        assert_eq!(certificate::parse("file", &text).unwrap(), certificate, "seed {seed}");
        // No certificate proves more.
        let mut more = certificate;
        more.bound += 1;
        assert!(check(&instance, &more).is_err());
    }
}

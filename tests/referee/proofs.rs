//! Proofs that tours are the shortest, and their certificates: by antwarp, by its own check, and by the judge.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use antwarp::exact::{Board, Settings, certificate};
use antwarp::instance::{Instance, ReadOptions, tsplib};
use antwarp::solver::proof::Prover;

use crate::draws::Draws;
use crate::files::File;
use crate::judge::shape::Shaped;
use crate::judge::{self, Weights};
use crate::soak;

tests! {
    random_proofs_are_right,
    forged_certificates_prove_nothing,
}

/// Random instances, if `ANTWARP_SOAK` does not say how many.
const INSTANCES: u64 = 1000;
/// A proof that takes longer has failed.
const LONGEST: Duration = Duration::from_secs(60);
/// Instances whose certificates are forged.
const FORGED: u64 = 200;
/// Most nodes.
const MOST: usize = 14;
/// Forged certificates for each of a few instances.
const FORGERIES: usize = 40;

/// Judges the certificate of an instance, both files.
pub fn judge(instance: &str, proof: &str) -> ExitCode {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    match judge::proof::verify(&judge::tsplib::read(&read(instance)), &read(proof)) {
        Ok((cost, bound)) => {
            println!("valid: a tour of the closed form costs {cost}, and none less than {bound}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("refused: {why}");
            ExitCode::FAILURE
        }
    }
}

/// A random file and its instance. Numbers of tables that can be read in two ways are drawn again: antwarp refuses them.
fn read(draws: &mut Draws, n: usize) -> (File, Instance) {
    loop {
        let file = File::random(draws, n);
        let bytes = file.text.as_bytes();
        let instance = match file.extension {
            "tsp" | "atsp" => tsplib::parse("random", "random", bytes),
            _ => Instance::parse("random", "random", bytes, &ReadOptions::default()),
        };
        match instance {
            Ok(instance) => return (file, instance),
            Err(error) if error.to_string().contains(" may be ") => {}
            Err(error) => panic!("{error}\n{}", file.text),
        }
    }
}

/// A random instance, and what it is for the judge. Decimals are the judge's as whole numbers.
fn random(draws: &mut Draws) -> (Instance, judge::Instance) {
    let n = 1 + draws.below(MOST);
    if draws.chance(0.2) {
        let decimals = draws.one_of(&[10.0, 100.0, 3.0]);
        let is_plane = draws.chance(0.5);
        let instance = if is_plane {
            let place = |draws: &mut Draws| [draws.below(30) as f64 / decimals, draws.below(30) as f64, 0.0];
            let places = (0..n).map(|_| place(draws)).collect();
            Instance::from_places("places", 2, places).unwrap()
        } else {
            let costs: Vec<f64> = (0..n * n).map(|_| draws.between(-50, 500) as f64 / decimals).collect();
            Instance::from_costs("costs", costs).unwrap()
        };
        let row = |a: usize| (0..n).map(|b| instance.distance(a as u32, b as u32).into()).collect();
        let mut judge = judge::Instance::numbered(n, Weights::Matrix((0..n).map(row).collect()));
        judge.is_directed = !instance.is_symmetric();
        return (instance, judge);
    }
    let (file, instance) = read(draws, n);
    let mut judge = file.judge;
    judge.is_directed = !instance.is_symmetric();
    (instance, judge)
}

/// The lowest cost of a tour with all fixed edges.
fn optimum(judge: &judge::Instance) -> i64 {
    if judge.fixed.is_empty() {
        return judge.optimum();
    }
    let n = judge.len();
    let positions = judge.positions();
    let shaped = Shaped {
        costs: (0..n).map(|a| (0..n).map(|b| judge.weight(a, b) as f64).collect()).collect(),
        is_directed: judge.is_directed,
        ends: None,
        fixed: judge.fixed.iter().map(|(a, b)| (positions[a], positions[b])).collect(),
        forbidden: Vec::new(),
    };
    shaped.optimum().map_or(0, |score| score.2 as i64)
}

/// Proves an instance without a search beside it; returns the bound and the certificate.
fn proven(instance: &Instance) -> Result<(i64, certificate::Certificate), String> {
    let prover = Prover::new(instance).map_err(|error| error.to_string())?;
    let settings = Settings { board: Arc::new(Board::new(1)), threads: 1, keeps_certificate: true };
    let start = Instant::now();
    let proof = prover.prove(&settings, &|| start.elapsed() > LONGEST);
    if !proof.is_complete() {
        return Err(format!("the proof is not complete: {:?}", proof.outcome));
    }
    let certificate = proof.certificate.ok_or("there is no certificate")?;
    let verified =
        certificate::check(prover.closed(), &certificate).map_err(|refusal| refusal.to_string())?;
    if let Some((cut, _)) = certificate.cuts.iter().find(|(cut, _)| !cut.holds_for(&certificate.tour)) {
        return Err(format!("the shortest tour violates {cut:?}"));
    }
    if !verified.is_optimal() {
        return Err("the certificate proves less than was proven".to_owned());
    }
    Ok((proof.bound.ok_or("there is no bound")?, certificate))
}

fn text_of(certificate: &certificate::Certificate) -> String {
    let mut text = Vec::new();
    certificate.write(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn random_proofs_are_right() {
    let first = soak::number("ANTWARP_SOAK_FIRST").unwrap_or(0);
    for seed in first..first + soak::number("ANTWARP_SOAK").unwrap_or(INSTANCES) {
        let (instance, judge) = random(&mut Draws::new(seed));
        let result = proven(&instance).and_then(|(bound, certificate)| {
            if bound != optimum(&judge) {
                return Err(format!("the optimum is {}, not {bound}", optimum(&judge)));
            }
            judge::proof::verify(&judge, &text_of(&certificate)).map(drop)
        });
        if let Err(why) = result {
            panic!("seed {seed}: {why}\n{judge:?}");
        }
    }
}

/// A certificate with one number changed, or a line left out, doubled or moved.
fn forged(draws: &mut Draws, text: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (at, other) = (draws.below(lines.len()), draws.below(lines.len()));
    match draws.below(8) {
        0 => drop(lines.remove(at)),
        1 => lines.swap(at, other),
        2 => lines.insert(at, lines[other].clone()),
        _ => {
            let mut words: Vec<String> = lines[at].split(' ').map(str::to_owned).collect();
            let word = draws.below(words.len());
            let (first, last) = match words[word].split_once(':') {
                Some((first, last)) => (format!("{first}:"), last.to_owned()),
                None => (String::new(), words[word].clone()),
            };
            if let Ok(number) = last.parse::<i64>() {
                let change = draws.one_of(&[1, 2, 1 << 10, 1 << 20, 1 << 24]);
                words[word] =
                    format!("{first}{}", if draws.chance(0.5) { number + change } else { number - change });
            }
            lines[at] = words.join(" ");
        }
    }
    lines.join("\n")
}

fn forged_certificates_prove_nothing() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..FORGED {
        let draws = &mut Draws::new(seed);
        let (instance, judge) = random(draws);
        let prover = Prover::new(&instance).unwrap();
        let Ok((_, certificate)) = proven(&instance) else { panic!("seed {seed}: nothing is proven") };
        let (text, optimum) = (text_of(&certificate), certificate.cost);
        for _ in 0..FORGERIES {
            let forged = forged(draws, &text);
            let told =
                certificate::parse("forged", forged.as_bytes()).map_err(|error| error.to_string()).and_then(
                    |it| certificate::check(prover.closed(), &it).map_err(|refusal| refusal.to_string()),
                );
            let judged = judge::proof::verify(&judge, &forged);
            match (&told, &judged) {
                (Ok(verified), Ok((cost, bound))) => {
                    // Some changes do no harm, but what is claimed must be true.
                    assert!(verified.bound == *bound && *bound <= optimum && *cost >= optimum, "{forged}");
                    accepted += 1;
                }
                (Err(_), Err(_)) => refused += 1,
                // The judge knows no fingerprint, and takes any unit, and sets in any order.
                (Err(_), Ok((cost, bound))) => assert!(*bound <= optimum && *cost >= optimum, "{forged}"),
                (Ok(_), Err(why)) => {
                    panic!("seed {seed}: the judge refuses what antwarp does not: {why}\n{forged}")
                }
            }
        }
    }
    assert!(accepted > 100 && refused > 1000, "{accepted} accepted, {refused} refused");
}

//! Runs that are over early: by the clock, by an interrupt.

use std::fs;
use std::time::{Duration, Instant};

use predicates::str::contains;
use serde_json::Value;

#[cfg(unix)]
use crate::common::interrupted;
use crate::world::{Folder, antwarp, solve};

tests! {
    #[cfg(unix)]
    an_interrupt_keeps_the_tour,
    a_run_whose_time_is_up_before_it_begins_has_a_tour,
    #[cfg(unix)]
    an_interrupt_ends_the_set_up,
    a_given_tour_is_not_lost_in_haste,
}

#[cfg(unix)]
fn an_interrupt_keeps_the_tour() {
    let folder = Folder::new(50);
    for algorithm in ["mmas", "lk", "ils", "acs", "ga"] {
        let tour = folder.path("interrupted.tour");
        // A proof would end the run before.
        let run = ["solve", "--backend", "cpu", &folder.instance, "--prove=never"];
        let args = [&run[..], &["--time", "5m", "--tour", &tour]].concat();
        let (output, _) =
            interrupted(&[&args[..], &["--algorithm", algorithm]].concat(), Duration::from_secs(1));
        assert!(String::from_utf8_lossy(&output.stdout).contains("interrupted"));
        assert!(folder.checked(&tour) > 0);
        fs::remove_file(tour).unwrap();
    }
}

/// Algorithms whose set-up alone takes longer than the time that the tests below give them.
const SLOW_TO_BEGIN: [(&str, &[&str]); 9] = [
    ("E316k.0", &["--algorithm", "lk"]),
    ("E316k.0", &["--algorithm", "ils"]),
    ("E316k.0", &["--algorithm", "ils", "--improvement", "best"]),
    ("E316k.0", &["--algorithm", "mmas"]),
    ("E316k.0", &["--algorithm", "acs"]),
    ("E316k.0", &["--algorithm", "ga"]),
    ("E316k.0", &["--algorithm", "ga", "--crossover", "eax"]),
    ("E10k.0", &["--algorithm", "ga", "--initial", "ants"]),
    ("E100k.0", &["--algorithm", "ga", "--initial", "space-filling"]),
];

/// Long enough for a busy machine, on which these take several times as long as on a quiet one.
const LONG: Duration = Duration::from_secs(20);

fn a_run_whose_time_is_up_before_it_begins_has_a_tour() {
    let folder = Folder::new(50);
    for (instance, algorithm) in SLOW_TO_BEGIN {
        let tour = folder.path("hasty.tour");
        let begin = Instant::now();
        let args = [&[instance, "--time", "100ms", "--tour", &tour], algorithm].concat();
        solve(&args).assert().success().stdout(contains("stopped by the time limit"));
        assert!(begin.elapsed() < LONG, "{algorithm:?}: {:?}", begin.elapsed());
        antwarp(&["check", instance, &tour]).assert().success();
        fs::remove_file(tour).unwrap();
    }
}

#[cfg(unix)]
fn an_interrupt_ends_the_set_up() {
    let folder = Folder::new(50);
    for (instance, algorithm) in SLOW_TO_BEGIN {
        let tour = folder.path("interrupted.tour");
        let args = ["solve", "--backend", "cpu", instance, "--time", "5m", "--tour", &tour];
        let (_, took) = interrupted(&[&args[..], algorithm].concat(), Duration::from_millis(300));
        assert!(took < LONG, "{algorithm:?}: {took:?}");
        antwarp(&["check", instance, &tour]).assert().success();
        fs::remove_file(tour).unwrap();
    }
}

fn a_given_tour_is_not_lost_in_haste() {
    let folder = Folder::new(50);
    let (good, again) = (folder.path("good.tour"), folder.path("again.tour"));
    solve(&["E10k.0", "--algorithm", "lk", "--iterations", "1000", "--tour", &good]).assert().success();
    let length = |tour: &str| {
        let output = antwarp(&["check", "E10k.0", tour, "--json", "-"]).assert().success();
        let json: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
        json["cost"].as_i64().unwrap()
    };
    for algorithm in [&["--algorithm", "lk"][..], &["--algorithm", "ils", "--improvement", "best"]] {
        let args = [&["E10k.0", "--time", "1ms", "--initial-tour", &good, "--tour", &again], algorithm];
        solve(&args.concat()).assert().success();
        assert!(length(&again) <= length(&good), "{algorithm:?}");
    }
}

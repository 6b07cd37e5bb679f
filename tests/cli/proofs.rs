//! `solve --prove` and `check --certificate` from outside. 25 nodes are proven without a linear program.

use predicates::prelude::*;
use predicates::str::contains;

use crate::world::{Folder, antwarp, has_highs, json, lin_kernighan};

tests! {
    a_certificate_is_written_and_checked,
    a_forged_certificate_has_its_own_status,
    what_is_no_certificate_is_an_input_error,
    without_a_library_there_is_a_bound,
    a_settled_run_proves_its_tour_unless_it_must_not,
}

/// A folder with an instance, a proof of it, and the text of the proof.
fn proven() -> (Folder, [String; 2], String) {
    let folder = Folder::new(25);
    let [instance, proof] = [folder.instance.clone(), folder.path("a.proof")];
    let solve = ["solve", &instance, "--backend", "cpu", "--time", "60s", "--certificate", &proof];
    antwarp(&solve).assert().success();
    let text = std::fs::read_to_string(&proof).unwrap();
    (folder, [instance, proof], text)
}

fn a_certificate_is_written_and_checked() {
    let (folder, [instance, proof], _) = proven();
    let check = ["check", &instance, "--certificate", &proof];
    antwarp(&check)
        .assert()
        .success()
        .stdout(contains("valid: no tour is shorter").and(contains("25 nodes")));
    let json = folder.path("a.json");
    antwarp(&[&check[..], &["--json", &json]].concat()).assert().success();
    let json = crate::world::json(&json);
    assert_eq!((json["valid"].as_bool(), json["optimal"].as_bool()), (Some(true), Some(true)));
    assert_eq!(json["cost"], json["bound"]);
}

fn a_forged_certificate_has_its_own_status() {
    let (folder, [instance, _], text) = proven();
    let refused = |from: &str, to: &str, why: &str| {
        assert!(text.contains(from), "{from}");
        let forged = folder.file("forged.proof", text.replacen(from, to, 1).as_bytes());
        let check = ["check", &instance, "--certificate", &forged];
        antwarp(&check)
            .assert()
            .code(6)
            .stderr(contains("the certificate proves nothing").and(contains(why)));
    };
    refused("subtour 2", "subtour 3", "has the right side 3, which should be 2");
    refused("\ncost ", "\ncost 1", "the tour costs");
    refused(text.lines().nth(1).unwrap(), "instance 0000000000000000", "another instance");
    refused("\nbound ", "\nbound 1", "is above the cost of the tour");
    let json = folder.path("forged.json");
    let check = ["check", &instance, "--certificate", &folder.path("forged.proof"), "--json", &json];
    antwarp(&check).assert().code(6);
    assert_eq!(crate::world::json(&json)["valid"], false);
}

fn what_is_no_certificate_is_an_input_error() {
    let (folder, [instance, _], text) = proven();
    let refused = |content: &str, why: &str| {
        let file = folder.file("broken.proof", content.as_bytes());
        antwarp(&["check", &instance, "--certificate", &file]).assert().code(3).stderr(contains(why));
    };
    refused(text.trim_end().trim_end_matches("end"), "the file is cut off: `end` is missing");
    refused(&text.replacen("leaf ", "leave ", 1), "there is no such record");
    refused("", "the file is cut off");
    antwarp(&["check", &instance, "--certificate", &folder.path("none")]).assert().code(3);
    antwarp(&["check", &instance]).assert().code(2).stderr(contains("TOUR"));
    let solve = ["solve", &instance, "--prove", "--checkpoint", &folder.path("a.run")];
    antwarp(&solve).assert().code(2).stderr(contains("--prove cannot be used with --checkpoint"));
}

fn without_a_library_there_is_a_bound() {
    let folder = Folder::new(10);
    let report = folder.path("report.json");
    antwarp(&["solve", "E1k.0", "--backend", "cpu", "--prove", "--time", "3s", "--json", &report])
        .env("ANTWARP_HIGHS", folder.path("nowhere"))
        .assert()
        .code(8)
        .stderr(contains("no proof, only a lower bound").and(contains("HiGHS")).and(contains("nowhere")));
    let report = crate::world::json(&report);
    let (cost, bound) = (report["cost"].as_i64().unwrap(), report["bound"]["length"].as_i64().unwrap());
    assert!(bound <= cost && bound * 100 > cost * 98, "{bound} {cost}");
}

fn a_settled_run_proves_its_tour_unless_it_must_not() {
    if !has_highs() {
        return;
    }
    let folder = Folder::new(150);
    let report = folder.path("report.json");
    let ended = |options: &[&str]| {
        let line = [&[&folder.instance, "--json", &report], options].concat();
        lin_kernighan(&line).assert().success();
        let report = json(&report);
        (report["stopped_by"].as_str().unwrap().to_owned(), report["cost"].as_i64(), report["bound"].clone())
    };
    let (reason, cost, bound) = ended(&["--time", "60s"]);
    assert_eq!(
        (&*reason, bound["length"].as_i64(), bound["most_percent"].as_f64()),
        ("optimal", cost, Some(0.0))
    );
    let (reason, other, bound) = ended(&["--time", "3s", "--prove=never", "--bound"]);
    assert!(
        reason == "time" && bound["length"].as_i64() < cost && other >= cost,
        "{reason} {bound} {other:?}"
    );
    // Such a run is repeatable, and stays as it is.
    let (reason, _, bound) = ended(&["--iterations", "20000"]);
    assert!(reason == "iterations" && bound.is_null(), "{reason} {bound}");
}

use antwarp_instance::Instance;

use super::reduced::DualError;
use super::*;
use crate::Cut;
use crate::duals::{Duals, UNIT_BITS};

const UNIT: i64 = 1 << UNIT_BITS;

/// Two groups of six nodes: 10 from each node to each of its group, 100 to the others.
fn groups() -> Instance {
    let cost = |at: u32| match (at / 12, at % 12) {
        (a, b) if a == b => 0,
        (a, b) if a / 6 == b / 6 => 10,
        _ => 100,
    };
    Instance::from_matrix("groups", (0..144).map(cost).collect()).unwrap()
}

/// Half of each short edge at its ends, and the rest of each long one at the border between the groups.
fn duals() -> Duals {
    Duals { nodes: vec![5 * UNIT; 12], cuts: vec![(0, 90 * UNIT)], branches: Vec::new() }
}

fn certificate() -> Certificate {
    let mut tree = Tree::new();
    // Proves 280, with which no edge can be excluded.
    let lower = Duals { cuts: vec![(0, 80 * UNIT)], ..duals() };
    tree.reduce(Tree::ROOT, lower);
    let [with, without] = tree.divide(Tree::ROOT, Question::Edge(0, 1));
    let [twice, more] = tree.divide(without, Question::Set([0, 2].into()));
    tree.close(with, duals());
    tree.close(more, Duals { branches: vec![(0, 3)], ..duals() });
    tree.close(twice, Duals { branches: vec![(0, 0)], ..duals() });
    let comb = Cut::comb(vec![0, 1, 2], vec![vec![0, 3], vec![1, 4], vec![2, 5]]);
    Certificate {
        fingerprint: groups().fingerprint(),
        tour: (0..12).collect(),
        cost: 300,
        bound: 300,
        cuts: vec![(Cut::subtour((0..6).collect()), 2), (comb, 10)],
        nodes: tree.into_nodes().unwrap(),
    }
}

fn text(certificate: &Certificate) -> String {
    let mut text = Vec::new();
    certificate.write(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn forged(forge: impl FnOnce(&mut Certificate)) -> Refusal {
    let mut certificate = certificate();
    forge(&mut certificate);
    check(&groups(), &certificate).unwrap_err()
}

fn duals_of(node: &mut Node) -> &mut Duals {
    match node {
        Node::Reduce(by) | Node::Leaf(by) => by,
        Node::Branch(_) => panic!("a branch has no dual values"),
    }
}

#[test]
fn what_is_true_is_verified() {
    let verified = check(&groups(), &certificate()).unwrap();
    assert!(verified.is_optimal());
    assert_eq!((verified.cost, verified.subtours, verified.combs), (300, 1, 1));
    assert_eq!((verified.nodes, verified.leaves), (5, 3));
    assert_eq!((verified.edges, verified.fixed), (Some(66), 0));
    // A lower bound is proven, too.
    let lower = Certificate { bound: 299, ..certificate() };
    assert!(!check(&groups(), &lower).unwrap().is_optimal());
}

#[test]
fn every_forgery_has_its_reason() {
    let is = |refusal: Refusal, part: &str| {
        assert!(refusal.to_string().contains(part), "{refusal} does not say {part:?}");
    };
    is(forged(|it| it.fingerprint ^= 1), "another instance");
    is(forged(|it| it.tour[3] = 4), "appears in the tour twice");
    is(forged(|it| it.cost = 299), "the tour costs 300, not 299");
    is(forged(|it| it.cost = 301), "the tour costs 300, not 301");
    is(forged(|it| it.tour.swap(3, 8)), "the tour costs 660, not 300");
    is(forged(|it| it.bound = 301), "the bound 301 is above");
    is(forged(|it| it.cuts[1].1 = 12), "cut 1 has the right side 12, which should be 10");
    is(forged(|it| it.cuts[0].0 = Cut::subtour((0..12).collect())), "cut 0 does not hold for all tours");
    let even = Cut::comb(vec![0, 1], vec![vec![0, 3], vec![1, 4]]);
    is(forged(|it| it.cuts[1] = (even, 7)), "odd number of teeth");
    is(forged(|it| it.nodes.truncate(5)), "a leaf is missing");
    is(forged(|it| it.nodes.push(it.nodes[2].clone())), "after its last leaf");
    is(forged(|it| it.nodes.clear()), "a leaf is missing");
    is(forged(|it| it.nodes[1] = Node::Branch(Question::Edge(3, 3))), "record 1 of the tree branches on no");
    is(forged(|it| it.nodes[1] = Node::Branch(Question::Edge(3, 12))), "a node does not exist");
    is(forged(|it| it.nodes[3] = Node::Branch(Question::Set([].into()))), "a set is empty");
    is(forged(|it| duals_of(&mut it.nodes[0]).cuts[0].1 = -1), "is -1, which is negative");
    is(forged(|it| duals_of(&mut it.nodes[2]).cuts[0].0 = 2), "there is no cut 2");
    is(
        forged(|it| duals_of(&mut it.nodes[4]).branches[0].1 = 1),
        "record 4 of the tree: the dual value of set 0",
    );
    is(forged(|it| duals_of(&mut it.nodes[5]).branches[0].1 = -1), "wrong sign");
    is(forged(|it| duals_of(&mut it.nodes[5]).branches[0].0 = 1), "there is no set 1");
    is(forged(|it| duals_of(&mut it.nodes[2]).nodes[7] = i64::MAX), "too large");
    is(forged(|it| duals_of(&mut it.nodes[2]).nodes.truncate(11)), "11 nodes have dual values, not 12");
    let low = Refusal::Open { record: 2, proven: 299, bound: 300 };
    assert_eq!(forged(|it| duals_of(&mut it.nodes[2]).cuts[0].1 -= UNIT / 2), low);
    // Higher dual values make more reduced costs negative.
    is(forged(|it| duals_of(&mut it.nodes[2]).nodes[0] += UNIT), "record 2 of the tree, a leaf, proves");
    is(forged(|it| duals_of(&mut it.nodes[4]).cuts.clear()), "proves only a bound of 120, not 300");
    // Edges that were not excluded by good reasons are still there.
    let without_cut = |it: &mut Certificate| it.nodes[0] = Node::Reduce(Duals::default());
    assert!(matches!(forged(without_cut), Refusal::Duals { record: 0, why: DualError::Nodes { .. } }));
    let directed = groups().into_atsp();
    assert_eq!(check(&directed, &certificate()), Err(Refusal::NotClosed));
}

#[test]
fn a_certificate_reads_back_the_same() {
    let certificate = certificate();
    let text = text(&certificate);
    assert!(text.contains("\ncomb 10 | 0-2 | 0 3 | 1 4 | 2 5\n"), "{text}");
    assert_eq!(parse("file", text.as_bytes()).unwrap(), certificate);
    let spaced = text.replace('\n', "\r\n\n# a comment\n");
    assert_eq!(parse("file", spaced.as_bytes()).unwrap(), certificate);
}

#[test]
fn a_file_that_is_no_certificate_is_named_with_its_line() {
    let text = text(&certificate());
    let lines: Vec<&str> = text.lines().collect();
    for cut in 0..lines.len() {
        let error = parse("file", lines[..cut].join("\n").as_bytes()).unwrap_err().to_string();
        assert!(error.contains("is missing"), "{cut}: {error}");
    }
    let says = |from: &str, to: &str, part: &str| {
        assert!(text.contains(from), "{from}");
        let error = parse("file", text.replacen(from, to, 1).as_bytes()).unwrap_err().to_string();
        assert!(error.contains(part), "{error} does not say {part:?}");
    };
    says("certificate 1", "certificate 2", "file:1:1: this is no certificate of version 1");
    says("unit 1048576", "unit 1", "file:4:6: the unit of version 1 is 1048576");
    says("nodes 12", "nodes 13", "file:6:1: the tour has 12 nodes, not 13");
    says("cost 300", "cost 3OO", "file:5:6: this is no whole number in range");
    says("0-2 |", "2-0 |", "file:9:11: the nodes of a set are not in ascending order");
    says("0-2 |", "0-4294967295 |", "file:9:11: there are 12 nodes, from 0 on");
    says("edge 0 1", "edge 0", "an edge has two nodes");
    says("edge 0 1", "knot 0 1", "there is no such record");
    says(" | 0:", " | 0=", "colon and dual value");
    says("\nend", "\nend\nleaf", "the file continues after its end");
    says("\nend", "\nsubtour 2 | 0\nend", "cuts come before the tree");
    says("bound 300\n", "", "`bound` is missing before this");
    assert!(parse("file", b"").is_err() && parse("file", &[0xff; 9]).is_err());
}

//! Start tours of [closed forms](antwarp_instance::form).

use antwarp_instance::{Instance, NeighborLists};

use super::Start;
use crate::problem::join_partners;

/// Returns a start tour that has all fixed edges, and does not start between two partners. `plain` makes tours of instances without a
/// gap.
///
/// The greedy tour, which takes fixed edges first, replaces the other ones that are made of edges. The gap is put into the longest
/// edge.
pub(super) fn tour(
    instance: &Instance,
    start: Start,
    lists: &NeighborLists,
    plain: impl FnOnce(&Instance, Start, &NeighborLists) -> Vec<u32>,
) -> Vec<u32> {
    let start = match start {
        Start::NearestNeighbor | Start::Greedy | Start::QuickBoruvka => Start::Greedy,
        Start::SpaceFilling | Start::Random => start,
    };
    let mut tour = match instance.gap() {
        None => plain(instance, start, lists),
        Some(gap) => {
            let without = instance.without_gap();
            let inner = NeighborLists { k: lists.k, ids: lists.ids[..without.len() * lists.k].to_vec() };
            let mut tour = plain(&without, start, &inner);
            if tour.len() == without.len() {
                insert(instance, gap, &mut tour);
            }
            tour
        }
    };
    if tour.len() < instance.len() {
        // It was interrupted.
        return tour;
    }
    if let Some(partners) = instance.partners() {
        if start != Start::Greedy {
            join_partners(partners, &mut tour);
        }
        if partners[tour[0] as usize] == tour[tour.len() - 1] {
            tour.rotate_left(1);
        }
    }
    tour
}

/// Puts the gap next to its partner, or else into the longest edge that is not fixed.
fn insert(instance: &Instance, gap: u32, tour: &mut Vec<u32>) {
    let n = tour.len();
    let length = |at: usize| instance.distance(tour[at], tour[(at + 1) % n]);
    let partner =
        |node: u32| instance.partners().map_or(Instance::NO_PARTNER, |partners| partners[node as usize]);
    let at = match partner(gap) {
        Instance::NO_PARTNER => {
            let is_free = |&at: &usize| partner(tour[at]) != tour[(at + 1) % n];
            (0..n).filter(is_free).max_by_key(|&at| length(at)).unwrap_or(0)
        }
        partner => {
            let at = tour.iter().position(|&node| node == partner).unwrap_or(0);
            let before = (at + n - 1) % n;
            if length(before) > length(at) { before } else { at }
        }
    };
    tour.insert(at + 1, gap);
}

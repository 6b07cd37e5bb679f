//! Neighbour lists of [closed forms](crate::form) and of places with forbidden pairs: no node lists its partner, whose edge every tour
//! has, nor the gap, which is near to all of them; forbidden neighbours come last.

use std::borrow::Cow;

use super::super::model::Instance;
use super::NeighborLists;
use crate::parallel;

/// Returns whether an instance is a closed form with partners or a gap, or has forbidden pairs of places.
pub(super) fn is_form(instance: &Instance) -> bool {
    instance.partners().is_some() || instance.gap().is_some() || !instance.forbidden_pairs().is_empty()
}

/// Further neighbours that are found where pairs of places are forbidden, so that others can replace those of a node.
const RESERVE: usize = 4;

/// Returns the lists of a closed form, with fewer than `k` neighbours if there are not that many; `lists` makes those of an instance
/// whatever its partners, with the gap left out.
///
/// The gap lists the nodes that are farthest from their neighbours: an end of the path there saves most.
pub(super) fn lists(
    instance: &Instance,
    k: usize,
    lists: impl FnOnce(&Instance, usize) -> NeighborLists,
) -> NeighborLists {
    let plain = match instance.gap() {
        Some(_) => Cow::Owned(instance.without_gap()),
        None => Cow::Borrowed(instance),
    };
    let n = plain.len();
    let partner = |node: usize| instance.partners().map(|partners| partners[node]);
    let has_forbidden = !instance.forbidden_pairs().is_empty();
    let reserve = usize::from(instance.partners().is_some()) + if has_forbidden { RESERVE } else { 0 };
    let all = lists(&plain, k + reserve);
    if all.ids.len() < n * all.k {
        // It was interrupted.
        return all;
    }
    // Of a doubled form, half of the nodes are no neighbours of a node, nor is its partner.
    let others = if instance.has_edge(0, 2.min(n as u32 - 1)) { n } else { n / 2 };
    let k = k
        .min(all.k)
        .min(others.saturating_sub(1 + usize::from(instance.partners().is_some() && others == n)));
    let mut ids = vec![0; n * k];
    parallel::each_part(&mut ids, k.max(1), &|node, list| {
        let from = node as u32;
        let is_other = |to: &u32| *to != from && Some(*to) != partner(node) && instance.has_edge(from, *to);
        let is_allowed = |to: &u32| is_other(to) && !(has_forbidden && instance.is_forbidden(from, *to));
        let found: Vec<u32> = all.of(from).iter().copied().filter(is_allowed).take(k).collect();
        if found.len() == k {
            list.copy_from_slice(&found);
            return;
        }
        // Forbidden neighbours come last: they are far.
        let mut others: Vec<u32> = (0..n as u32).filter(is_other).collect();
        others.sort_by_cached_key(|&to| (instance.distance(from, to), to));
        list.copy_from_slice(&others[..k]);
    });
    if let Some(gap) = instance.gap() {
        let partner = partner(gap as usize);
        let remoteness = |node: u32| {
            let list = &ids[node as usize * k..][..k];
            list.get(1).or(list.first()).map_or(0, |&other| instance.distance(node, other))
        };
        let nodes = (0..n as u32).filter(|&node| Some(node) != partner);
        let mut nodes: Vec<_> = nodes.map(|node| (std::cmp::Reverse(remoteness(node)), node)).collect();
        if nodes.len() > k {
            nodes.select_nth_unstable(k);
        }
        nodes.truncate(k);
        nodes.sort_unstable();
        ids.extend(nodes.into_iter().map(|(_, node)| node));
    }
    NeighborLists { k, ids }
}

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
    let reserve = usize::from(instance.partners().is_some())
        + if instance.forbidden_pairs().is_empty() { 0 } else { RESERVE };
    let all = lists(&plain, k + reserve);
    if all.ids.len() < n * all.k {
        // It was interrupted.
        return all;
    }
    let k = if instance.partners().is_some() { k.min(all.k.saturating_sub(1)) } else { k.min(all.k) };
    let mut ids = vec![0; n * k];
    parallel::each_part(&mut ids, k.max(1), &|node, list| {
        let partner = instance.partners().map(|partners| partners[node]);
        let others = || all.of(node as u32).iter().filter(|&&other| Some(other) != partner);
        let is_forbidden = |other: u32| instance.is_forbidden(node as u32, other);
        let allowed = others().filter(|&&other| !is_forbidden(other));
        // Those that are forbidden come last: they are far.
        let in_order = allowed.chain(others().filter(|&&other| is_forbidden(other)));
        list.iter_mut().zip(in_order).for_each(|(to, &other)| *to = other);
    });
    if let Some(gap) = instance.gap() {
        let partner = instance.partners().map(|partners| partners[gap as usize]);
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

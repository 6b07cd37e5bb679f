//! A tour as a table: its places in tour order, with the accumulated cost at each.

use std::io::{self, Write};

use antwarp_core::metric::Metric;

use crate::instance::Instance;

/// Writes the places of a tour in tour order as CSV: `position`, `id`, `name` if there are names, the coordinates if there are any,
/// `leg` (the cost from the previous place) and `total`. A closed tour ends with its first place.
///
/// # Errors
/// If it cannot be written.
pub fn write(instance: &Instance, tour: &[u32], out: &mut dyn Write) -> io::Result<()> {
    let places = instance.display_points();
    let is_globe = instance.metric().is_some_and(Metric::is_on_globe);
    let mut csv = csv::Writer::from_writer(out);
    let mut head = vec!["position", "id"];
    head.extend(instance.names().map(|_| "name"));
    if places.is_some() {
        head.extend(if is_globe { ["latitude", "longitude"] } else { ["x", "y"] });
    }
    head.extend(["leg", "total"]);
    csv.write_record(&head)?;
    let (mut total, mut row) = (0.0, Vec::new());
    let home = instance.ends().is_none().then(|| tour.first().copied()).flatten();
    let mut before = None;
    for (position, node) in (1..).zip(tour.iter().copied().chain(home)) {
        row.clear();
        row.extend([u64::to_string(&position), instance.id(node).to_string()]);
        row.extend(instance.names().map(|names| names[node as usize].clone()));
        if let Some(places) = &places {
            let [x, y] = places[node as usize];
            let [first, second] = if is_globe { [y, x] } else { [x, y] };
            row.extend([first.to_string(), second.to_string()]);
        }
        let leg = match before {
            Some(before) if before != node => instance.edge_cost(before, node),
            _ => 0.0,
        };
        total += leg;
        row.extend([shown(leg), shown(total)]);
        csv.write_record(&row)?;
        before = Some(node);
    }
    csv.flush()
}

/// Formats a cost for a column; empty for a forbidden edge.
fn shown(cost: f64) -> String {
    if cost.is_finite() { crate::instance::Cost::Real(cost).to_string() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stand_in_the_order_of_the_tour() {
        let instance =
            Instance::from_places("p", 2, vec![[0.0; 3], [3.0, 4.0, 0.0], [3.0, 0.0, 0.0]]).unwrap();
        let mut text = Vec::new();
        write(&instance, &[0, 2, 1], &mut text).unwrap();
        let expected = "position,id,x,y,leg,total\n1,1,0,0,0,0\n2,3,3,0,3,3\n3,2,3,4,4,7\n4,1,0,0,5,12\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}

//! A tour as a table: its places in tour order, with the accumulated cost at each.

use std::io::{self, Write};

use super::route::{Coordinates, Route, shown};

/// Writes the places of a tour in tour order as CSV: `position`, `id`, `name` if there are names, the coordinates if there are any,
/// `leg` (the cost from the previous place) and `total`. A closed tour ends with its first place.
///
/// # Errors
/// If it cannot be written.
pub fn write(route: &Route<'_>, out: &mut dyn Write) -> io::Result<()> {
    let instance = route.instance;
    let kind = route.places.as_ref().map(|(kind, _)| *kind);
    let mut csv = csv::Writer::from_writer(out);
    let mut head = vec!["position", "id"];
    head.extend(route.names.map(|_| "name"));
    match kind {
        Some(Coordinates::Degrees) => head.extend(["latitude", "longitude"]),
        Some(Coordinates::Plane) => head.extend(["x", "y"]),
        None => {}
    }
    head.extend(["leg", "total"]);
    csv.write_record(&head)?;
    let mut row = Vec::new();
    for stop in route.stops() {
        row.clear();
        row.extend([stop.position.to_string(), instance.id(stop.node).to_string()]);
        row.extend(route.names.map(|names| names[stop.node as usize].clone()));
        if let Some([x, y]) = stop.place {
            let [first, second] = if kind == Some(Coordinates::Degrees) { [y, x] } else { [x, y] };
            row.extend([first.to_string(), second.to_string()]);
        }
        row.extend([shown(stop.leg), shown(stop.total)]);
        csv.write_record(&row)?;
    }
    csv.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::Instance;

    #[test]
    fn places_stand_in_the_order_of_the_tour() {
        let instance =
            Instance::from_places("p", 2, vec![[0.0; 3], [3.0, 4.0, 0.0], [3.0, 0.0, 0.0]]).unwrap();
        let mut text = Vec::new();
        write(&Route::new(&instance, &[0, 2, 1]), &mut text).unwrap();
        let expected = "position,id,x,y,leg,total\n1,1,0,0,0,0\n2,3,3,0,3,3\n3,2,3,4,4,7\n4,1,0,0,5,12\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}

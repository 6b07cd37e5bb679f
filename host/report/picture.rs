//! A picture of a tour.

use super::drawing::{Drawing, Ink};
use super::mercator;
use super::route::{Coordinates, Route, within_180};
use crate::instance::counted;

/// The longer side of the drawing.
const SIDE: f64 = 1000.0;
const MARGIN: f64 = 32.0;
/// Space for the line of text below.
const CAPTION: f64 = 30.0;
/// Number of parts of the tour with different colours.
const PARTS: usize = 180;
/// Maximum number of nodes that are drawn as dots.
const DOTS: usize = 3000;
/// Maximum number of nodes whose names are drawn, where they fit.
const LABELS: usize = 1000;
/// Radius of the dots that mark the start and the end of the tour; the start is a ring.
const END: f64 = 7.0;
const START: &str = "start";
/// Size of a letter of a name, on average, and height of a line.
const LETTER: [f64; 2] = [6.1, 12.0];

/// The places of a tour's nodes, and how to draw them.
#[derive(Clone, Debug)]
pub struct Picture<'a> {
    /// One place per node, y upwards. On a globe, x is the longitude.
    pub places: &'a [[f64; 2]],
    /// Whether an edge may leave on one side and re-enter on the other.
    pub is_globe: bool,
    /// Whether the last node is not joined to the first. Both are marked then.
    pub is_open: bool,
    /// Whether the first node of a closed tour is marked.
    pub has_start: bool,
    /// Edges that are drawn in a colour of their own.
    pub fixed: &'a [(u32, u32)],
    /// One name per node, or none; drawn where they fit, for up to a thousand nodes.
    pub labels: Vec<String>,
}

/// Draws a route; `None` if its places are not known. Places on the globe are drawn in the Mercator projection.
pub fn of(route: &Route<'_>) -> Option<Drawing> {
    let (coordinates, places) = route.places.as_ref()?;
    let instance = route.instance;
    let cost = instance.unit().show(instance.tour_cost(route.tour));
    let caption = format!("{} · {} · length {cost}", instance.name(), counted(route.tour.len(), "node"));
    let picture = Picture {
        places: &on_paper(*coordinates, places),
        is_globe: *coordinates == Coordinates::Degrees,
        is_open: !route.is_closed(),
        has_start: route.is_start_chosen,
        fixed: instance.fixed_edges(),
        labels: route.names.map(<[String]>::to_vec).unwrap_or_default(),
    };
    Some(picture.draw(route.tour, &caption))
}

/// Returns where places are drawn.
pub fn on_paper(coordinates: Coordinates, places: &[[f64; 2]]) -> Vec<[f64; 2]> {
    match coordinates {
        Coordinates::Plane => places.to_vec(),
        Coordinates::Degrees => places.iter().map(|&[x, y]| mercator::project([within_180(x), y])).collect(),
    }
}

impl Picture<'_> {
    /// Draws a tour.
    ///
    /// # Panics
    /// If the tour has a node without a place.
    pub fn draw(&self, tour: &[u32], caption: &str) -> Drawing {
        let places = self.places;
        let frame = Frame::around(places);
        let (width, height) = (frame.width + 2.0 * MARGIN, frame.height + 2.0 * MARGIN + CAPTION);
        let mut drawing = Drawing::new((width, height), caption);
        // Lines as thick as the distance between neighbours allows.
        let apart = (frame.width * frame.height / places.len() as f64).sqrt();
        let thickness = (0.16 * apart).clamp(0.3, 3.5);
        self.draw_tour(&mut drawing, &frame, tour, thickness);
        for &(a, b) in self.fixed {
            let ends = [a, b].map(|node| places[node as usize]);
            self.draw_line(&mut drawing, &frame, ends.into_iter(), (Ink::Fixed, 1.5 * thickness));
        }
        if places.len() <= DOTS {
            for &place in places {
                drawing.dot(frame.place(place), 0.9 * thickness, Ink::Node);
            }
        }
        for (node, what) in self.ends(tour) {
            let name = self.labels.get(node as usize).map_or_else(String::new, |name| format!(": {name}"));
            let (place, title) = (frame.place(places[node as usize]), format!("{what}{name}"));
            drawing.titled_dot(place, END, Ink::Node, &title);
            if what == START {
                drawing.titled_dot(place, 0.6 * END, Ink::Page, &title);
            }
        }
        if places.len() <= LABELS && self.labels.len() == places.len() {
            self.draw_labels(&mut drawing, &frame, tour);
        }
        drawing.text([MARGIN, height - CAPTION + 4.0], caption);
        drawing
    }

    /// Returns the nodes that are marked, and what they are. The start is drawn above the end: they may be one place.
    fn ends(&self, tour: &[u32]) -> impl Iterator<Item = (u32, &'static str)> {
        let last = tour.last().filter(|_| self.is_open && tour.len() > 1).map(|&node| (node, "end"));
        let first = tour.first().filter(|_| self.is_open || self.has_start).map(|&node| (node, START));
        last.into_iter().chain(first)
    }

    fn draw_tour(&self, drawing: &mut Drawing, frame: &Frame, tour: &[u32], thickness: f64) {
        let last = tour.len() - usize::from(self.is_open);
        let part = tour.len().div_ceil(PARTS).max(1);
        let place = |at: usize| self.places[tour[at % tour.len()] as usize];
        // An open path does not return to the colour of its start.
        let turns = if self.is_open { 0.5 } else { 1.0 };
        for start in (0..last).step_by(part) {
            let end = (start + part).min(last);
            let ink = Ink::Color(color(turns * start as f64 / tour.len() as f64));
            self.draw_line(drawing, frame, (start..=end).map(place), (ink, thickness));
        }
    }

    /// Draws a line through places.
    fn draw_line(
        &self,
        drawing: &mut Drawing,
        frame: &Frame,
        places: impl Iterator<Item = [f64; 2]>,
        (ink, width): (Ink, f64),
    ) {
        let (mut points, mut before): (Vec<[f64; 2]>, Option<[f64; 2]>) = (Vec::new(), None);
        for to in places {
            if let Some(from) = before.filter(|from| self.is_globe && (from[0] - to[0]).abs() > 180.0) {
                // Leave the picture, and re-enter it on the other side.
                let turn = if from[0] < to[0] { 360.0 } else { -360.0 };
                points.push(frame.place([to[0] - turn, to[1]]));
                drawing.line(std::mem::take(&mut points), ink, width);
                points.push(frame.place([from[0] + turn, from[1]]));
            }
            points.push(frame.place(to));
            before = Some(to);
        }
        drawing.line(points, ink, width);
    }

    /// Writes the names of places, in tour order, beside their dots: each where it covers no dot and no other name, or not at all.
    fn draw_labels(&self, drawing: &mut Drawing, frame: &Frame, tour: &[u32]) {
        let dots: Vec<[f64; 2]> = self.places.iter().map(|&place| frame.place(place)).collect();
        let right = frame.width + 2.0 * MARGIN;
        let ends: Vec<u32> = self.ends(tour).map(|(node, _)| node).collect();
        // Left, upper, right and lower side.
        let mut taken: Vec<[f64; 4]> = Vec::new();
        for &node in tour {
            let (label, [x, y]) = (&self.labels[node as usize], dots[node as usize]);
            let [width, height] = [LETTER[0] * label.chars().count() as f64, LETTER[1]];
            let beside = if ends.contains(&node) { END + 3.0 } else { 6.0 };
            let around = [
                [x + beside, y - 4.0],
                [x - beside - width, y - 4.0],
                [x + beside, y + height],
                [x - beside - width, y + height],
            ];
            let fits = |&[left, base]: &[f64; 2]| {
                let [upper, end] = [base - 0.8 * height, left + width];
                let covers = |&[x, y]: &[f64; 2]| left < x && x < end && upper < y && y < base;
                let meets = |other: &[f64; 4]| {
                    left < other[2] && other[0] < end && upper < other[3] && other[1] < base
                };
                left >= 0.0 && end <= right && !dots.iter().any(covers) && !taken.iter().any(meets)
            };
            if let Some([left, base]) = around.into_iter().find(fits) {
                taken.push([left, base - 0.8 * height, left + width, base]);
                drawing.name([left, base], label);
            }
        }
    }
}

/// Maps the coordinates of places to those of the drawing.
struct Frame {
    /// Half of the lowest coordinates and of the longer side: the full values could overflow.
    low: [f64; 2],
    longer: f64,
    width: f64,
    height: f64,
}

impl Frame {
    fn around(places: &[[f64; 2]]) -> Frame {
        let low = [0, 1].map(|axis| places.iter().map(|p| 0.5 * p[axis]).fold(f64::INFINITY, f64::min));
        let high = [0, 1].map(|axis| places.iter().map(|p| 0.5 * p[axis]).fold(f64::NEG_INFINITY, f64::max));
        let [dx, dy] = [high[0] - low[0], high[1] - low[1]];
        // All nodes may be at one place, or on a line.
        let longer = if dx.max(dy) > 0.0 { dx.max(dy) } else { 1.0 };
        let (width, height) = (dx / longer * SIDE, dy / longer * SIDE);
        Frame { low, longer, width: width.max(SIDE / 4.0), height: height.max(SIDE / 8.0) }
    }

    fn place(&self, place: [f64; 2]) -> [f64; 2] {
        let [x, y] = [0, 1].map(|axis| (0.5 * place[axis] - self.low[axis]) / self.longer * SIDE);
        [MARGIN + x, MARGIN + self.height - y]
    }
}

/// Returns the colour at a position of a closed tour: from teal over violet to red and back, visible on light and dark pages.
fn color(at: f64) -> [u8; 3] {
    let there_and_back = 1.0 - (2.0 * at - 1.0).abs();
    let hue = 185.0 + 160.0 * there_and_back;
    let channel = |n: f64| {
        let k = (n + hue / 30.0) % 12.0;
        let value = 0.53 - 0.36 * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        (255.0 * value) as u8
    };
    [channel(0.0), channel(8.0), channel(4.0)]
}

#[cfg(test)]
mod tests {
    use super::super::drawing::Shape;
    use super::super::svg;
    use super::*;

    fn written(picture: &Picture<'_>, tour: &[u32]) -> String {
        let mut out = Vec::new();
        svg::write(&picture.draw(tour, "a < b & c"), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn drawn(places: &[[f64; 2]], tour: &[u32]) -> String {
        written(
            &Picture {
                places,
                is_globe: false,
                is_open: false,
                has_start: false,
                fixed: &[],
                labels: Vec::new(),
            },
            tour,
        )
    }

    #[test]
    fn the_tour_is_closed_and_stays_inside() {
        let svg = drawn(&[[0.0, 0.0], [10.0, 0.0], [10.0, 5.0], [0.0, 5.0]], &[0, 1, 2, 3]);
        assert_eq!(svg.matches("<polyline").count(), 4);
        assert!(svg.contains(r#"points="32.0,32.0 32.0,532.0 ""#), "the last edge leads home: {svg}");
        assert!(svg.contains("a &lt; b &amp; c"));
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    }

    #[test]
    fn round_the_globe_is_not_across_the_picture() {
        let places = &[[-170.0, 0.0], [170.0, 0.0], [0.0, 50.0]];
        let picture = Picture {
            places,
            is_globe: true,
            is_open: false,
            has_start: false,
            fixed: &[(0, 1)],
            labels: Vec::new(),
        };
        let svg = written(&picture, &[0, 1, 2]);
        // Each edge once, and the one across the border of the map in two parts; the same for the fixed edge.
        assert_eq!(svg.matches("<polyline").count(), 4 + 2, "{svg}");
        assert_eq!(svg.matches(r#"points="32.0,179.1 -26.8,179.1 ""#).count(), 2, "{svg}");
        assert!(svg.contains(r#"points="32.0,179.1 -26.8,179.1 ""#), "{svg}");
        assert!(svg.contains(r#"points="1090.8,179.1 1032.0,179.1 ""#), "{svg}");
    }

    #[test]
    fn an_open_path_has_two_ends() {
        let places = &[[0.0, 0.0], [10.0, 0.0], [10.0, 5.0], [0.0, 5.0]];
        let picture = Picture {
            places,
            is_globe: false,
            is_open: true,
            has_start: false,
            fixed: &[(2, 3)],
            labels: Vec::new(),
        };
        let svg = written(&picture, &[0, 1, 2, 3]);
        assert_eq!(svg.matches("<polyline").count(), 3 + 1, "{svg}");
        assert!(!svg.contains(r#"points="32.0,32.0 32.0,532.0 ""#), "{svg}");
        let fixed = svg.lines().find(|line| line.contains(r#"class="fixed""#)).unwrap();
        assert!(fixed.contains(r#"points="1032.0,32.0 32.0,32.0 ""#), "{svg}");
        let titles = |what: &str| svg.matches(&format!("><title>{what}</title></circle>")).count();
        // The start is a ring, of two dots.
        assert_eq!((titles("start"), titles("end")), (2, 1), "{svg}");
    }

    #[test]
    fn a_closed_tour_has_a_marked_start_if_it_was_chosen() {
        let instance = crate::instance::Instance::euclidean(&[[0.0, 0.0], [3.0, 4.0], [3.0, 0.0]]).unwrap();
        let instance = instance.with_names(["A", "B & C", "D"].map(str::to_owned).to_vec());
        let drawn = |is_start_chosen| {
            let route = Route { is_start_chosen, ..Route::new(&instance, &[1, 0, 2]) };
            let mut out = Vec::new();
            svg::write(&of(&route).unwrap(), &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let mark = r#"cx="782.0" cy="32.0" r="7.00"><title>start: B &amp; C</title></circle>"#;
        let (chosen, any) = (drawn(true), drawn(false));
        assert!(chosen.contains(mark) && !chosen.contains("<title>end"), "{chosen}");
        assert!(!any.contains("<title>start"), "{any}");
    }

    #[test]
    fn names_stand_where_they_fit() {
        // Two places almost in one, and a name that is wider than the picture.
        let places = &[[0.0, 0.0], [0.01, 0.0], [10.0, 5.0], [5.0, 5.0]];
        let labels = vec!["one".to_owned(), "two".to_owned(), "three".to_owned(), "four ".repeat(100)];
        let picture =
            Picture { places, is_globe: false, is_open: false, has_start: false, fixed: &[], labels };
        let svg = written(&picture, &[0, 1, 2, 3]);
        let names = ["one", "two", "three"].map(|name| svg.matches(&format!(">{name}</text>")).count());
        assert_eq!(names, [1, 1, 1], "{svg}");
        assert!(!svg.contains("four"), "{svg}");
        let x = |name: &str| {
            svg.lines().find(|line| line.contains(&format!(">{name}<"))).unwrap().split('"').nth(3).unwrap()
        };
        assert_eq!((x("one"), x("three")), ("38.0", "995.5"));
        assert_ne!(x("two"), "38.0");
    }

    #[test]
    fn places_on_the_globe_are_projected() {
        let instance =
            crate::instance::Instance::from_degrees("p", vec![[0.0, 0.0], [60.0, 10.0], [0.0, 10.0]]);
        let drawing = of(&Route::new(&instance.unwrap(), &[0, 1, 2])).unwrap();
        // 75.456 degrees of the equator high, and 10 wide: a quarter at least.
        assert_eq!((drawing.width.round(), drawing.height.round()), (314.0, 1094.0));
        assert_eq!(drawing.shapes.iter().filter(|shape| matches!(shape, Shape::Dot { .. })).count(), 3);
    }

    #[test]
    fn places_on_a_point_or_a_line_have_a_picture() {
        for places in [[[3.0, 4.0]; 3], [[0.0, 1.0], [5.0, 1.0], [9.0, 1.0]]] {
            let svg = drawn(&places, &[0, 1, 2]);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn places_of_any_size_have_a_picture() {
        let square = drawn(&[[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0]], &[0, 1, 2]);
        for size in [f64::MAX, 1e-300, 1e-310, 1e9] {
            assert_eq!(drawn(&[[-size, -size], [size, -size], [size, size]], &[0, 1, 2]), square, "{size}");
        }
    }
}

//! A picture of a tour, for light and dark pages.

use std::io::{self, Write};

use super::mercator;
use super::route::{Coordinates, Route, within_180};

/// The longer side of the drawing.
const SIDE: f64 = 1000.0;
const MARGIN: f64 = 32.0;
/// Space for the line of text below.
const CAPTION: f64 = 30.0;
/// Number of parts of the tour with different colours.
const PARTS: usize = 180;
/// Maximum number of nodes that are drawn as dots.
const DOTS: usize = 3000;

const STYLE: &str = "\
<style>
.page{fill:#fbfaf7}.node{fill:#333}text{fill:#666;font:15px sans-serif}.number{font-size:11px}
.line{stroke:#999;stroke-opacity:.3}.fixed{stroke:#e8a317}
.name{paint-order:stroke;stroke:#fbfaf7;stroke-width:3px;stroke-linejoin:round}
@media(prefers-color-scheme:dark){.page{fill:#10151b}.node{fill:#ddd}text{fill:#9aa4ae}.name{stroke:#10151b}}
</style>";

/// Maximum number of nodes whose names are drawn, where they fit.
const LABELS: usize = 1000;
/// Size of a letter of a name, on average, and height of a line.
const LETTER: [f64; 2] = [6.1, 12.0];

/// The places of a tour's nodes, and how to draw them.
#[derive(Clone, Debug)]
pub struct Picture<'a> {
    /// One place per node, y upwards. On a globe, x is the longitude.
    pub places: &'a [[f64; 2]],
    /// Whether an edge may leave on one side and re-enter on the other.
    pub is_globe: bool,
    /// Whether the last node is not joined to the first.
    pub is_open: bool,
    /// Edges that are drawn in a colour of their own.
    pub fixed: &'a [(u32, u32)],
    /// One name per node, or none; drawn where they fit, for up to a thousand nodes.
    pub labels: Vec<String>,
}

/// Draws a route, if its places are known; returns whether they are. Places on the globe are drawn in the Mercator projection.
///
/// # Errors
/// If the picture cannot be written.
pub fn draw(route: &Route<'_>, out: &mut dyn Write) -> io::Result<bool> {
    let Some((coordinates, places)) = &route.places else { return Ok(false) };
    let instance = route.instance;
    let cost = instance.unit().show(instance.tour_cost(route.tour));
    let caption = format!("{} · {} nodes · length {cost}", instance.name(), route.tour.len());
    let picture = Picture {
        places: &on_paper(*coordinates, places),
        is_globe: *coordinates == Coordinates::Degrees,
        is_open: !route.is_closed(),
        fixed: instance.fixed_edges(),
        labels: route.names.map(<[String]>::to_vec).unwrap_or_default(),
    };
    picture.write(out, route.tour, &caption).map(|()| true)
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
    pub fn write(&self, out: &mut dyn Write, tour: &[u32], caption: &str) -> io::Result<()> {
        write(out, self, tour, caption)
    }
}

fn write(out: &mut dyn Write, picture: &Picture<'_>, tour: &[u32], caption: &str) -> io::Result<()> {
    let Picture { places, is_globe, .. } = *picture;
    let frame = Frame::around(places);
    let (width, height) = (frame.width + 2.0 * MARGIN, frame.height + 2.0 * MARGIN + CAPTION);
    page(out, (width, height), caption)?;
    // Lines as thick as the distance between neighbours allows.
    let apart = (frame.width * frame.height / places.len() as f64).sqrt();
    let thickness = (0.16 * apart).clamp(0.3, 3.5);
    writeln!(
        out,
        r#"<g fill="none" stroke-width="{thickness:.2}" stroke-linecap="round" stroke-linejoin="round">"#
    )?;
    write_tour(out, &frame, places, (is_globe, picture.is_open), tour)?;
    writeln!(out, "</g>")?;
    write_fixed(out, &frame, picture, thickness)?;
    if places.len() <= DOTS {
        for &place in places {
            let [x, y] = frame.place(place);
            writeln!(out, r#"<circle class="node" cx="{x:.1}" cy="{y:.1}" r="{:.2}"/>"#, 0.9 * thickness)?;
        }
    }
    if places.len() <= LABELS && picture.labels.len() == places.len() {
        write_labels(out, picture, &frame, tour)?;
    }
    let below = height - CAPTION + 4.0;
    writeln!(out, r#"<text x="{MARGIN}" y="{below:.0}">{}</text>"#, escaped(caption))?;
    writeln!(out, "</svg>")
}

/// Writes the start of a picture: its size, title, styles and background.
pub(super) fn page(out: &mut dyn Write, (width, height): (f64, f64), title: &str) -> io::Result<()> {
    writeln!(out, r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}">"#)?;
    writeln!(out, "<title>{}</title>\n{STYLE}", escaped(title))?;
    writeln!(out, r#"<rect class="page" width="{width:.0}" height="{height:.0}" rx="14"/>"#)
}

fn write_tour(
    out: &mut dyn Write,
    frame: &Frame,
    places: &[[f64; 2]],
    (is_globe, is_open): (bool, bool),
    tour: &[u32],
) -> io::Result<()> {
    let last = tour.len() - usize::from(is_open);
    let part = tour.len().div_ceil(PARTS).max(1);
    let place = |at: usize| places[tour[at % tour.len()] as usize];
    // An open path does not return to the colour of its start.
    let turns = if is_open { 0.5 } else { 1.0 };
    for start in (0..last).step_by(part) {
        let end = (start + part).min(last);
        let color = color(turns * start as f64 / tour.len() as f64);
        let begin = format!(r#"<polyline stroke="{color}" points=""#);
        write_line(out, frame, is_globe, &begin, (start..=end).map(place))?;
    }
    Ok(())
}

/// Writes the names of places, in tour order, beside their dots: each where it covers no dot and no other name, or not at all.
fn write_labels(out: &mut dyn Write, picture: &Picture<'_>, frame: &Frame, tour: &[u32]) -> io::Result<()> {
    let dots: Vec<[f64; 2]> = picture.places.iter().map(|&place| frame.place(place)).collect();
    let right = frame.width + 2.0 * MARGIN;
    // Left, upper, right and lower side.
    let mut taken: Vec<[f64; 4]> = Vec::new();
    for &node in tour {
        let (label, [x, y]) = (&picture.labels[node as usize], dots[node as usize]);
        let [width, height] = [LETTER[0] * label.chars().count() as f64, LETTER[1]];
        let around = [
            [x + 6.0, y - 4.0],
            [x - 6.0 - width, y - 4.0],
            [x + 6.0, y + height],
            [x - 6.0 - width, y + height],
        ];
        let fits = |&[left, base]: &[f64; 2]| {
            let [upper, end] = [base - 0.8 * height, left + width];
            let covers = |&[x, y]: &[f64; 2]| left < x && x < end && upper < y && y < base;
            let meets =
                |other: &[f64; 4]| left < other[2] && other[0] < end && upper < other[3] && other[1] < base;
            left >= 0.0 && end <= right && !dots.iter().any(covers) && !taken.iter().any(meets)
        };
        if let Some([left, base]) = around.into_iter().find(fits) {
            taken.push([left, base - 0.8 * height, left + width, base]);
            writeln!(
                out,
                r#"<text class="number name" x="{left:.1}" y="{base:.1}">{}</text>"#,
                escaped(label)
            )?;
        }
    }
    Ok(())
}

/// Writes the edges in a colour of their own over the tour.
fn write_fixed(out: &mut dyn Write, frame: &Frame, picture: &Picture<'_>, thickness: f64) -> io::Result<()> {
    if picture.fixed.is_empty() {
        return Ok(());
    }
    let width = 1.5 * thickness;
    writeln!(out, r#"<g class="fixed" fill="none" stroke-width="{width:.2}" stroke-linecap="round">"#)?;
    for &(a, b) in picture.fixed {
        let ends = [a, b].map(|node| picture.places[node as usize]);
        write_line(out, frame, picture.is_globe, r#"<polyline points=""#, ends.into_iter())?;
    }
    writeln!(out, "</g>")
}

/// Writes a line through places; `begin` is the start of its tag.
fn write_line(
    out: &mut dyn Write,
    frame: &Frame,
    is_globe: bool,
    begin: &str,
    places: impl Iterator<Item = [f64; 2]>,
) -> io::Result<()> {
    write!(out, "{begin}")?;
    let mut before: Option<[f64; 2]> = None;
    for to in places {
        if let Some(from) = before.filter(|from| is_globe && (from[0] - to[0]).abs() > 180.0) {
            // Leave the picture, and re-enter it on the other side.
            let turn = if from[0] < to[0] { 360.0 } else { -360.0 };
            write!(out, "{}", frame.point([to[0] - turn, to[1]]))?;
            write!(out, "\"/>\n{begin}{}", frame.point([from[0] + turn, from[1]]))?;
        }
        write!(out, "{}", frame.point(to))?;
        before = Some(to);
    }
    writeln!(out, r#""/>"#)
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

    /// Formats a point of a line.
    fn point(&self, place: [f64; 2]) -> String {
        let [x, y] = self.place(place);
        format!("{x:.1},{y:.1} ")
    }
}

/// Returns the colour at a position of a closed tour: from teal over violet to red and back, visible on light and dark pages.
fn color(at: f64) -> String {
    let there_and_back = 1.0 - (2.0 * at - 1.0).abs();
    let hue = 185.0 + 160.0 * there_and_back;
    let channel = |n: f64| {
        let k = (n + hue / 30.0) % 12.0;
        let value = 0.53 - 0.36 * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        (255.0 * value) as u8
    };
    format!("#{:02x}{:02x}{:02x}", channel(0.0), channel(8.0), channel(4.0))
}

/// Escapes text between tags, where control characters and two others are not allowed.
pub(super) fn escaped(text: &str) -> String {
    let is_allowed = |c: &char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
    let text: String = text.chars().filter(is_allowed).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(places: &[[f64; 2]], tour: &[u32]) -> String {
        let mut out = Vec::new();
        let picture = Picture { places, is_globe: false, is_open: false, fixed: &[], labels: Vec::new() };
        picture.write(&mut out, tour, "a < b & c").unwrap();
        String::from_utf8(out).unwrap()
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
        let mut out = Vec::new();
        let places = &[[-170.0, 0.0], [170.0, 0.0], [0.0, 50.0]];
        let picture =
            Picture { places, is_globe: true, is_open: false, fixed: &[(0, 1)], labels: Vec::new() };
        picture.write(&mut out, &[0, 1, 2], "").unwrap();
        let svg = String::from_utf8(out).unwrap();
        // Each edge once, and the one across the border of the map in two parts; the same for the fixed edge.
        assert_eq!(svg.matches("<polyline").count(), 4 + 2, "{svg}");
        assert_eq!(svg.matches(r#"points="32.0,179.1 -26.8,179.1 ""#).count(), 2, "{svg}");
        assert!(svg.contains(r#"points="32.0,179.1 -26.8,179.1 ""#), "{svg}");
        assert!(svg.contains(r#"points="1090.8,179.1 1032.0,179.1 ""#), "{svg}");
    }

    #[test]
    fn an_open_path_has_two_ends() {
        let mut out = Vec::new();
        let places = &[[0.0, 0.0], [10.0, 0.0], [10.0, 5.0], [0.0, 5.0]];
        let picture =
            Picture { places, is_globe: false, is_open: true, fixed: &[(2, 3)], labels: Vec::new() };
        picture.write(&mut out, &[0, 1, 2, 3], "").unwrap();
        let svg = String::from_utf8(out).unwrap();
        assert_eq!(svg.matches("<polyline").count(), 3 + 1, "{svg}");
        assert!(!svg.contains(r#"points="32.0,32.0 32.0,532.0 ""#), "{svg}");
        let (_, fixed) = svg.split_once(r#"<g class="fixed""#).unwrap();
        assert!(fixed.contains(r#"points="1032.0,32.0 32.0,32.0 ""#), "{svg}");
    }

    #[test]
    fn names_stand_where_they_fit() {
        let mut out = Vec::new();
        // Two places almost in one, and a name that is wider than the picture.
        let places = &[[0.0, 0.0], [0.01, 0.0], [10.0, 5.0], [5.0, 5.0]];
        let labels = vec!["one".to_owned(), "two".to_owned(), "three".to_owned(), "four ".repeat(100)];
        let picture = Picture { places, is_globe: false, is_open: false, fixed: &[], labels };
        picture.write(&mut out, &[0, 1, 2, 3], "").unwrap();
        let svg = String::from_utf8(out).unwrap();
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
        let (instance, mut out) = (instance.unwrap(), Vec::new());
        assert!(draw(&Route::new(&instance, &[0, 1, 2]), &mut out).unwrap());
        let svg = String::from_utf8(out).unwrap();
        // 75.456 degrees of the equator high, and 10 wide: a quarter at least.
        assert!(svg.contains(r#"viewBox="0 0 314 1094""#), "{svg}");
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

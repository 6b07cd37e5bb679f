//! Curves of the gap to the best known tour against the time taken: one plot per instance.

use super::drawing::{Anchor, Drawing, Ink};

/// Inner size of a plot.
const WIDTH: f64 = 250.0;
const HEIGHT: f64 = 170.0;
/// Margins: for the numbers at the left, the name above and the seconds below.
const LEFT: f64 = 52.0;
const ABOVE: f64 = 34.0;
const BELOW: f64 = 30.0;
/// Plots per row.
const ROW: usize = 3;
const TITLE: &str = "Gap in percent against seconds; to the best known tour where nothing else is said";
/// A gap this small, in percent, or smaller is drawn at the bottom.
const LEAST: f64 = 0.003;
/// How many colours there are. After that, they are used again.
pub const MOST_COLORS: usize = 6;
/// Colours of the machines, bright enough for light and dark pages.
const COLORS: [[u8; 3]; MOST_COLORS] = [
    [0xd1, 0x49, 0x5b],
    [0x2e, 0x86, 0xab],
    [0x8f, 0x6b, 0xd1],
    [0x3a, 0x9d, 0x5d],
    [0xc9, 0x8a, 0x1b],
    [0x7a, 0x7f, 0x87],
];

/// How long tours are after some times.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The instance's name.
    pub instance: String,
    /// A short name of the machine.
    pub machine: String,
    /// Seconds, ascending, and how much longer the tour is than the best known one, in percent.
    pub points: Vec<(f64, f64)>,
    /// Whether this is one run, whose tour stays the same between the points. Otherwise each point is a run.
    pub is_one_run: bool,
}

/// Draws one plot per instance, in the order of their first lines, with one colour per machine. Both axes are logarithmic.
pub fn draw(lines: &[Line]) -> Drawing {
    let instances = distinct(lines.iter().map(|line| line.instance.as_str()));
    let machines = distinct(lines.iter().map(|line| line.machine.as_str()));
    let inks = || COLORS.into_iter().map(Ink::Color).cycle();
    let (across, down) = (LEFT + WIDTH + 12.0, ABOVE + HEIGHT + BELOW);
    let label = |machine: &str| 44.0 + 8.0 * machine.chars().count() as f64;
    let legend = LEFT + machines.iter().map(|machine| label(machine)).sum::<f64>();
    let title = LEFT + 6.1 * TITLE.chars().count() as f64;
    let width = legend.max(title).max(across * instances.len().min(ROW) as f64);
    let height = down * instances.len().div_ceil(ROW) as f64 + 58.0;
    let mut drawing = Drawing::new((width, height), TITLE);
    let seconds = Axis::around(lines.iter().flat_map(|line| &line.points).map(|point| point.0));
    for (i, instance) in instances.iter().enumerate() {
        let (x, y) = (across * (i % ROW) as f64 + LEFT, down * (i / ROW) as f64 + ABOVE);
        drawing.text([x, y - 12.0], *instance);
        let own: Vec<&Line> = lines.iter().filter(|line| line.instance == *instance).collect();
        let gaps = Axis::around(own.iter().flat_map(|line| &line.points).map(|point| point.1.max(LEAST)));
        draw_frame(&mut drawing, [x, y], &seconds, &gaps);
        for (machine, ink) in machines.iter().zip(inks()) {
            for line in own.iter().filter(|line| line.machine == *machine) {
                let place = |&(after, gap): &(f64, f64)| {
                    [x + WIDTH * seconds.at(after), y + HEIGHT * (1.0 - gaps.at(gap.max(LEAST)))]
                };
                let places: Vec<[f64; 2]> = line.points.iter().map(place).collect();
                let mut path: Vec<[f64; 2]> = Vec::new();
                for &[x, y] in &places {
                    if let Some(&[_, before]) = path.last().filter(|_| line.is_one_run) {
                        path.push([x, before]);
                    }
                    path.push([x, y]);
                }
                drawing.line(path, ink, if line.is_one_run { 1.2 } else { 2.0 });
                let marked = if line.is_one_run { places.len().saturating_sub(1) } else { 0 };
                places[marked..].iter().for_each(|&place| drawing.dot(place, 3.0, ink));
            }
        }
    }
    let (mut x, y) = (LEFT, height - 40.0);
    for (machine, ink) in machines.iter().zip(inks()) {
        drawing.dot([x, y - 5.0], 5.0, ink);
        drawing.text([x + 12.0, y], *machine);
        x += label(machine);
    }
    drawing.small_text([LEFT, height - 16.0], Anchor::Start, TITLE);
    drawing
}

/// Draws grid lines at round numbers, with labels.
fn draw_frame(drawing: &mut Drawing, [left, top]: [f64; 2], seconds: &Axis, gaps: &Axis) {
    for value in gaps.round() {
        let y = top + HEIGHT * (1.0 - gaps.at(value));
        drawing.line(vec![[left, y], [left + WIDTH, y]], Ink::Grid, 1.0);
        let sign = if value <= LEAST { "≤ " } else { "" };
        drawing.small_text([left - 6.0, y + 4.0], Anchor::End, format!("{sign}{value}"));
    }
    for value in seconds.round() {
        let x = left + WIDTH * seconds.at(value);
        drawing.line(vec![[x, top], [x, top + HEIGHT]], Ink::Grid, 1.0);
        drawing.small_text([x, top + HEIGHT + 16.0], Anchor::Middle, value.to_string());
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut distinct = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}

/// A logarithmic axis.
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    /// Creates an axis from the round number below all values to the one above.
    fn around(values: impl Iterator<Item = f64> + Clone) -> Axis {
        let low = values.clone().fold(f64::INFINITY, f64::min).max(LEAST);
        let high = values.fold(LEAST, f64::max).max(low);
        let below = numbers().rev().find(|number| *number <= low).unwrap_or(low);
        let above = numbers().find(|number| *number >= high && *number > below);
        let above = above.unwrap_or(high.max(3.0 * below));
        Axis { low: below, high: above }
    }

    /// Returns the position of a value, from 0 to 1.
    fn at(&self, value: f64) -> f64 {
        ((value.max(self.low) / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0)
    }

    /// Returns the round numbers along the axis.
    fn round(&self) -> impl Iterator<Item = f64> {
        numbers().filter(|number| (self.low..=self.high).contains(number))
    }
}

/// Returns round numbers with ratios of about three.
pub(crate) fn numbers() -> impl DoubleEndedIterator<Item = f64> {
    let small = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0];
    let large = [100.0, 300.0, 1000.0, 3000.0, 10_000.0, 30_000.0, 100_000.0, 300_000.0, 1_000_000.0];
    small.into_iter().chain(large)
}

#[cfg(test)]
mod tests {
    use super::super::drawing::Shape;
    use super::super::svg;
    use super::*;

    fn line(instance: &str, machine: &str, points: &[(f64, f64)], is_one_run: bool) -> Line {
        Line { instance: instance.into(), machine: machine.into(), points: points.to_vec(), is_one_run }
    }

    /// The points of the lines that are no grid.
    fn curves<'a>(drawing: &'a Drawing) -> Vec<&'a [[f64; 2]]> {
        let points_of = |shape: &'a Shape| match shape {
            Shape::Line { points, ink: Ink::Color(_), .. } => Some(points.as_slice()),
            _ => None,
        };
        drawing.shapes.iter().filter_map(points_of).collect()
    }

    #[test]
    fn an_axis_goes_from_round_number_to_round_number() {
        let axis = Axis::around([0.5, 60.0].into_iter());
        assert_eq!((axis.low, axis.high), (0.3, 100.0));
        assert_eq!(axis.round().collect::<Vec<_>>(), [0.3, 1.0, 3.0, 10.0, 30.0, 100.0]);
        assert_eq!((axis.at(0.3), axis.at(100.0)), (0.0, 1.0));
        assert!((axis.at(30_f64.sqrt()) - 0.5).abs() < 1e-9);
        let one = Axis::around([1.0].into_iter());
        assert!(one.low < one.high && one.at(1.0).is_finite());
        let far = Axis::around([1e6, 1e6].into_iter());
        assert!(far.at(1e6).is_finite());
    }

    #[test]
    fn every_instance_has_a_picture_and_every_machine_a_line_in_it() {
        let lines = [
            line("a<b", "GPU", &[(1.0, 0.2), (10.0, 0.0)], false),
            line("c", "GPU", &[(1.0, 3.0)], false),
            line("a<b", "16 threads", &[(1.0, 0.5)], false),
        ];
        let drawing = draw(&lines);
        let mut out = Vec::new();
        svg::write(&drawing, &mut out).unwrap();
        let svg = String::from_utf8(out).unwrap();
        assert_eq!(curves(&drawing).len(), 3);
        // Four points, and two in the legend.
        assert_eq!(svg.matches("<circle").count(), 6);
        assert!(svg.contains(">a&lt;b<") && svg.contains(">c<") && !svg.contains("NaN"), "{svg}");
        // No gap at all is at the bottom.
        let bottom = ABOVE + HEIGHT;
        assert!(svg.contains(&format!(r#"cy="{bottom:.1}""#)), "{svg}");
    }

    #[test]
    fn the_tour_of_a_run_stays_until_there_is_a_better_one() {
        let lines = [line("a", "GPU", &[(1.0, 3.0), (3.0, 0.3), (10.0, 0.3)], true)];
        let drawing = draw(&lines);
        // From 1 to 10 s, and from .3 to 3 %.
        let path = [[0, 0], [119, 0], [119, 170], [250, 170], [250, 170]];
        let path = path.map(|[x, y]| [x + LEFT as i32, y + ABOVE as i32]);
        let rounded = |points: &[[f64; 2]]| points.iter().map(|at| at.map(|v| v.round() as i32)).collect();
        let drawn: Vec<Vec<[i32; 2]>> = curves(&drawing).into_iter().map(rounded).collect();
        assert_eq!(drawn, [path]);
        // Only its end is marked; the other dot is in the legend.
        let dots = drawing.shapes.iter().filter(|shape| matches!(shape, Shape::Dot { .. }));
        assert_eq!(dots.count(), 2);
    }
}

//! Curves of the gap to the best known tour against the time taken: one plot per instance.

use std::io::{self, Write};

use super::svg::{escaped, page};

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
/// Colours of the machines, bright enough for light and dark pages.
const COLORS: [&str; 6] = ["#d1495b", "#2e86ab", "#8f6bd1", "#3a9d5d", "#c98a1b", "#7a7f87"];

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
///
/// # Errors
/// If the output cannot be written.
pub fn write(out: &mut dyn Write, lines: &[Line]) -> io::Result<()> {
    let instances = distinct(lines.iter().map(|line| line.instance.as_str()));
    let machines = distinct(lines.iter().map(|line| line.machine.as_str()));
    let (across, down) = (LEFT + WIDTH + 12.0, ABOVE + HEIGHT + BELOW);
    let label = |machine: &str| 44.0 + 8.0 * machine.chars().count() as f64;
    let legend = LEFT + machines.iter().map(|machine| label(machine)).sum::<f64>();
    let width = legend.max(across * instances.len().min(ROW) as f64);
    let height = down * instances.len().div_ceil(ROW) as f64 + 58.0;
    page(out, (width, height), TITLE)?;
    let seconds = Axis::around(lines.iter().flat_map(|line| &line.points).map(|point| point.0));
    for (i, instance) in instances.iter().enumerate() {
        let (x, y) = (across * (i % ROW) as f64 + LEFT, down * (i / ROW) as f64 + ABOVE);
        writeln!(out, r#"<g transform="translate({x:.0} {y:.0})">"#)?;
        writeln!(out, r#"<text x="0" y="-12">{}</text>"#, escaped(instance))?;
        let own: Vec<&Line> = lines.iter().filter(|line| line.instance == *instance).collect();
        let gaps = Axis::around(own.iter().flat_map(|line| &line.points).map(|point| point.1.max(LEAST)));
        write_frame(out, &seconds, &gaps)?;
        for (machine, color) in machines.iter().zip(COLORS.iter().cycle()) {
            for line in own.iter().filter(|line| line.machine == *machine) {
                let place = |&(after, gap): &(f64, f64)| {
                    (WIDTH * seconds.at(after), HEIGHT * (1.0 - gaps.at(gap.max(LEAST))))
                };
                let places: Vec<(f64, f64)> = line.points.iter().map(place).collect();
                let mut path = String::new();
                for (i, (x, y)) in places.iter().enumerate() {
                    if line.is_one_run && i > 0 {
                        path += &format!("{x:.1},{:.1} ", places[i - 1].1);
                    }
                    path += &format!("{x:.1},{y:.1} ");
                }
                let (path, width) = (path.trim_end(), if line.is_one_run { 1.2 } else { 2.0 });
                writeln!(
                    out,
                    r#"<polyline fill="none" stroke-width="{width}" stroke="{color}" points="{path}"/>"#
                )?;
                let marked = if line.is_one_run { places.len().saturating_sub(1) } else { 0 };
                for (x, y) in &places[marked..] {
                    writeln!(out, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3" fill="{color}"/>"#)?;
                }
            }
        }
        writeln!(out, "</g>")?;
    }
    let mut x = LEFT;
    for (machine, color) in machines.iter().zip(COLORS.iter().cycle()) {
        let y = height - 40.0;
        writeln!(out, r#"<circle cx="{x:.0}" cy="{:.0}" r="5" fill="{color}"/>"#, y - 5.0)?;
        writeln!(out, r#"<text x="{:.0}" y="{y:.0}">{}</text>"#, x + 12.0, escaped(machine))?;
        x += label(machine);
    }
    writeln!(out, r#"<text class="number" x="{LEFT}" y="{:.0}">{TITLE}</text>"#, height - 16.0)?;
    writeln!(out, "</svg>")
}

/// Writes grid lines at round numbers, with labels.
fn write_frame(out: &mut dyn Write, seconds: &Axis, gaps: &Axis) -> io::Result<()> {
    for value in gaps.round() {
        let y = HEIGHT * (1.0 - gaps.at(value));
        writeln!(out, r#"<path class="line" d="M0 {y:.1}H{WIDTH}"/>"#)?;
        let sign = if value <= LEAST { "≤ " } else { "" };
        writeln!(
            out,
            r#"<text class="number" text-anchor="end" x="-6" y="{:.1}">{sign}{value}</text>"#,
            y + 4.0
        )?;
    }
    for value in seconds.round() {
        let x = WIDTH * seconds.at(value);
        writeln!(out, r#"<path class="line" d="M{x:.1} 0V{HEIGHT}"/>"#)?;
        let y = HEIGHT + 16.0;
        writeln!(out, r#"<text class="number" text-anchor="middle" x="{x:.1}" y="{y:.0}">{value}</text>"#)?;
    }
    Ok(())
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
fn numbers() -> impl DoubleEndedIterator<Item = f64> {
    let small = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0];
    let large = [100.0, 300.0, 1000.0, 3000.0, 10_000.0, 30_000.0, 100_000.0, 300_000.0, 1_000_000.0];
    small.into_iter().chain(large)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(instance: &str, machine: &str, points: &[(f64, f64)], is_one_run: bool) -> Line {
        Line { instance: instance.into(), machine: machine.into(), points: points.to_vec(), is_one_run }
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
        let mut out = Vec::new();
        write(&mut out, &lines).unwrap();
        let svg = String::from_utf8(out).unwrap();
        assert_eq!(svg.matches("<g transform").count(), 2);
        assert_eq!(svg.matches("<polyline").count(), 3);
        // Four points, and two in the legend.
        assert_eq!(svg.matches("<circle").count(), 6);
        assert!(svg.contains("a&lt;b") && !svg.contains("NaN") && svg.ends_with("</svg>\n"));
        // No gap at all is at the bottom.
        assert!(svg.contains(r#"cy="170.0""#), "{svg}");
    }

    #[test]
    fn the_tour_of_a_run_stays_until_there_is_a_better_one() {
        let lines = [line("a", "GPU", &[(1.0, 3.0), (3.0, 0.3), (10.0, 0.3)], true)];
        let mut out = Vec::new();
        write(&mut out, &lines).unwrap();
        let svg = String::from_utf8(out).unwrap();
        // From 1 to 10 s, and from .3 to 3 %.
        let path = r#"points="0.0,0.0 119.3,0.0 119.3,170.0 250.0,170.0 250.0,170.0""#;
        assert!(svg.contains(path), "{svg}");
        // Only its end is marked; the other circle is in the legend.
        assert_eq!(svg.matches("<circle").count(), 2);
    }
}

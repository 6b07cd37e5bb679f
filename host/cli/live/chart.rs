//! Curves drawn with characters: of dots, eight to a character, or where the terminal knows ASCII only, one to a character.

use super::line::{Line, Style};
use crate::report::curves::numbers;

/// A value that changes at moments and stays in between.
pub(super) struct Curve {
    /// Moments in seconds, in ascending order, each with the value from then on.
    pub points: Vec<(f64, f64)>,
    /// How it looks.
    pub style: Style,
    /// The character in ASCII.
    pub ascii: char,
    /// Whether every second dot is left out, so that it can be told apart without colours.
    pub is_dotted: bool,
}

/// How values become heights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    /// In proportion.
    Linear,
    /// By their logarithms; what is zero or less is at the bottom.
    Logarithmic,
}

/// What all curves are drawn in.
pub(super) struct Chart {
    /// Characters of a line, labels included.
    pub width: usize,
    /// Lines, including that of the moments below the curves.
    pub height: usize,
    /// Seconds at the right end; the left end is 0.
    pub seconds: f64,
    /// How values become heights.
    pub scale: Scale,
    /// Appended to the labels.
    pub unit: &'static str,
    /// Whether the terminal shows more than ASCII.
    pub is_unicode: bool,
}

/// Least value of a logarithmic scale.
const LEAST: f64 = 1e-3;
/// Fewest characters and lines of curves that show anything.
const FEWEST: (usize, usize) = (10, 2);

/// The dots of a Braille character, by column and row.
const BRAILLE: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// A place of the drawing.
#[derive(Clone, Copy)]
struct Cell {
    dots: u32,
    style: Style,
    ascii: char,
}

impl Chart {
    /// Draws the curves, those that come first above the others. Returns nothing if there is no room.
    pub(super) fn draw(&self, curves: &[Curve]) -> Vec<Line> {
        let Some((low, high)) = self.range(curves) else { return Vec::new() };
        let labels = self.labels(low, high);
        let margin = labels.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0);
        let columns = self.width.saturating_sub(margin + 2);
        let rows = self.height.saturating_sub(1);
        if columns < FEWEST.0 || rows < FEWEST.1 {
            return Vec::new();
        }
        let cells = self.cells(curves, (columns, rows), (low, high));
        let mut lines: Vec<Line> = Vec::new();
        for (row, cells) in cells.iter().enumerate() {
            let is_here = |value: f64| self.height_of(value, (low, high), rows - 1) == row;
            let label = labels.iter().find(|(value, _)| is_here(*value)).map_or("", |(_, text)| text);
            let edge = if self.is_unicode { "┤" } else { "|" };
            let mut line = Line::default().add(Style::Dim, format!("{label:>margin$} {edge}"));
            for cell in cells {
                let shown = match cell.dots {
                    0 => ' ',
                    dots if self.is_unicode => char::from_u32(0x2800 + dots).unwrap_or('.'),
                    _ => cell.ascii,
                };
                line = line.add(cell.style, shown);
            }
            lines.push(line);
        }
        let end = format!("{} s", self.seconds as u64);
        let room = columns.saturating_sub(3);
        lines.push(Line::default().add(Style::Dim, format!("{:margin$}  0 s{end:>room$}", "")));
        lines
    }

    /// Returns the least and the greatest value that are shown; `None` if there is nothing to show.
    fn range(&self, curves: &[Curve]) -> Option<(f64, f64)> {
        let values = || curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.1));
        let least = values().reduce(f64::min)?;
        let greatest = values().reduce(f64::max)?;
        match self.scale {
            // A scale of less than a three-hundredth would show nothing but itself.
            Scale::Linear => Some((least, greatest.max(least + (least.abs() / 300.0).max(1e-9)))),
            Scale::Logarithmic => {
                let least =
                    values().filter(|&value| value > 0.0).reduce(f64::min).unwrap_or(LEAST).max(LEAST);
                let low = numbers().rev().find(|&number| number <= least).unwrap_or(LEAST);
                let high = numbers().find(|&number| number > low && number >= greatest);
                Some((low, high.unwrap_or(greatest.max(3.0 * low))))
            }
        }
    }

    /// Returns the values that are named at the left, from the highest on. Of several in a line, the first one is shown.
    fn labels(&self, low: f64, high: f64) -> Vec<(f64, String)> {
        let label = |value: f64, text: String| (value, format!("{text}{}", self.unit));
        match self.scale {
            Scale::Linear => [high, low].map(|value| label(value, format!("{value:.0}"))).into(),
            Scale::Logarithmic => {
                let shown = numbers().filter(|number| (low..=high).contains(number)).rev();
                shown.map(|number| label(number, number.to_string())).collect()
            }
        }
    }

    /// Returns how far below the top a value is, where the bottom is `most` below.
    fn height_of(&self, value: f64, (low, high): (f64, f64), most: usize) -> usize {
        let share = match self.scale {
            Scale::Linear => (value - low) / (high - low),
            Scale::Logarithmic => (value.max(low) / low).log10() / (high / low).log10(),
        };
        ((1.0 - share.clamp(0.0, 1.0)) * most as f64).round() as usize
    }

    fn cells(&self, curves: &[Curve], (columns, rows): (usize, usize), range: (f64, f64)) -> Vec<Vec<Cell>> {
        let (wide, high) = if self.is_unicode { (2, 4) } else { (1, 1) };
        let mut cells = vec![vec![Cell { dots: 0, style: Style::Plain, ascii: ' ' }; columns]; rows];
        for curve in curves.iter().rev() {
            let (mut next, mut value, mut before) = (0, None, None);
            for x in 0..columns * wide {
                let until = self.seconds * (x + 1) as f64 / (columns * wide) as f64;
                while let Some(point) = curve.points.get(next).filter(|point| point.0 <= until) {
                    (value, next) = (Some(point.1), next + 1);
                }
                let Some(value) = value else { continue };
                let y = self.height_of(value, range, rows * high - 1);
                let from = before.replace(y).unwrap_or(y);
                if curve.is_dotted && x % 2 > 0 && from == y {
                    continue;
                }
                for y in from.min(y)..=from.max(y) {
                    let cell = &mut cells[y / high][x / wide];
                    let dots = if self.is_unicode { BRAILLE[x % wide][y % high] } else { 1 };
                    *cell = Cell { dots: cell.dots | dots, style: curve.style, ascii: curve.ascii };
                }
            }
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(is_unicode: bool, scale: Scale) -> Chart {
        Chart { width: 30, height: 6, seconds: 10.0, scale, unit: " %", is_unicode }
    }

    fn curve(points: &[(f64, f64)]) -> Curve {
        Curve { points: points.to_vec(), style: Style::Tour, ascii: '*', is_dotted: false }
    }

    fn text(lines: &[Line]) -> Vec<String> {
        lines.iter().map(Line::text).collect()
    }

    #[test]
    fn a_curve_falls_in_steps() {
        let drawn = chart(false, Scale::Logarithmic).draw(&[curve(&[(0.0, 10.0), (5.0, 0.1), (9.9, 0.0)])]);
        assert_eq!(
            text(&drawn),
            [
                " 10 % |************",
                "  3 % |           *",
                "  1 % |           *",
                "0.3 % |           *",
                "0.1 % |           ************",
                "       0 s                10 s",
            ]
        );
    }

    #[test]
    fn dots_are_finer_than_characters() {
        let drawn = text(&chart(true, Scale::Linear).draw(&[curve(&[(0.0, 2.0), (5.0, 1.0)])]));
        assert_eq!(drawn.len(), 6);
        assert!(drawn[0].starts_with("2 % ┤⠉⠉") && drawn[4].starts_with("1 % ┤") && drawn[4].ends_with("⣀⣀"));
    }

    #[test]
    fn without_room_or_values_nothing_is_drawn() {
        let one = || curve(&[(0.0, 1.0)]);
        assert!(Chart { width: 12, ..chart(true, Scale::Linear) }.draw(&[one()]).is_empty());
        assert!(Chart { height: 2, ..chart(true, Scale::Linear) }.draw(&[one()]).is_empty());
        assert!(chart(true, Scale::Linear).draw(&[curve(&[])]).is_empty());
        assert_eq!(chart(true, Scale::Logarithmic).draw(&[curve(&[(0.0, 0.0)])]).len(), 6);
    }
}

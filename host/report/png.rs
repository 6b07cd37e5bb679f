//! Draws drawings as PNG pictures, with two pixels for each unit.
//!
//! Letters are those of Noto Sans Mono, as bitmaps that the program holds: pictures look the same on every machine, also where no fonts
//! are installed. It has the letters of European languages that are written in Latin; others become question marks.

use std::io::{self, Write};

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, PathBuilder, Pixmap, PremultipliedColorU8, Stroke, Transform,
};

use super::drawing::{Anchor, Drawing, Ink, Shape};

/// Pixels of a unit.
const SCALE: f64 = 2.0;
const PAGE: [u8; 3] = [0xfb, 0xfa, 0xf7];
const TEXT: [u8; 3] = [0x66, 0x66, 0x66];
/// Pixels around the letters of a text that covers others.
const AROUND: i32 = 3;
/// The opacity of a grid line, of 255.
const GRID: u8 = 77;

/// Writes a drawing.
///
/// # Errors
/// If it cannot be written, or memory is short.
pub fn write(drawing: &Drawing, out: &mut dyn Write) -> io::Result<()> {
    let pixels = |units: f64| (SCALE * units).ceil() as u32;
    let size = (pixels(drawing.width), pixels(drawing.height));
    let mut picture = Pixmap::new(size.0, size.1).ok_or_else(|| {
        io::Error::other(format!("a picture of {} x {} pixels is not possible", size.0, size.1))
    })?;
    let [red, green, blue] = PAGE;
    picture.fill(Color::from_rgba8(red, green, blue, 255));
    drawing.shapes.iter().for_each(|shape| draw(&mut picture, shape));
    out.write_all(&picture.encode_png().map_err(io::Error::other)?)
}

fn draw(picture: &mut Pixmap, shape: &Shape) {
    match shape {
        Shape::Line { points, ink, width } => draw_line(picture, points, *ink, *width),
        Shape::Dot { at: [x, y], radius, ink, .. } => {
            if let Some(circle) = PathBuilder::from_circle(pixel(*x), pixel(*y), pixel(*radius)) {
                picture.fill_path(&circle, &paint(*ink), FillRule::Winding, Transform::identity(), None);
            }
        }
        Shape::Text { at, anchor, text, is_small, covers } => {
            let text = Letters::new(text, *at, *anchor, *is_small);
            if *covers {
                for (x, y) in [(-1, -1), (-1, 1), (1, -1), (1, 1), (-1, 0), (1, 0), (0, -1), (0, 1)] {
                    text.draw(picture, PAGE, (x * AROUND, y * AROUND));
                }
            }
            text.draw(picture, TEXT, (0, 0));
        }
    }
}

fn pixel(unit: f64) -> f32 {
    (SCALE * unit) as f32
}

fn paint(ink: Ink) -> Paint<'static> {
    let ([red, green, blue], opacity) = match ink {
        Ink::Color(color) => (color, 255),
        Ink::Node => ([0x33; 3], 255),
        Ink::Page => (PAGE, 255),
        Ink::Fixed => ([0xe8, 0xa3, 0x17], 255),
        Ink::Grid => ([0x99; 3], GRID),
    };
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(red, green, blue, opacity);
    paint
}

fn draw_line(picture: &mut Pixmap, points: &[[f64; 2]], ink: Ink, width: f64) {
    let mut path = PathBuilder::new();
    for (at, [x, y]) in points.iter().enumerate() {
        if at == 0 { path.move_to(pixel(*x), pixel(*y)) } else { path.line_to(pixel(*x), pixel(*y)) }
    }
    let stroke = Stroke {
        width: pixel(width),
        line_cap: LineCap::Round,
        line_join: LineJoin::Round,
        ..Stroke::default()
    };
    // A line of a single point has no path.
    if let Some(path) = path.finish() {
        picture.stroke_path(&path, &paint(ink), &stroke, Transform::identity(), None);
    }
}

/// A text as bitmaps.
struct Letters<'a> {
    text: &'a str,
    /// The left upper corner.
    corner: (i32, i32),
    height: RasterHeight,
}

impl Letters<'_> {
    fn new(text: &str, [x, y]: [f64; 2], anchor: Anchor, is_small: bool) -> Letters<'_> {
        let height = if is_small { RasterHeight::Size24 } else { RasterHeight::Size32 };
        let width = (get_raster_width(FontWeight::Regular, height) * text.chars().count()) as f64;
        let before = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5,
            Anchor::End => 1.0,
        };
        // A letter's baseline is four fifths below its upper side.
        let top = SCALE * y - 0.8 * height.val() as f64;
        Letters { text, corner: ((SCALE * x - before * width).round() as i32, top.round() as i32), height }
    }

    fn draw(&self, picture: &mut Pixmap, color: [u8; 3], (right, down): (i32, i32)) {
        let (mut left, top) = (self.corner.0 + right, self.corner.1 + down);
        for letter in self.text.chars() {
            let raster = |letter| get_raster(letter, FontWeight::Regular, self.height);
            let Some(raster) = raster(letter).or_else(|| raster('?')) else { continue };
            for (y, row) in (top..).zip(raster.rows()) {
                for (x, &share) in (left..).zip(row.iter()) {
                    blend(picture, (x, y), color, share);
                }
            }
            left += raster.width() as i32;
        }
    }
}

/// Mixes a share, of 255, of a colour into a pixel.
fn blend(picture: &mut Pixmap, (x, y): (i32, i32), color: [u8; 3], share: u8) {
    let (width, height) = (picture.width() as i32, picture.height() as i32);
    if share == 0 || !(0..width).contains(&x) || !(0..height).contains(&y) {
        return;
    }
    let pixel = &mut picture.pixels_mut()[(y * width + x) as usize];
    let mix = |old: u8, new: u8| {
        let (old, new, share) = (u32::from(old), u32::from(new), u32::from(share));
        ((old * (255 - share) + new * share) / 255) as u8
    };
    let [red, green, blue] = color;
    let mixed = [mix(pixel.red(), red), mix(pixel.green(), green), mix(pixel.blue(), blue)];
    // The page is opaque, so no colour exceeds its opacity.
    *pixel = PremultipliedColorU8::from_rgba(mixed[0], mixed[1], mixed[2], 255).unwrap_or(*pixel);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(shapes: impl FnOnce(&mut Drawing)) -> Pixmap {
        let mut drawing = Drawing::new((100.0, 50.0), "");
        shapes(&mut drawing);
        let mut out = Vec::new();
        write(&drawing, &mut out).unwrap();
        Pixmap::decode_png(&out).unwrap()
    }

    fn color(picture: &Pixmap, x: u32, y: u32) -> [u8; 3] {
        let pixel = picture.pixel(x, y).unwrap();
        [pixel.red(), pixel.green(), pixel.blue()]
    }

    #[test]
    fn lines_and_dots_are_where_they_belong() {
        let ink = Ink::Color([200, 10, 20]);
        let picture = drawn(|drawing| {
            drawing.line(vec![[10.0, 10.0], [90.0, 10.0]], ink, 4.0);
            drawing.dot([50.0, 40.0], 3.0, Ink::Fixed);
            drawing.line(vec![[5.0, 5.0]], ink, 4.0);
        });
        assert_eq!((picture.width(), picture.height()), (200, 100));
        assert_eq!(color(&picture, 100, 20), [200, 10, 20]);
        assert_eq!(color(&picture, 100, 80), [0xe8, 0xa3, 0x17]);
        assert_eq!(color(&picture, 100, 50), PAGE);
    }

    #[test]
    fn texts_are_at_their_points() {
        /// The columns of the first and of the last pixel that differ from the page.
        fn extent(picture: &Pixmap) -> (u32, u32) {
            let is_ink = |x: &u32| (0..100).any(|y| color(picture, *x, y) != PAGE);
            ((0..200).find(is_ink).unwrap(), (0..200).rev().find(is_ink).unwrap())
        }
        let start = extent(&drawn(|drawing| drawing.text([50.0, 30.0], "Łódź")));
        assert!((100..110).contains(&start.0), "{start:?}");
        let end = extent(&drawn(|drawing| drawing.small_text([50.0, 30.0], Anchor::End, "10")));
        assert!((90..=100).contains(&end.1), "{end:?}");
        let middle = extent(&drawn(|drawing| drawing.small_text([50.0, 30.0], Anchor::Middle, "10")));
        assert!((95..=105).contains(&((middle.0 + middle.1) / 2)), "{middle:?}");
        // Letters that the font lacks, and what is outside the page.
        drawn(|drawing| drawing.name([-20.0, 49.0], "東京 and much more than fits on the page"));
    }

    #[test]
    fn names_cover_lines() {
        let line = |drawing: &mut Drawing| drawing.line(vec![[0.0, 27.0], [100.0, 27.0]], Ink::Node, 1.0);
        let bare = drawn(line);
        let picture = drawn(|drawing| {
            line(drawing);
            drawing.name([30.0, 30.0], "I I");
        });
        let changed = (60..96).filter(|&x| color(&picture, x, 54) != color(&bare, x, 54)).count();
        assert!(changed > 6, "{changed}");
    }
}

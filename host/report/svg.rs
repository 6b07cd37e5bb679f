//! Writes drawings as SVG, for light and dark pages.

use std::io::{self, Write};

use super::drawing::{Anchor, Drawing, Ink, Shape};

const STYLE: &str = "\
<style>
.page{fill:#fbfaf7}.node{fill:#333}text{fill:#666;font:15px sans-serif}.number{font-size:11px}
polyline{fill:none;stroke-linecap:round;stroke-linejoin:round}
.line{stroke:#999;stroke-opacity:.3}.fixed{stroke:#e8a317}
.name{paint-order:stroke;stroke:#fbfaf7;stroke-width:3px;stroke-linejoin:round}
@media(prefers-color-scheme:dark){.page{fill:#10151b}.node{fill:#ddd}text{fill:#9aa4ae}.name{stroke:#10151b}}
</style>";

/// Writes a drawing.
///
/// # Errors
/// If it cannot be written.
pub fn write(drawing: &Drawing, out: &mut dyn Write) -> io::Result<()> {
    let Drawing { width, height, .. } = *drawing;
    writeln!(out, r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}">"#)?;
    writeln!(out, "<title>{}</title>\n{STYLE}", escaped(&drawing.title))?;
    writeln!(out, r#"<rect class="page" width="{width:.0}" height="{height:.0}" rx="14"/>"#)?;
    drawing.shapes.iter().try_for_each(|shape| write_shape(shape, out))?;
    writeln!(out, "</svg>")
}

fn write_shape(shape: &Shape, out: &mut dyn Write) -> io::Result<()> {
    match shape {
        Shape::Line { points, ink, width } => {
            write!(out, r#"<polyline {} stroke-width="{width:.2}" points=""#, attribute("stroke", *ink))?;
            points.iter().try_for_each(|[x, y]| write!(out, "{x:.1},{y:.1} "))?;
            writeln!(out, r#""/>"#)
        }
        Shape::Dot { at: [x, y], radius, ink, title } => {
            let ink = attribute("fill", *ink);
            write!(out, r#"<circle {ink} cx="{x:.1}" cy="{y:.1}" r="{radius:.2}""#)?;
            if title.is_empty() {
                return writeln!(out, "/>");
            }
            writeln!(out, "><title>{}</title></circle>", escaped(title))
        }
        Shape::Text { at: [x, y], anchor, text, is_small, covers } => {
            let class = match (is_small, covers) {
                (true, true) => r#" class="number name""#,
                (true, false) => r#" class="number""#,
                (false, _) => "",
            };
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => r#" text-anchor="middle""#,
                Anchor::End => r#" text-anchor="end""#,
            };
            writeln!(out, r#"<text{class}{anchor} x="{x:.1}" y="{y:.1}">{}</text>"#, escaped(text))
        }
    }
}

/// Colours of light and dark pages differ, except for those of lines.
fn attribute(name: &str, ink: Ink) -> String {
    match ink {
        Ink::Color([red, green, blue]) => format!(r##"{name}="#{red:02x}{green:02x}{blue:02x}""##),
        Ink::Node => r#"class="node""#.to_owned(),
        Ink::Page => r#"class="page""#.to_owned(),
        Ink::Fixed => r#"class="fixed""#.to_owned(),
        Ink::Grid => r#"class="line""#.to_owned(),
    }
}

/// Escapes text between tags, where control characters and two others are not allowed.
pub(super) fn escaped(text: &str) -> String {
    let is_allowed = |c: &char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
    let text: String = text.chars().filter(is_allowed).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

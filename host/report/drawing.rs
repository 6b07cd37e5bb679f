//! A drawing: lines, dots and texts, which `svg.rs` and `png.rs` write.

/// How something is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Red, green and blue, visible on light and dark pages.
    Color([u8; 3]),
    /// Dots of nodes.
    Node,
    /// The colour of the page.
    Page,
    /// Edges that are fixed.
    Fixed,
    /// Lines that help to read others.
    Grid,
}

/// Where a text is, seen from its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It starts there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// Something that is drawn. Coordinates are units to the right and downwards.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A line through points.
    Line {
        /// The points.
        points: Vec<[f64; 2]>,
        /// How it is coloured.
        ink: Ink,
        /// How wide it is.
        width: f64,
    },
    /// A round dot.
    Dot {
        /// Its middle.
        at: [f64; 2],
        /// From its middle to its edge.
        radius: f64,
        /// How it is coloured.
        ink: Ink,
        /// What it is, where a viewer shows such texts; empty for most.
        title: String,
    },
    /// A line of text.
    Text {
        /// Where it is, at its baseline.
        at: [f64; 2],
        /// On which side of that.
        anchor: Anchor,
        /// What it says.
        text: String,
        /// Whether it is smaller than usual.
        is_small: bool,
        /// Whether it covers lines below it.
        covers: bool,
    },
}

/// What is drawn on a page, the first shape first.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// Units to the right.
    pub width: f64,
    /// Units downwards.
    pub height: f64,
    /// What it shows.
    pub title: String,
    /// What is on it.
    pub shapes: Vec<Shape>,
}

impl Drawing {
    /// Creates an empty page.
    pub fn new((width, height): (f64, f64), title: impl Into<String>) -> Drawing {
        Drawing { width, height, title: title.into(), shapes: Vec::new() }
    }

    /// Draws a line.
    pub fn line(&mut self, points: Vec<[f64; 2]>, ink: Ink, width: f64) {
        self.shapes.push(Shape::Line { points, ink, width });
    }

    /// Draws a dot.
    pub fn dot(&mut self, at: [f64; 2], radius: f64, ink: Ink) {
        self.shapes.push(Shape::Dot { at, radius, ink, title: String::new() });
    }

    /// Draws a dot with a title.
    pub fn titled_dot(&mut self, at: [f64; 2], radius: f64, ink: Ink, title: &str) {
        self.shapes.push(Shape::Dot { at, radius, ink, title: title.to_owned() });
    }

    /// Writes a text of the usual size.
    pub fn text(&mut self, at: [f64; 2], text: impl Into<String>) {
        let text = text.into();
        self.shapes.push(Shape::Text { at, anchor: Anchor::Start, text, is_small: false, covers: false });
    }

    /// Writes a small text, such as the number of an axis.
    pub fn small_text(&mut self, at: [f64; 2], anchor: Anchor, text: impl Into<String>) {
        self.shapes.push(Shape::Text { at, anchor, text: text.into(), is_small: true, covers: false });
    }

    /// Writes a small text above lines.
    pub fn name(&mut self, at: [f64; 2], text: impl Into<String>) {
        let text = text.into();
        self.shapes.push(Shape::Text { at, anchor: Anchor::Start, text, is_small: true, covers: true });
    }
}

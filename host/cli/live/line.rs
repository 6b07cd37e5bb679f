//! Lines of the view, and how their parts look.

use std::borrow::Cow;

/// Replaces control characters: names of instances come from files, and would control the terminal.
pub(super) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Returns how many columns of the terminal a printable text has: some characters have two, some none.
pub(super) fn columns(text: &str) -> usize {
    console::measure_text_width(text)
}

/// Returns as much of the start of a printable text as fits into this many columns.
pub(super) fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    console::truncate_str(text, columns, "")
}

/// How a part of a line looks where there are colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Style {
    /// As other text of the terminal.
    #[default]
    Plain,
    /// Labels.
    Dim,
    /// What matters most.
    Strong,
    /// The curve of the tour.
    Tour,
    /// The curve of the bound.
    Bound,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Style::Plain => "",
            Style::Dim => "\x1b[2m",
            Style::Strong => "\x1b[1m",
            Style::Tour => "\x1b[36m",
            Style::Bound => "\x1b[33m",
        }
    }
}

/// A line of the view.
#[derive(Clone, Debug, Default)]
pub(super) struct Line(Vec<(Style, String)>);

impl Line {
    /// Appends a text, made [`printable`].
    #[must_use]
    pub(super) fn add(mut self, style: Style, text: impl ToString) -> Line {
        let text = printable(&text.to_string());
        match self.0.last_mut() {
            Some((last, all)) if *last == style => all.push_str(&text),
            _ => self.0.push((style, text)),
        }
        self
    }

    /// Returns how many columns it has.
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|(_, text)| columns(text)).sum()
    }

    /// Returns it without styles.
    #[cfg(test)]
    pub(super) fn text(&self) -> String {
        self.0.iter().map(|(_, text)| &**text).collect::<String>().trim_end().to_owned()
    }

    /// Appends it to a frame, cut to this many columns.
    pub(super) fn draw(&self, frame: &mut String, width: usize, has_colors: bool) {
        let mut left = width;
        for (style, text) in &self.0 {
            let code = if has_colors { style.code() } else { "" };
            frame.push_str(code);
            frame.push_str(&cut(text, left));
            if !code.is_empty() {
                frame.push_str("\x1b[0m");
            }
            left = left.saturating_sub(columns(text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_twice() {
        let line = Line::default().add(Style::Strong, "北京").add(Style::Plain, "abc");
        assert_eq!(line.len(), 7);
        for (width, shown) in
            [(0, ""), (1, ""), (2, "北"), (3, "北"), (4, "北京"), (5, "北京a"), (9, "北京abc")]
        {
            let mut frame = String::new();
            line.draw(&mut frame, width, false);
            assert_eq!(frame, shown, "{width}");
        }
    }

    #[test]
    fn names_cannot_control_the_terminal() {
        let mut frame = String::new();
        Line::default().add(Style::Strong, "a\x1b[2Jb\nc").draw(&mut frame, 80, true);
        assert_eq!(frame, "\x1b[1ma?[2Jb?c\x1b[0m");
    }
}

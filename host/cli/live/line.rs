//! Lines of the view, and how their parts look.

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
    /// Appends a text. Names of instances come from files: control characters would control the terminal.
    #[must_use]
    pub(super) fn add(mut self, style: Style, text: impl ToString) -> Line {
        let text: String = text.to_string().chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        match self.0.last_mut() {
            Some((last, all)) if *last == style => all.push_str(&text),
            _ => self.0.push((style, text)),
        }
        self
    }

    /// Returns how many characters it has.
    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|(_, text)| text.chars().count()).sum()
    }

    /// Returns it without styles.
    #[cfg(test)]
    pub(super) fn text(&self) -> String {
        self.0.iter().map(|(_, text)| &**text).collect::<String>().trim_end().to_owned()
    }

    /// Appends it to a frame, cut to this many characters.
    pub(super) fn draw(&self, frame: &mut String, width: usize, has_colors: bool) {
        let mut left = width;
        for (style, text) in &self.0 {
            let code = if has_colors { style.code() } else { "" };
            let shown = text.chars().take(left);
            frame.push_str(code);
            frame.extend(shown);
            if !code.is_empty() {
                frame.push_str("\x1b[0m");
            }
            left = left.saturating_sub(text.chars().count());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_control_the_terminal() {
        let mut frame = String::new();
        Line::default().add(Style::Strong, "a\x1b[2Jb\nc").draw(&mut frame, 80, true);
        assert_eq!(frame, "\x1b[1ma?[2Jb?c\x1b[0m");
    }
}

//! Shows errors in files with the wrong line and the remedy.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::error::InstanceError;

impl InstanceError {
    /// Renders the error like a compiler: the message with file, line and column, the wrong part of the line, and the remedy.
    /// `is_styled` adds colours for a terminal.
    pub fn rendered(&self, is_styled: bool) -> String {
        let message = self.to_string();
        let mut lines = message.lines();
        let title = Level::ERROR.primary_title(lines.next().unwrap_or_default());
        let mut group = title.elements(lines.map(|line| Level::NOTE.message(line)));
        if let InstanceError::Syntax(error) = self {
            let (text, span) = error.text();
            let here = AnnotationKind::Primary.span(span).label("here");
            group = group.element(Snippet::source(text).line_start(error.line()).annotation(here));
        }
        let renderer = if is_styled { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group.element(Level::HELP.message(self.remedy()))])
    }
}

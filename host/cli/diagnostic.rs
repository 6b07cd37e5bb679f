//! Errors of instances with their place and their remedy, as miette shows them.

use std::fmt::Display;

use miette::{
    Diagnostic, LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents,
};

use crate::instance::{InstanceError, SyntaxError};

impl Diagnostic for InstanceError {
    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        Some(Box::new(self.remedy()))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        match self {
            InstanceError::Syntax(error) => Some(error.as_ref()),
            _ => None,
        }
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let InstanceError::Syntax(error) = self else { return None };
        let (_, span) = error.text();
        let here = LabeledSpan::new(Some("here".to_owned()), span.start, span.len());
        Some(Box::new(std::iter::once(here)))
    }
}

/// One line of a file.
impl SourceCode for SyntaxError {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let part = self.text().0.read_span(span, before, after)?;
        Ok(Box::new(MietteSpanContents::new_named(
            self.file().to_owned(),
            part.data(),
            *part.span(),
            self.line() - 1 + part.line(),
            part.column(),
            part.line_count(),
        )))
    }
}

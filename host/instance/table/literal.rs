//! Matrices as written by MATLAB and Julia: `D = [0 3 5; 3 0 4; 5 4 0];`.

use crate::parallel;

/// Returns whether a text is such a matrix: one pair of square brackets, with semicolons or line ends between its rows.
pub(super) fn is_matrix(text: &str) -> bool {
    bounds(text).is_some()
}

/// Returns the offsets after the opening bracket and of the closing one.
fn bounds(text: &str) -> Option<(usize, usize)> {
    let open = text.find('[')?;
    let name = text[..open].trim();
    let name = name.strip_suffix('=').map_or(name, str::trim_end);
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && (name.is_empty() || text[..open].contains('=') && !name.starts_with(|c: char| c.is_ascii_digit()));
    let inner = &text[open + 1..];
    let end = inner.find(']').unwrap_or(inner.len());
    let has_rows = inner[..end].trim().contains(';') && !inner[..end].contains(['[', '(', '{', '"', '\'']);
    let is_over = inner.get(end + 1..).unwrap_or("").trim().trim_start_matches(';').trim().is_empty();
    (is_name && has_rows && is_over).then_some((open + 1, open + 1 + end))
}

/// Puts each row of such a matrix on its own line. Offsets do not change. Returns `None` if the text is not such a matrix.
pub(super) fn in_lines(bytes: &[u8]) -> Option<Vec<u8>> {
    // Most files have no bracket at all.
    if !parallel::contains(bytes, b'[') {
        return None;
    }
    let (start, end) = bounds(std::str::from_utf8(bytes).ok()?)?;
    let mut lines = vec![b' '; bytes.len()];
    for at in start..end {
        lines[at] = match bytes[at] {
            b';' => b'\n',
            // Blanks already separate the numbers.
            b',' => b' ',
            byte => byte,
        };
    }
    Some(lines)
}

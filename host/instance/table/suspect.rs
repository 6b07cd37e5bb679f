//! Texts that look like a plain table but are not: printouts that omit rows, matrices in blocks, pairs and lists of neighbours that
//! look like decimal commas.

use super::rows;
use crate::error::{InstanceError, Result, Text, counted};
use crate::read_options::ReadOptions;

/// The maximum number of lines of a printout: longer files were written by a program to be read by a program.
const MOST: usize = 10_000;

/// Rejects a text whose rows are not those of one complete table. Returns a warning if it may be such a text.
pub(super) fn check(text: Text<'_>, options: &ReadOptions) -> Result<Option<String>> {
    if text.bytes.iter().filter(|byte| **byte == b'\n').nth(MOST).is_some() {
        return Ok(None);
    }
    let Ok(all) = std::str::from_utf8(text.bytes) else { return Ok(None) };
    let lines: Vec<&str> = all.lines().take(MOST + 1).collect();
    if lines.len() > MOST {
        return Ok(None);
    }
    if let Some(line) = lines.iter().skip(1).find(|line| is_gap(line)) {
        return Err(located(
            text,
            line,
            "only a part of the table was printed",
            "write all of it to a file, such as a CSV",
        ));
    }
    if let Some(line) = lines.iter().find(|line| is_variable(line)) {
        let help = "write each place on its own line, `x,y`";
        return Err(located(text, line, "each coordinate is in a separate array", help));
    }
    if let Some(line) = lines.iter().find(|line| is_of_matlab(line)) {
        let help = "write the numbers with writematrix(x, \"x.csv\")";
        return Err(located(
            text,
            line,
            "MATLAB printed the numbers in parts, or without a common factor",
            help,
        ));
    }
    if let Some((line, count)) = lines.iter().rev().find_map(|line| Some((line, stated_rows(line)?))) {
        let rows = lines.iter().filter(is_row).count();
        // With and without the column names.
        if rows != count && rows != count + 1 {
            let problem =
                format!("this says {}, but there are {}", counted(count, "row"), counted(rows, "line"));
            return Err(located(text, line, &problem, "write all rows to the file, or remove this line"));
        }
    }
    if let Some((blocks, height)) = blocks(&lines) {
        let problem = format!("a matrix of {height} rows is split into {blocks} blocks of columns");
        return Err(text.content(problem, "write each row of the matrix on one line"));
    }
    if options.decimal.is_some() {
        return Ok(None);
    }
    let rows: Vec<Vec<(&str, &str)>> = lines.iter().filter(is_row).map_while(|line| pairs(line)).collect();
    let are_pairs = rows.len() > 1 && rows.len() == lines.iter().filter(is_row).count();
    if are_pairs && are_whole(&rows) {
        let (one, other) = rows[0][0];
        let problem = format!("`{one},{other}` may be a place x,y or a number with a decimal comma");
        let help = "write each place on its own line, `x,y`; `--decimal comma` reads the commas as decimal separators";
        return Err(text.content(problem, help));
    }
    if are_neighbors(&lines) {
        let problem = "the lines may be lists of neighbours with costs, `node neighbour,cost ...`, or hold decimal commas";
        let help =
            "write edges as lines `from,to,cost`; `--decimal comma` reads the commas as decimal separators";
        return Err(text.content(problem, help));
    }
    let is_plain = |&(_, other): &(&str, &str)| !other.starts_with('0');
    Ok((are_pairs && rows.iter().flatten().all(is_plain)).then(|| {
        let (one, other) = rows[0][0];
        format!(
            "`{one},{other}` in {} is read as a number with a decimal comma; if it is a place x,y, write each place on its own line",
            super::printable(text.file)
        )
    }))
}

fn located(text: Text<'_>, line: &str, problem: &str, help: &str) -> InstanceError {
    let start = line.as_ptr() as usize - text.bytes.as_ptr() as usize;
    text.error(start, line.len(), problem, help)
}

/// Returns whether a line stands for omitted rows.
fn is_gap(line: &str) -> bool {
    let line = line.trim();
    let is_sign = matches!(line, "---" | ".." | "..." | "\u{2026}" | "\u{22ee}");
    // `# … with 97 more rows`
    let comment = line.strip_prefix(['#', '%']).is_some_and(|rest| {
        let mut words = rest.split_whitespace().rev();
        words
            .next()
            .is_some_and(|word| word.starts_with("rows") || word == "..." || word.starts_with("lines"))
            && (rest.contains(" more rows") || rest.contains(" more lines"))
    });
    let are_signs = line.len() > 2
        && line.split_whitespace().count() > 1
        && line.split_whitespace().all(|cell| matches!(cell, ".." | "..." | "\u{2026}" | "\u{22ee}"));
    is_sign || comment || are_signs
}

/// Returns whether a line gives all values of one coordinate: `x = [1 2 3];`.
fn is_variable(line: &str) -> bool {
    let Some((name, array)) = line.split_once('=') else { return false };
    let is_coordinate = matches!(
        name.trim().to_lowercase().as_str(),
        "x" | "y"
            | "xs"
            | "ys"
            | "lat"
            | "lon"
            | "lats"
            | "lons"
            | "latitude"
            | "longitude"
            | "xcoord"
            | "ycoord"
    );
    let array = array.trim();
    is_coordinate && array.starts_with(['[', '(', '{']) && !array[1..].contains(['[', '(', '{'])
}

/// Returns whether MATLAB inserted this line between the parts of its output: `1.0e+03 *`, `Columns 1 through 4`.
fn is_of_matlab(line: &str) -> bool {
    let line = line.trim();
    let factor = line.strip_suffix('*').map(str::trim_end);
    factor.is_some_and(|factor| factor.contains('e') && factor.parse::<f64>().is_ok())
        || line.starts_with("Columns ") && (line.contains(" through ") || line.contains(" and "))
}

/// Returns the number of rows given in a line below a table: `(100 rows)`, `100 rows in set`.
fn stated_rows(line: &str) -> Option<usize> {
    let line = line.trim();
    let is_stated = rows::is_decoration(line) && line.contains("row");
    let digits: String = line.trim_start_matches('(').chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|_| is_stated)
}

/// Returns whether a line is neither a comment, a rule nor blank.
fn is_row(line: &&&str) -> bool {
    !line.trim().is_empty() && !rows::is_decoration(line) && !line.trim_start().starts_with(['#', '%'])
}

/// Returns the number and height of blocks of numbers, separated by blank lines, that together are as wide as each is high.
fn blocks(lines: &[&str]) -> Option<(usize, usize)> {
    let widths = |block: &[&str]| {
        let cells = |line: &str| line.split([' ', '\t', ',', ';']).filter(|cell| !cell.is_empty()).count();
        let width = cells(block[0]);
        block.iter().all(|line| cells(line) == width).then_some(width)
    };
    let is_numbers = |line: &&str| {
        line.bytes().all(|b| {
            b.is_ascii_digit() || matches!(b, b' ' | b'\t' | b'.' | b',' | b';' | b'-' | b'+' | b'e')
        })
    };
    let all: Vec<&[&str]> =
        lines.split(|line| line.trim().is_empty()).filter(|block| !block.is_empty()).collect();
    let height = all.first()?.len();
    let is_one = all.len() > 1
        && height > 2
        && all.iter().all(|block| block.len() == height && block.iter().all(is_numbers));
    let width: usize = all.iter().map(|block| widths(block)).collect::<Option<Vec<_>>>()?.iter().sum();
    (is_one && width == height).then_some((all.len(), height))
}

/// Returns the cells of a line, each two whole numbers with a comma between them.
fn pairs(line: &str) -> Option<Vec<(&str, &str)>> {
    let cells = line.split_whitespace().map(|cell| {
        let (one, other) = cell.split_once(',')?;
        let is_whole = |text: &str| {
            let digits = text.strip_prefix('-').unwrap_or(text);
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        (is_whole(one) && is_whole(other)).then_some((one, other))
    });
    cells.collect::<Option<Vec<_>>>().filter(|cells| cells.len() > 1)
}

/// Returns whether the digits after the commas look like whole numbers: no leading zero, and a trailing zero although others are
/// shorter.
fn are_whole(rows: &[Vec<(&str, &str)>]) -> bool {
    let parts = || rows.iter().flatten().map(|&(_, other)| other);
    let is_plain = |part: &str| !part.starts_with('0') || part == "0";
    let longest = parts().map(str::len).max().unwrap_or(0);
    parts().all(is_plain)
        && parts().any(|part| part.starts_with('-') || part.len() > 1 && part.ends_with('0'))
        && parts().any(|part| part.len() < longest)
}

/// Returns whether each line holds a node and `neighbour,cost` for some of the others.
fn are_neighbors(lines: &[&str]) -> bool {
    let number = |text: &str| text.parse::<u32>().ok();
    let mut nodes = Vec::new();
    let mut ends = Vec::new();
    for line in lines.iter().filter(is_row) {
        let mut cells = line.split_whitespace();
        let Some(node) = cells.next().and_then(number) else { return false };
        let start = ends.len();
        for cell in cells {
            let Some((end, cost)) = cell.split_once(',') else { return false };
            let (Some(end), Some(_)) = (number(end), number(cost)) else { return false };
            if end == node || ends[start..].contains(&end) {
                return false;
            }
            ends.push(end);
        }
        if ends.len() == start {
            return false;
        }
        nodes.push(node);
    }
    nodes.sort_unstable();
    let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else { return false };
    nodes.len() > 2
        && nodes.windows(2).all(|pair| pair[0] + 1 == pair[1])
        && ends.iter().all(|end| (first..=last).contains(&end))
}

//! The numbers and names of nodes.

use std::collections::HashSet;

use super::Table;
use super::grid::are_distinct;
use super::header::Role;
use super::naming::Naming;
use crate::error::Result;

/// The labels of the nodes; see the [module](self).
#[derive(Debug, Default)]
pub(super) struct Labels {
    /// The nodes' ids, unless they are 1 to n.
    pub(super) ids: Option<Vec<u32>>,
    pub(super) names: Option<Vec<String>>,
    /// The columns that the labels come from.
    pub(super) columns: Vec<(Role, usize)>,
    pub(super) warning: Option<String>,
}

impl Labels {
    /// Reads the labels in these columns.
    pub(super) fn of(table: &Table<'_>, id: Option<usize>, naming: Option<&Naming>) -> Result<Labels> {
        let single = naming.and_then(Naming::single);
        let (id, naming) = match (id, single) {
            (None, Some(name)) if table.grid.distinct(name).is_some() => (Some(name), None),
            (id, single) => (id.filter(|_| id != single), naming),
        };
        let ids = id.and_then(|column| table.grid.distinct(column));
        let mut labels = Labels::default();
        let name = |labels: &mut Labels, naming: &Naming| {
            labels.columns.extend(naming.all().map(|column| (Role::Name, column)));
            labels.names = Some(names(table, naming, ids.as_deref()));
        };
        if let Some(naming) = naming {
            name(&mut labels, naming);
        }
        let Some(column) = id else { return Ok(labels) };
        let title = table.grid.title(column);
        let is_number = ids.is_some() || table.grid.whole(column).is_some();
        if let Some(ids) = ids {
            labels.ids = Some(ids).filter(|ids| !ids.iter().copied().eq(1..=ids.len() as u32));
            labels.columns.insert(0, (Role::Id, column));
        } else if labels.names.is_some() {
            // Nobody expects ids such as A-17 to be numbers, unless the caller chose them.
            let is_chosen = table.chosen(Role::Id) == Some(column);
            let why = match is_number {
                true => "a number appears in it twice",
                false => "not all of its values are plain whole numbers",
            };
            labels.warning = (is_chosen || table.grid.has_numbers(column))
                .then(|| format!("{title} is ignored: {why}, and the places already have names"));
        } else if Naming::of(column).tells_apart(table) {
            labels.warning =
                is_number.then(|| format!("{title} is read as names, since a number appears in it twice"));
            name(&mut labels, &Naming::of(column));
        } else {
            labels.warning = Some(format!("{title} is ignored: most of its values appear in several rows"));
        }
        Ok(labels)
    }

    /// Converts these texts to labels.
    pub(super) fn of_texts(texts: Vec<String>) -> Labels {
        let ids: Option<Vec<u32>> = texts.iter().map(|text| whole(text)).collect();
        match ids.filter(|ids| are_distinct(ids)) {
            Some(ids) => {
                let ids = Some(ids).filter(|ids| !ids.iter().copied().eq(1..=ids.len() as u32));
                Labels { ids, ..Labels::default() }
            }
            None => {
                Labels { names: Some(texts.iter().map(|text| clean(text)).collect()), ..Labels::default() }
            }
        }
    }
}

/// Parses a text that is the plain spelling of a number.
fn whole(text: &str) -> Option<u32> {
    let number: u32 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// Returns whether these are consecutive numbers: in any order from 0 or 1, or in ascending order from any number.
pub(super) fn are_consecutive(ids: &[u32]) -> bool {
    let in_order = ids.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]));
    let (low, high) = (ids.iter().min().copied().unwrap_or(0), ids.iter().max().copied().unwrap_or(0));
    in_order || low <= 1 && (high - low) as usize + 1 == ids.len() && are_distinct(ids)
}

fn names(table: &Table<'_>, naming: &Naming, ids: Option<&[u32]>) -> Vec<String> {
    let mut names: Vec<String> = (0..table.grid.rows()).map(|row| clean(&naming.text(table, row))).collect();
    let unnamed: Vec<usize> = (0..names.len()).filter(|&row| names[row].is_empty()).collect();
    if unnamed.is_empty() {
        return names;
    }
    let taken: HashSet<u32> = names.iter().filter_map(|name| whole(name)).collect();
    for row in unnamed {
        // A place without a name is called by its number, unless that is the name of another one.
        let number = ids.map_or(row as u32 + 1, |ids| ids[row]);
        names[row] = if taken.contains(&number) { format!("unnamed {number}") } else { number.to_string() };
    }
    names
}

/// Makes a name printable on one line.
fn clean(name: &str) -> String {
    name.replace(char::is_control, " ")
}

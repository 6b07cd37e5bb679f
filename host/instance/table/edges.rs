//! Lists of edges: two nodes and the cost between them in each row.

use std::collections::HashMap;

use super::Table;
use super::grid::{Cell, Grid, MOST_CELLS};
use super::header::{self, Role};
use super::labels::Labels;
use super::matrix;
use super::number::{self, is_none};
use crate::content::{Content, Reading, odd_costs};
use crate::error::{InstanceError, Result, counted};
use crate::memory;

struct Columns {
    from: usize,
    to: usize,
    cost: usize,
}

/// Returns whether a table without column names is a list of edges: three columns, of which two name nodes.
///
/// # Errors
/// If the rows could just as well be places.
pub(super) fn fits(table: &Table<'_>) -> Result<bool> {
    let grid = &table.grid;
    let rows = grid.rows();
    if grid.width() != 3 || grid.names.is_some() || rows < 2 {
        return Ok(false);
    }
    let are_words = |column: usize| (0..rows).all(|row| grid.is_word(row, column));
    let are_costs = !grid.has_words(2);
    if are_words(0) && are_words(1) && are_costs {
        return Ok(true);
    }
    let Some(Ends { from, to, n }) = Ends::of(grid, 0, 1).filter(|_| are_costs) else { return Ok(false) };
    let are_ids = {
        let mut first = from.clone();
        first.sort_unstable();
        first.windows(2).all(|pair| pair[0] + 1 == pair[1])
    };
    if are_ids {
        return Err(table.open(&[
            ("edges from, to and cost", "--as edges"),
            ("places x y with a number in column 1", "--columns id=1,x=2,y=3"),
        ]));
    }
    // A few small numbers could just as well be coordinates, unless they are in the order of a list of pairs.
    let is_complete = rows == n * (n - 1) / 2 || rows == n * (n - 1);
    let is_ordered = from.iter().zip(&to).is_sorted() && from.iter().zip(&to).all(|(from, to)| from < to);
    if table.counts.is_empty() && n < 6 && !is_complete && !is_ordered {
        return Err(table.open(&[
            ("edges from, to and cost", "--as edges"),
            ("places x y z in space", "--columns x=1,y=2,z=3"),
        ]));
    }
    Ok(true)
}

/// The numbers of the nodes that edges join.
pub(super) struct Ends {
    from: Vec<u32>,
    to: Vec<u32>,
    /// Number of nodes.
    n: usize,
}

impl Ends {
    /// Reads two columns as the ends of edges. Returns `None` if they are not: the nodes of a list are numbered from 0 or 1 without
    /// gaps, each has at least one edge, and no pair is listed twice.
    pub(super) fn of(grid: &Grid, from: usize, to: usize) -> Option<Ends> {
        let (from, to) = (grid.whole(from)?, grid.whole(to)?);
        let mut nodes: Vec<u32> = from.iter().chain(&to).copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        let n = nodes.len();
        let is_range = nodes[0] <= 1 && nodes[n - 1] as usize == n - 1 + nodes[0] as usize;
        let mut pairs: Vec<(u32, u32)> = from.iter().copied().zip(to.iter().copied()).collect();
        let has_no_loops = pairs.iter().all(|(from, to)| from != to);
        pairs.sort_unstable();
        let are_distinct = pairs.windows(2).all(|pair| pair[0] != pair[1]);
        (is_range && has_no_loops && are_distinct && grid.rows() >= n && n >= 3).then_some(Ends {
            from,
            to,
            n,
        })
    }
}

/// Reads the costs of a list of edges.
pub(super) fn read(mut table: Table<'_>) -> Result<Reading> {
    let columns = columns(&table)?;
    table.refuse_systems()?;
    refuse_states(&table, &columns)?;
    let rows = table.grid.rows();
    let nodes = Nodes::of(&table, &columns)?;
    let n = nodes.labels.len();
    if n.saturating_mul(n) > MOST_CELLS {
        let problem = format!("a list of edges between {n} nodes is too large, since it becomes a matrix");
        return Err(table.text().content(problem, "use coordinates, or fewer nodes"));
    }
    memory::check((n * n * size_of::<f64>()) as u64)
        .map_err(|shortage| table.text().no_room("the matrix", shortage))?;
    let mut costs = vec![f64::NAN; n * n];
    let mut is_both = false;
    for row in 0..rows {
        let (from, to) = (nodes.ends[2 * row] as usize, nodes.ends[2 * row + 1] as usize);
        let cost = cost(&table, row, columns.cost)?;
        let here = &mut costs[from * n + to];
        if from != to && !here.is_nan() && *here != cost {
            let (from, to) = (&nodes.labels[from], &nodes.labels[to]);
            let problem =
                format!("the edge from {from} to {to} has the cost {cost}, but {here} in an earlier row");
            return Err(table.wrong(row, columns.cost, problem, "keep one of them"));
        }
        *here = cost;
        is_both |= from != to && !costs[to * n + from].is_nan();
    }
    let says_directed = direction(&table)?;
    let is_directed = table.options.directed || says_directed == Some(true);
    let is_one_way = is_both || is_directed;
    if !is_one_way {
        for i in 0..n {
            for j in 0..n {
                if costs[i * n + j].is_nan() {
                    costs[i * n + j] = costs[j * n + i];
                }
            }
        }
    }
    let listed = (0..rows).map(|row| table.grid.number(row, columns.cost));
    let mut warnings = odd_costs(listed, table.options, &table.file());
    let name = table.grid.title(columns.cost);
    let is_alike = |word: &&str| name.to_lowercase().contains(*word);
    if ["similar", "correl", "affinity"].iter().any(is_alike) {
        warnings.push(format!("{name} is read as costs, where less is better"));
    }
    let missing = matrix::forbid(&mut costs, n, table.options.forbidden_from);
    let told = [(Role::From, columns.from), (Role::To, columns.to), (Role::Cost, columns.cost)];
    let ways = match (is_directed, is_both) {
        (true, _) => "each applies to its direction",
        (false, true) => "each applies to its direction, since some are listed in both",
        (false, false) => "each applies to both directions",
    };
    if missing > 0 {
        table.notes.push(counted(missing, "forbidden direction"));
    }
    let line = table.line(format!("{} between {n} places", counted(rows, "edge")), &told, ways);
    let labels = Labels::of_texts(nodes.labels);
    Ok(Reading {
        content: Content::Costs(costs),
        ids: labels.ids,
        names: labels.names,
        line,
        warnings,
        is_directed,
    })
}

/// Returns whether a column such as `oneway`, or Gephi's `Type`, says that all edges are directed, or that none is.
///
/// # Errors
/// If it says so only for some edges.
fn direction(table: &Table<'_>) -> Result<Option<bool>> {
    let grid = &table.grid;
    let names = grid.names.as_deref().unwrap_or_default();
    let Some(column) = (0..names.len()).find(|&at| header::is_direction(&names[at])) else { return Ok(None) };
    let one = |row: usize| match grid.written(row, column).trim().to_lowercase().as_str() {
        "directed" | "true" | "yes" | "y" | "t" | "1" => Some(true),
        "undirected" | "false" | "no" | "n" | "f" | "0" | "" => Some(false),
        _ => None,
    };
    // Such a column means the opposite.
    let is_both = header::is_both_ways(&names[column]);
    let one = |row: usize| one(row).map(|said| said != is_both);
    let Some(said) = (0..grid.rows()).map(one).collect::<Option<Vec<bool>>>() else { return Ok(None) };
    let count = said.iter().filter(|&&is_directed| is_directed).count();
    if table.options.directed || count == 0 || count == said.len() {
        return Ok(Some(count > 0));
    }
    let problem = format!("{} says that {count} of {} edges are directed", grid.title(column), said.len());
    let help = "write the other edges in both directions, and use `--directed`";
    Err(table.text().content(problem, help))
}

fn cost(table: &Table<'_>, row: usize, column: usize) -> Result<f64> {
    match table.grid.cell(row, column) {
        Cell::Number(number, _) => Ok(number),
        Cell::Empty => Ok(f64::INFINITY),
        Cell::Text(text) if is_none(text) => Ok(f64::INFINITY),
        Cell::Text(text) => Err(table.wrong(
            row,
            column,
            format!("`{text}` is not a cost"),
            number::remedy(text).unwrap_or("write a number, or inf if there is no connection".to_owned()),
        )),
    }
}

fn columns(table: &Table<'_>) -> Result<Columns> {
    let grid = &table.grid;
    let default = |at: usize| (grid.names.is_none() || table.options.shape.is_some()).then_some(at);
    let (from, to) = (table.role(Role::From)?.or(default(0)), table.role(Role::To)?.or(default(1)));
    let (Some(from), Some(to)) = (from, to) else {
        return Err(table.text().content(
            "`--columns` does not give both ends of an edge",
            "give all three: `--columns from=1,to=2,cost=3`",
        ));
    };
    let names = grid.names.as_deref().unwrap_or_default();
    let is_back = |at: usize| names[at].to_lowercase().contains("reverse") && !grid.has_words(at);
    let has_way_back = (0..names.len()).any(is_back);
    if has_way_back && table.chosen(Role::Cost).is_none() {
        let problem = "there is a column with costs of the reverse direction, which is not read";
        return Err(table.text().content(
            problem,
            "write each direction as a separate row; or choose one column: `--columns cost=4`",
        ));
    }
    let is_free = |column: &usize| *column != from && *column != to;
    let numbers: Vec<usize> =
        (0..grid.width()).filter(is_free).filter(|&column| !grid.has_words(column)).collect();
    if table.chosen(Role::Cost).is_none() {
        refuse_split_costs(table, &numbers)?;
    }
    let by_name = match table.chosen(Role::Cost) {
        Some(column) => Some(column),
        None if numbers.len() == 1 => numbers.first().copied(),
        None => cost_by_name(table, &numbers)?,
    };
    // A cost column that holds words, such as the time 1:30.
    let mut others =
        header::costs(names).into_iter().filter(|column| is_free(column) && !numbers.contains(column));
    if let Some(column) = others.next().filter(|_| by_name.is_none()) {
        let row = (0..grid.rows()).find(|&row| grid.is_word(row, column)).unwrap_or(0);
        cost(table, row, column)?;
    }
    let Some(cost) = by_name.or_else(|| numbers.first().copied().filter(|_| grid.names.is_none())) else {
        let problem = format!("no cost column was found among {}", header::list(names));
        return Err(table.text().content(problem, "say which it is: `--columns cost=3`"));
    };
    Ok(Columns { from, to, cost })
}

/// Rejects costs that are split between two columns, such as hours and minutes, and costs that are not decimals, such as `h.mm`.
fn refuse_split_costs(table: &Table<'_>, numbers: &[usize]) -> Result<()> {
    let names = table.grid.names.as_deref().unwrap_or_default();
    if let Some(&column) =
        numbers.iter().find(|&&at| names.get(at).is_some_and(|name| header::is_clock(name)))
    {
        let problem = format!("{} holds hours and minutes, or minutes and seconds", table.grid.title(column));
        return Err(table
            .text()
            .content(problem, "write times as decimals in a single unit: 1 h 30 min as 1.5 or 90"));
    }
    if let Some(&column) =
        numbers.iter().find(|&&at| at > 0 && names.get(at).is_some_and(|name| name.trim().is_empty()))
    {
        let problem = format!("{} has no name, and may be part of the cost", table.grid.title(column));
        let cost = numbers.iter().find(|&&other| other != column).map_or(column, |&other| other) + 1;
        let help = format!("name it or remove it; or choose: `--columns cost={cost}`");
        return Err(table.text().content(problem, help));
    }
    for units in header::UNITS_OF_COSTS {
        let mut of =
            numbers.iter().filter(|&&at| names.get(at).is_some_and(|name| header::is_in(name, units)));
        if let (Some(&one), Some(&other)) = (of.next(), of.next()) {
            let problem = format!(
                "the cost of an edge may be {}, {}, or both together",
                table.grid.title(one),
                table.grid.title(other)
            );
            let help = format!(
                "write a sum such as 1 h 30 min in one column; if each is the whole cost, choose: `--columns cost={}` or `--columns cost={}`",
                one + 1,
                other + 1
            );
            return Err(table.text().content(problem, help));
        }
    }
    Ok(())
}

/// Rejects edges if a column says that some are closed, or that they have different directions.
fn refuse_states(table: &Table<'_>, used: &Columns) -> Result<()> {
    let grid = &table.grid;
    let names = grid.names.as_deref().unwrap_or_default();
    let is_used = |at: usize| at == used.from || at == used.to || at == used.cost;
    let says = |row: usize, at: usize| grid.written(row, at).trim().to_lowercase();
    let differs = |at: &usize| (1..grid.rows()).any(|row| says(row, *at) != says(0, *at));
    let is_way = |at: usize| {
        header::is_direction(&names[at])
            && (0..grid.rows())
                .any(|row| matches!(says(row, at).as_str(), "forward" | "backward" | "ft" | "tf"))
    };
    let odd = (0..names.len())
        .filter(|&at| !is_used(at) && table.chosen.is_empty())
        .filter(|&at| header::is_state(&names[at]) || is_way(at))
        .find(differs);
    let Some(column) = odd else { return Ok(()) };
    let (problem, help) = if is_way(column) {
        (
            format!("{} is not the same for all edges", grid.title(column)),
            "write each edge as `from,to` in each of its directions, remove the column, and use `--directed`",
        )
    } else {
        (
            format!("{} is not the same for all edges", grid.title(column)),
            "remove the closed edges, and then the column",
        )
    };
    Err(table.text().content(problem, help))
}

/// Returns the only column among `numbers` whose name is that of a cost.
fn cost_by_name(table: &Table<'_>, numbers: &[usize]) -> Result<Option<usize>> {
    let names = table.grid.names.as_deref().unwrap_or_default();
    let named: Vec<usize> =
        header::costs(names).into_iter().filter(|column| numbers.contains(column)).collect();
    let is_plain =
        |column: &&usize| matches!(names[**column].trim().to_lowercase().as_str(), "cost" | "costs");
    match (&named[..], named.iter().find(is_plain)) {
        ([], _) => Ok(None),
        ([one], _) | (_, Some(one)) => Ok(Some(*one)),
        ([one, other, ..], None) => {
            let (title, rival) = (table.grid.title(*one), table.grid.title(*other));
            let problem = format!("the cost of an edge may be {title} or {rival}");
            let help = format!("choose: `--columns cost={}` or `--columns cost={}`", one + 1, other + 1);
            Err(table.text().content(problem, help))
        }
    }
}

/// The nodes of a list.
struct Nodes {
    /// The nodes' labels as written: sorted if all are numbers, else in order of appearance.
    labels: Vec<String>,
    /// Two entries per row: the edge's start and end.
    ends: Vec<u32>,
}

impl Nodes {
    fn of(table: &Table<'_>, columns: &Columns) -> Result<Nodes> {
        let grid = &table.grid;
        let (mut labels, mut ends): (Vec<String>, Vec<u32>) = (Vec::new(), Vec::new());
        let mut known: HashMap<String, u32> = HashMap::new();
        for row in 0..grid.rows() {
            for column in [columns.from, columns.to] {
                let label = grid.written(row, column);
                if label.is_empty() {
                    return Err(table.wrong(row, column, "an end of the edge has no name", "name both ends"));
                }
                let next = labels.len() as u32;
                let node = *known.entry(label).or_insert_with_key(|label| {
                    labels.push(label.clone());
                    next
                });
                ends.push(node);
            }
        }
        let numbers: Option<Vec<u32>> = labels.iter().map(|label| label.parse().ok()).collect();
        let Some(numbers) = numbers else { return Nodes::counted(table, labels, ends) };
        let mut order: Vec<u32> = (0..labels.len() as u32).collect();
        order.sort_by_key(|&node| numbers[node as usize]);
        let mut place = vec![0; labels.len()];
        (0..).zip(&order).for_each(|(at, &node)| place[node as usize] = at);
        ends.iter_mut().for_each(|node| *node = place[*node as usize]);
        labels = order.iter().map(|&node| std::mem::take(&mut labels[node as usize])).collect();
        Nodes::counted(table, labels, ends)
    }

    /// Checks the counts of nodes and edges given in the first line.
    fn counted(table: &Table<'_>, labels: Vec<String>, ends: Vec<u32>) -> Result<Nodes> {
        let (n, rows) = (labels.len(), table.grid.rows());
        let is_right = match table.counts[..] {
            [] => true,
            [one] => one == n || one == rows,
            [nodes, ref edges @ ..] => nodes == n && edges.iter().all(|&edges| edges == rows),
        };
        if is_right { Ok(Nodes { labels, ends }) } else { Err(miscounted(table, n)) }
    }
}

fn miscounted(table: &Table<'_>, n: usize) -> InstanceError {
    let problem = format!(
        "the first line does not match what follows: {} between {n} nodes",
        counted(table.grid.rows(), "edge")
    );
    table.text().content(problem, "correct the first line, or remove it; every node must have an edge")
}

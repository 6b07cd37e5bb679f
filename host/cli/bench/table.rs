//! Tables of raw rows. Rows with the same machine, instance and settings form a group, which is a line of the table; what differs
//! between groups is shown in columns, what does not is shown above the table.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::ops::RangeInclusive;

use serde_json::Value;

use super::super::{Error, Result};
use super::rows::{Row, text};
use crate::instance::{Cost, printable};
use crate::report::statistics::{Wilcoxon, deviation, friedman, holm, mean, median, rank_sum, signed_rank};

/// A suite, with the contents of its tables.
pub struct Suite {
    /// Its name on the command line and in rows.
    pub name: &'static str,
    /// Columns in addition to those of every suite.
    pub columns: &'static [Column],
    /// Ranges of the number of nodes whose gaps are averaged separately, with their headings.
    pub sizes: &'static [(&'static str, RangeInclusive<u64>)],
    /// The names of the values of a point of a curve; empty if runs record none.
    pub curve: &'static [&'static str],
}

/// A column: its heading, the column of the rows it summarizes, how, and the number of decimals.
pub type Column = (&'static str, &'static str, How, usize);

/// How a figure is computed from a group's rows. Rows without a value are ignored.
#[derive(Clone, Copy)]
pub enum How {
    /// How many have a value.
    Count,
    /// The arithmetic mean.
    Mean,
    /// The standard deviation of a sample of two or more.
    Deviation,
    /// The least value.
    Least,
    /// The value in the middle; of two, the larger one.
    Median,
    /// The sum.
    Sum,
    /// The sum, divided by the sum of another column.
    Per(&'static str),
    /// How many times larger the mean is in the group that has this setting at this value, and is otherwise like this one.
    Times(&'static str, &'static str),
    /// Wilcoxon's rank-sum test against the first group of the instance, corrected for the number of tests by Holm's method.
    RankSum,
    /// Wilcoxon's signed-rank test against the number in another column of the first row, corrected in the same way.
    SignedRank(&'static str),
}
use How::{Count, Deviation, Least, Mean, Median, Per, RankSum, SignedRank, Sum, Times};

/// Columns of every suite, before and after its own.
const BEFORE: [Column; 2] = [("runs", "seed", Count, 0), ("done", "iterations", Mean, 0)];
const AFTER: [Column; 9] = [
    ("mean", RESULT, Mean, 4),
    ("sd", RESULT, Deviation, 4),
    ("best", RESULT, Least, 4),
    ("gap %", "gap_percent", Mean, 3),
    ("gap sd", "gap_percent", Deviation, 3),
    ("least gap", "gap_percent", Least, 3),
    ("optimal", "optimal", Sum, 0),
    ("against first", RESULT, RankSum, 4),
    ("against published", "gap_percent", SignedRank("published_gap_percent"), 4),
];
/// The column of costs. They are compared exactly.
const RESULT: &str = "result";
/// The part of the settings that holds all solver settings: it distinguishes groups, but is not a column.
pub const SOLVER: &str = "solver";
/// Columns of rows that distinguish machines.
const MACHINE: [&str; 5] = ["antwarp", "backend", "device", "details", "units"];
/// Settings that are not compared: ways and numbers of warps lead to the same results, and longer runs to better ones.
const NOT_COMPARED: [&str; 4] = ["way", "warps", "iterations", "time"];
/// Minimum number of seeds for a Friedman test, and of results for Wilcoxon tests. With fewer than six, not even the clearest
/// difference from a number is significant.
const FEWEST_BLOCKS: usize = 3;
const FEWEST_RANKED: usize = 5;
pub const FEWEST_SIGNED: usize = 6;

/// Returns the tables of all rows, suite by suite; in Markdown or as plain text.
///
/// # Errors
/// [`Error::Unusable`] if a row is of none of the suites.
pub fn tables(suites: &[&Suite], rows: &[Row], markdown: bool) -> Result<String> {
    if let Some(row) = rows.iter().find(|row| suites.iter().all(|suite| suite.name != row.text("suite"))) {
        return Err(Error::Unusable(format!("unknown suite `{}`", printable(&row.text("suite")))));
    }
    let mut tables = Vec::new();
    for suite in suites {
        let groups = Group::all(rows.iter().filter(|row| row.text("suite") == suite.name));
        if !groups.is_empty() {
            let names = differing(&groups);
            tables.push(main(suite, &groups, &names, markdown));
            tables.extend(over_instances(suite, &groups, &names[2..], markdown));
            tables.extend(groups.iter().filter_map(|group| group.curve(suite, &names, markdown)));
        }
    }
    // Text from files must not control the terminal.
    Ok(tables.join("\n").split('\n').map(printable).collect::<Vec<_>>().join("\n"))
}

/// Returns rows of anything as a table of all their columns.
pub fn plain(rows: &[Row], markdown: bool) -> String {
    let (heads, lines) = super::rows::plain(rows);
    let text = render("rows", (&heads, 1), &lines, markdown);
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// Formats a run as a line of progress.
pub fn line(row: &Row) -> String {
    let settings = row.parts("settings");
    let settings = settings.as_object().into_iter().flatten().filter(|(name, _)| *name != SOLVER);
    let settings: Vec<String> = settings.map(|(name, value)| format!("{name} {}", text(value))).collect();
    let gap = row.number("gap_percent").map_or_else(String::new, |gap| format!(" ({gap:.3} %)"));
    let time = row.number("seconds").map_or_else(String::new, |seconds| format!(", {seconds:.3} s"));
    let (instance, seed, result) = (row.text("instance"), row.text("seed"), row.text("result"));
    format!("{instance}, {}, seed {seed}: {result}{gap}{time}", settings.join(", "))
}

/// Rows of the same machine, instance and settings.
struct Group<'a> {
    /// What they have in common, by name.
    keys: Vec<(String, String)>,
    rows: Vec<&'a Row>,
}

impl<'a> Group<'a> {
    /// Returns the groups in the order of their first rows.
    fn all(rows: impl Iterator<Item = &'a Row>) -> Vec<Group<'a>> {
        let mut groups: Vec<Group<'a>> = Vec::new();
        let mut places: HashMap<Vec<(String, String)>, usize> = HashMap::new();
        for row in rows {
            let settings = row.parts("settings");
            let settings = settings.as_object().into_iter().flatten();
            let columns =
                MACHINE.iter().chain(&["instance", "n"]).map(|name| (name.to_string(), row.text(name)));
            let keys: Vec<_> =
                columns.chain(settings.map(|(name, value)| (name.clone(), text(value)))).collect();
            match places.get(&keys) {
                Some(&place) => groups[place].rows.push(row),
                None => {
                    places.insert(keys.clone(), groups.len());
                    groups.push(Group { keys, rows: vec![row] });
                }
            }
        }
        groups
    }

    fn key(&self, name: &str) -> &str {
        self.keys.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    fn keys_without(&self, others: &[&str]) -> Vec<&(String, String)> {
        self.keys.iter().filter(|(name, _)| name != SOLVER && !others.contains(&name.as_str())).collect()
    }

    fn numbers(&self, column: &str) -> Vec<f64> {
        self.rows.iter().filter_map(|row| row.number(column)).collect()
    }

    /// Returns the rows of the first run of each seed: repetitions are not independent.
    fn independent(&self) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().copied().filter(|row| row.text("repetition") == "1")
    }

    /// Returns the figure of a column as text; empty if it has no value.
    fn figure(&self, &(_, of, how, digits): &Column, groups: &[Group<'a>]) -> String {
        if of == RESULT {
            return self.figure_of_results(how, digits);
        }
        let values = self.numbers(of);
        let sum = |column: &str| self.numbers(column).iter().sum::<f64>();
        let figure = match how {
            _ if values.is_empty() => None,
            Count => Some(values.len() as f64),
            Mean => mean(&values),
            Deviation => deviation(&values),
            Least => values.into_iter().reduce(f64::min),
            Median => median(values),
            Sum => Some(sum(of)),
            Per(other) => Some(sum(of) / sum(other).max(1e-9)),
            Times(setting, value) => {
                let without = [&MACHINE[..], &[setting]].concat();
                let is_it = |other: &&Group<'a>| {
                    other.key(setting) == value && other.keys_without(&without) == self.keys_without(&without)
                };
                let other = groups.iter().find(is_it).and_then(|other| mean(&other.numbers(of)));
                other.zip(mean(&values)).map(|(other, own)| other / own)
            }
            // The tests of all groups are evaluated together: see `figures`.
            RankSum | SignedRank(_) => None,
        };
        figure.map_or_else(String::new, |figure| format!("{figure:.digits$}"))
    }

    /// Returns the figure of the results, which may be whole numbers of more than 53 bits.
    fn figure_of_results(&self, how: How, digits: usize) -> String {
        let results: Vec<Cost> = self.rows.iter().filter_map(|row| row.cost(RESULT)).collect();
        let whole: Option<Vec<i64>> = results.iter().map(|cost| cost.whole()).collect();
        let real: Vec<f64> = results.iter().map(|cost| cost.as_f64()).collect();
        let shown = |figure: Option<f64>| figure.map(|figure| short(figure, digits));
        let text = match (how, whole) {
            (Mean, Some(whole)) => whole_mean(&whole, digits),
            (Mean, None) => shown(mean(&real)),
            (Deviation, Some(whole)) => shown(whole_deviation(&whole)),
            (Deviation, None) => shown(deviation(&real)),
            (Least, _) => results.into_iter().reduce(Cost::min).map(|least| match least {
                Cost::Whole(least) => least.to_string(),
                Cost::Real(least) => short(least, digits),
            }),
            // No suite shows any other figure of its results.
            _ => None,
        };
        text.unwrap_or_default()
    }

    fn against_first(&self, column: &str, groups: &[Group<'a>]) -> Option<Wilcoxon> {
        let first = groups.iter().find(|other| other.key("instance") == self.key("instance"))?;
        let costs = |group: &Group<'a>| -> Vec<Cost> {
            group.independent().filter_map(|row| row.cost(column)).collect()
        };
        let (own, others) = (costs(self), costs(first));
        let is_enough = first.keys != self.keys && own.len().min(others.len()) >= FEWEST_RANKED;
        if is_enough { rank_sum(&own, &others) } else { None }
    }

    fn against_number(&self, column: &str, other: &str) -> Option<Wilcoxon> {
        let own: Vec<f64> = self.independent().filter_map(|row| row.number(column)).collect();
        if own.len() < FEWEST_SIGNED {
            return None;
        }
        signed_rank(&own, self.rows[0].number(other)?)
    }

    /// Returns the curve of its first run, if recorded.
    fn curve(&self, suite: &Suite, names: &[&str], markdown: bool) -> Option<String> {
        let curve = self.rows[0].parts("curve");
        let line = |point: &Value| suite.curve.iter().map(|name| text(&point[name])).collect();
        let lines: Vec<Vec<String>> = curve.as_array()?.iter().map(line).collect();
        let title: Vec<String> = names.iter().map(|name| format!("{name} {}", self.key(name))).collect();
        Some(render(&title.join(", "), (suite.curve, 0), &lines, markdown))
    }
}

/// Returns the figures of a column, group by group.
fn figures(column: &Column, groups: &[Group<'_>]) -> Vec<String> {
    match column.2 {
        RankSum => verdicts(groups.iter().map(|group| group.against_first(column.1, groups)).collect()),
        SignedRank(other) => {
            verdicts(groups.iter().map(|group| group.against_number(column.1, other)).collect())
        }
        _ => groups.iter().map(|group| group.figure(column, groups)).collect(),
    }
}

/// Returns the verdicts of tests, by p-values corrected for the number of tests; empty where there is no test.
fn verdicts(tests: Vec<Option<Wilcoxon>>) -> Vec<String> {
    let p_values: Vec<f64> = tests.iter().flatten().map(|test| test.p_value).collect();
    let mut corrected = holm(&p_values).into_iter();
    let say = |test: Wilcoxon, p: f64| {
        let verdict = match test.excess {
            _ if p >= 0.05 => "no difference",
            excess if excess < 0.0 => "better",
            _ => "worse",
        };
        format!("W = {}, p = {p:.4}: {verdict}", test.statistic)
    };
    let test = |test: Option<Wilcoxon>| match test {
        Some(test) => corrected.next().map_or_else(String::new, |p| say(test, p)),
        None => String::new(),
    };
    tests.into_iter().map(test).collect()
}

/// Formats a result with decimals; large results get fewer digits.
fn short(result: f64, digits: usize) -> String {
    let digits = match result.abs() {
        _ if result.fract() == 0.0 => 0,
        1000.0.. => 1,
        _ => digits,
    };
    format!("{result:.digits$}")
}

/// Returns the mean of whole numbers, formatted as by [`short`], but computed without rounding.
fn whole_mean(values: &[i64], digits: usize) -> Option<String> {
    let (sum, count) = (values.iter().copied().map(i128::from).sum::<i128>(), values.len() as i128);
    if count == 0 {
        return None;
    }
    if sum % count == 0 {
        return Some((sum / count).to_string());
    }
    let digits = if sum.abs() / count >= 1000 { 1 } else { digits };
    let unit = 10_i128.pow(digits as u32);
    let scaled = (2 * sum.abs() * unit + count) / (2 * count);
    let sign = if sum < 0 { "-" } else { "" };
    Some(format!("{sign}{}.{:0digits$}", scaled / unit, scaled % unit))
}

/// Returns the standard deviation of whole numbers, from their exact differences from one of them.
fn whole_deviation(values: &[i64]) -> Option<f64> {
    let first = i128::from(*values.first()?);
    let differences: Vec<f64> = values.iter().map(|&value| (i128::from(value) - first) as f64).collect();
    deviation(&differences)
}

/// Returns the distinct values, in order of first appearance.
pub fn distinct<T: Eq + Hash + Clone>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    values.filter(|value| seen.insert(value.clone())).collect()
}

/// Returns the keys that are columns: the instance, its number of nodes, and whatever differs.
fn differing<'a>(groups: &'a [Group<'_>]) -> Vec<&'a str> {
    let differs =
        |name: &&str| *name != SOLVER && groups.iter().any(|group| group.key(name) != groups[0].key(name));
    let all = groups.iter().flat_map(|group| &group.keys).map(|(name, _)| name.as_str());
    distinct(["instance", "n"].into_iter().chain(all.filter(differs)))
}

/// Returns the main table, with one line per group.
fn main(suite: &Suite, groups: &[Group<'_>], names: &[&str], markdown: bool) -> String {
    let common = groups[0].keys_without(names).into_iter().map(|(name, value)| match name.as_str() {
        "backend" | "device" | "details" => value.clone(),
        _ => format!("{name} {value}"),
    });
    let title = format!("{}: {}", suite.name, common.collect::<Vec<_>>().join(", "));
    let of_group = |group: &Group<'_>| names.iter().map(|name| group.key(name).to_owned()).collect();
    let (mut head, mut lines): (_, Vec<Vec<String>>) =
        (names.to_vec(), groups.iter().map(of_group).collect());
    for column in BEFORE.iter().chain(suite.columns).chain(&AFTER) {
        let figures = figures(column, groups);
        if figures.iter().any(|figure| !figure.is_empty()) {
            head.push(column.0);
            lines.iter_mut().zip(figures).for_each(|(line, figure)| line.push(figure));
        }
    }
    let mut table = render(&title, (&head, names.len()), &lines, markdown);
    for tests in names[2..].iter().filter_map(|setting| compare(setting, names, groups, markdown)) {
        table += &format!("\n{tests}");
    }
    table
}

/// Tests whether results depend on this setting: one test for each instance with its other settings; its blocks are seeds. Values
/// with equal results for every seed are one treatment: ranked separately, they would lower the statistic and add degrees of
/// freedom without any difference.
fn compare(setting: &str, names: &[&str], groups: &[Group<'_>], markdown: bool) -> Option<String> {
    if NOT_COMPARED.contains(&setting) {
        return None;
    }
    let alike = ["way", "warps", setting];
    let others: Vec<_> = groups.iter().map(|group| group.keys_without(&alike)).collect();
    let names: Vec<&str> =
        names.iter().copied().filter(|name| *name != "n" && !alike.contains(name)).collect();
    let (mut lines, mut p_values) = (Vec::new(), Vec::new());
    for case in distinct(others.iter()) {
        let own = groups.iter().zip(&others).filter(|(_, own)| *own == case).map(|(group, _)| group);
        let own: Vec<&Group<'_>> = own.collect();
        let (treatments, seeds) = treatments(setting, &own);
        if seeds < FEWEST_BLOCKS {
            continue;
        }
        let block = |i| treatments.iter().map(|(_, results)| results[i]).collect();
        let test = friedman(&(0..seeds).map(block).collect::<Vec<_>>());
        let rank =
            |i: usize| test.as_ref().map_or_else(String::new, |test| format!(" {:.2}", test.mean_ranks[i]));
        let ranks = treatments.iter().enumerate().map(|(i, (values, _))| format!("{values}{}", rank(i)));
        let mut line: Vec<String> = names.iter().map(|name| own[0].key(name).to_owned()).collect();
        line.extend([ranks.collect::<Vec<_>>().join(", "), seeds.to_string()]);
        let p = test.as_ref().and_then(|test| test.p_value);
        p_values.extend(p);
        line.extend(match test.zip(p) {
            Some((test, p)) => {
                [format!("{}", treatments.len() - 1), format!("{:.3}", test.statistic), format!("{p:.4}")]
            }
            None => ["0".to_owned(), String::new(), String::new()],
        });
        lines.push((line, p.is_some()));
    }
    let count = p_values.len();
    let mut corrected = holm(&p_values).into_iter();
    let finish = |(mut line, has_test): (Vec<String>, bool)| {
        let p = if has_test { corrected.next() } else { None };
        line.push(p.map_or_else(String::new, |p| format!("{p:.4}")));
        line
    };
    let lines: Vec<Vec<String>> = lines.into_iter().map(finish).collect();
    let title =
        format!("Friedman tests of {setting}, blocks are seeds; Holm's correction is for {count} tests");
    let head = [&names[..], &["mean ranks", "seeds", "freedom", "χ²", "p", "p by Holm"]].concat();
    (!lines.is_empty()).then(|| render(&title, (&head, names.len() + 1), &lines, markdown))
}

/// Returns the distinct treatments among groups that differ in a setting, and the number of seeds common to all: the setting's
/// values, joined where results are equal for every seed, with the results seed by seed.
fn treatments(setting: &str, groups: &[&Group<'_>]) -> (Vec<(String, Vec<Cost>)>, usize) {
    let values = distinct(groups.iter().map(|group| group.key(setting)));
    let seeds = distinct(groups.iter().flat_map(|group| &group.rows).map(|row| row.text("seed")));
    // For each value, the result of the first run of each seed.
    let of_value = |value: &&str| {
        let mut results = HashMap::new();
        let own = groups.iter().filter(|group| group.key(setting) == *value);
        for row in own.flat_map(|group| &group.rows) {
            results.entry(row.text("seed")).or_insert_with(|| row.cost(RESULT));
        }
        results
    };
    let results: Vec<HashMap<String, Option<Cost>>> = values.iter().map(of_value).collect();
    let block = |seed| results.iter().map(|results| results.get(seed).copied().flatten()).collect();
    let blocks: Vec<Vec<Cost>> = seeds.iter().filter_map(block).collect();
    let mut treatments: Vec<(String, Vec<Cost>)> = Vec::new();
    for (i, value) in values.iter().enumerate() {
        let results: Vec<Cost> = blocks.iter().map(|block| block[i]).collect();
        match treatments.iter_mut().find(|(_, others)| *others == results) {
            Some((same, _)) => *same += &format!(" = {value}"),
            None => treatments.push(((*value).to_owned(), results)),
        }
    }
    (treatments, blocks.len())
}

/// Returns the means of the mean gaps over all instances and over those of each size, and for how many instances a run found the
/// optimum.
fn over_instances(suite: &Suite, groups: &[Group<'_>], names: &[&str], markdown: bool) -> Option<String> {
    let case = |group: &Group<'_>| names.iter().map(|name| group.key(name).to_owned()).collect::<Vec<_>>();
    let gaps = |case_: &Vec<String>, size: &RangeInclusive<u64>| -> Vec<f64> {
        let is_in = |group: &&Group<'_>| {
            case(group) == *case_ && group.key("n").parse().is_ok_and(|n| size.contains(&n))
        };
        groups.iter().filter(is_in).filter_map(|group| mean(&group.numbers("gap_percent"))).collect()
    };
    let cases = distinct(groups.iter().map(case));
    if cases.iter().all(|case| gaps(case, &(0..=u64::MAX)).len() < 2) {
        return None;
    }
    let sizes: Vec<_> = [("all", 0..=u64::MAX)].into_iter().chain(suite.sizes.iter().cloned()).collect();
    let line = |own: &Vec<String>| {
        let of_size = |(_, size): &(&str, RangeInclusive<u64>)| {
            let gaps = gaps(own, size);
            mean(&gaps).map_or_else(String::new, |mean| format!("{mean:.3} ({})", gaps.len()))
        };
        let proven = groups.iter().filter(|group| case(group) == *own).map(|group| group.numbers("optimal"));
        let proven: Vec<Vec<f64>> = proven.filter(|found| !found.is_empty()).collect();
        let reached = proven.iter().filter(|found| found.contains(&1.0)).count();
        let reached = format!("{reached} of {}", proven.len());
        own.iter().cloned().chain(sizes.iter().map(of_size)).chain([reached]).collect()
    };
    let lines: Vec<Vec<String>> = cases.iter().map(line).collect();
    let heads = sizes.iter().map(|(name, _)| *name).chain(["optimum reached"]);
    let head: Vec<&str> = names.iter().copied().chain(heads).collect();
    let title = "means of the mean gaps in %, by number of nodes; in brackets: number of instances";
    Some(render(title, (&head, names.len()), &lines, markdown))
}

/// Formats a table; the first `left` columns are words, the others numbers. Each line has as many cells as the head.
pub fn render(title: &str, (head, left): (&[&str], usize), lines: &[Vec<String>], markdown: bool) -> String {
    let head: Vec<String> = head.iter().map(|name| name.to_string()).collect();
    let width = |i: usize| lines.iter().chain([&head]).map(|line| line[i].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &Vec<String>| {
        let pad = |(i, cell): (usize, &String)| {
            let width = widths[i];
            if i < left { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        };
        let cells: Vec<String> = cells.iter().enumerate().map(pad).collect();
        if markdown {
            let escaped: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", escaped.join(" | "))
        } else {
            format!("{}\n", cells.join("  ").trim_end())
        }
    };
    let rule: String = (0..head.len()).map(|i| if i < left { "---|" } else { "---:|" }).collect();
    let rule = if markdown { format!("|{rule}\n") } else { String::new() };
    let gap = if markdown { "\n" } else { "" };
    format!("{title}\n{gap}{}{rule}{}", line(&head), lines.iter().map(line).collect::<String>())
}

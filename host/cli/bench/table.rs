//! Tables of raw rows. Rows with the same machine, instance and settings are a group, and a line of the table; what differs
//! between groups are columns, what does not stands above.

use std::ops::RangeInclusive;

use serde_json::Value;

use super::super::{Error, Result};
use super::rows::{Row, text};
use crate::instance::printable;
use crate::report::statistics::{Wilcoxon, friedman, rank_sum, signed_rank};

/// What the tables of a suite show.
pub struct Suite {
    pub name: &'static str,
    /// Columns beside those that every suite has.
    pub columns: &'static [Column],
    /// Numbers of nodes whose gaps have a mean of their own.
    pub sizes: &'static [(&'static str, RangeInclusive<u64>)],
    /// What a point of a curve tells, if runs record one.
    pub curve: &'static [&'static str],
}

/// A column: its head, the column of the rows that it is of, what of it, and digits behind the point.
pub type Column = (&'static str, &'static str, How, usize);

/// What a figure is of a group's rows. Rows without a value are left out.
#[derive(Clone, Copy)]
pub enum How {
    /// How many have a value.
    Count,
    Mean,
    /// The standard deviation of a sample of two or more.
    Deviation,
    Least,
    Median,
    Sum,
    /// The sum, divided by that of another column.
    Per(&'static str),
    /// How many times larger the mean is in the group that has this value of this setting instead.
    Times(&'static str, &'static str),
    /// Wilcoxon's rank-sum test against the first group of the instance.
    RankSum,
    /// Wilcoxon's signed-rank test against another column of the first row.
    SignedRank(&'static str),
}
use How::{Count, Deviation, Least, Mean, Median, Per, RankSum, SignedRank, Sum, Times};

/// Columns of every suite, before its own and after.
const BEFORE: [Column; 2] = [("runs", "seed", Count, 0), ("done", "iterations", Mean, 0)];
const AFTER: [Column; 9] = [
    ("mean", "result", Mean, 4),
    ("sd", "result", Deviation, 4),
    ("best", "result", Least, 4),
    ("gap %", "gap_percent", Mean, 3),
    ("gap sd", "gap_percent", Deviation, 3),
    ("least gap", "gap_percent", Least, 3),
    ("optimal", "optimal", Sum, 0),
    ("against first", "result", RankSum, 4),
    ("against published", "gap_percent", SignedRank("published_gap_percent"), 4),
];
/// The part of the settings that holds all of the solver's: groups go by it, but it is no column.
pub const SOLVER: &str = "solver";
/// Columns of rows that tell machines apart.
const MACHINE: [&str; 5] = ["antwarp", "backend", "device", "details", "units"];
/// Settings that are not compared: ways and numbers of warps come to the same results, and longer runs to better ones.
const NOT_COMPARED: [&str; 4] = ["way", "warps", "iterations", "time"];
/// Fewest seeds of a Friedman test, and fewest results of Wilcoxon's tests. Of fewer than six, not even the clearest
/// difference from a number is significant.
const FEWEST_BLOCKS: usize = 3;
const FEWEST_RANKED: usize = 5;
pub const FEWEST_SIGNED: usize = 6;

/// The tables of all rows, suite by suite.
pub fn tables(suites: &[&Suite], rows: &[Row], markdown: bool) -> Result<String> {
    if let Some(row) = rows.iter().find(|row| suites.iter().all(|suite| suite.name != row.text("suite"))) {
        return Err(Error::Unusable(format!("there is no suite `{}`", printable(&row.text("suite")))));
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
    // What files say is not to give commands to a terminal.
    Ok(tables.join("\n").split('\n').map(printable).collect::<Vec<_>>().join("\n"))
}

/// A run in a line, while a bench goes on.
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
    /// In the order of their first rows.
    fn all(rows: impl Iterator<Item = &'a Row>) -> Vec<Group<'a>> {
        let mut groups: Vec<Group<'a>> = Vec::new();
        for row in rows {
            let settings = row.parts("settings");
            let settings = settings.as_object().into_iter().flatten();
            let columns =
                MACHINE.iter().chain(&["instance", "n"]).map(|name| (name.to_string(), row.text(name)));
            let keys: Vec<_> =
                columns.chain(settings.map(|(name, value)| (name.clone(), text(value)))).collect();
            match groups.iter_mut().find(|group| group.keys == keys) {
                Some(group) => group.rows.push(row),
                None => groups.push(Group { keys, rows: vec![row] }),
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

    /// Of the first run of each seed: repetitions are no evidence.
    fn independent(&self, column: &str) -> Vec<f64> {
        let first = self.rows.iter().filter(|row| row.text("repetition") == "1");
        first.filter_map(|row| row.number(column)).collect()
    }

    /// The figure of a column; empty if there is none.
    fn figure(&self, &(_, of, how, digits): &Column, groups: &[Group<'a>]) -> String {
        let mut values = self.numbers(of);
        let sum = |column: &str| self.numbers(column).iter().sum::<f64>();
        let figure = match how {
            _ if values.is_empty() => None,
            Count => Some(values.len() as f64),
            Mean => mean(&values),
            Deviation => deviation(&values),
            Least => values.into_iter().reduce(f64::min),
            Median => {
                values.sort_by(f64::total_cmp);
                Some(values[values.len() / 2])
            }
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
            RankSum => return self.against_first(of, groups).map_or_else(String::new, verdict),
            SignedRank(other) => {
                let own = Some(self.independent(of)).filter(|own| own.len() >= FEWEST_SIGNED);
                let test =
                    own.zip(self.rows[0].number(other)).and_then(|(own, center)| signed_rank(&own, center));
                return test.map_or_else(String::new, verdict);
            }
        };
        let digits = |figure: f64| match of {
            "result" if figure.fract() == 0.0 => 0,
            "result" if figure.abs() >= 1000.0 => 1,
            _ => digits,
        };
        figure.map_or_else(String::new, |figure| format!("{figure:.0$}", digits(figure)))
    }

    fn against_first(&self, column: &str, groups: &[Group<'a>]) -> Option<Wilcoxon> {
        let first = groups.iter().find(|other| other.key("instance") == self.key("instance"))?;
        let (own, others) = (self.independent(column), first.independent(column));
        let is_enough = first.keys != self.keys && own.len().min(others.len()) >= FEWEST_RANKED;
        if is_enough { rank_sum(&own, &others) } else { None }
    }

    /// How its first run went, if that is recorded.
    fn curve(&self, suite: &Suite, names: &[&str], markdown: bool) -> Option<String> {
        let curve = self.rows[0].parts("curve");
        let line = |point: &Value| suite.curve.iter().map(|name| text(&point[name])).collect();
        let lines: Vec<Vec<String>> = curve.as_array()?.iter().map(line).collect();
        let title: Vec<String> = names.iter().map(|name| format!("{name} {}", self.key(name))).collect();
        Some(render(&title.join(", "), (suite.curve, 0), &lines, markdown))
    }
}

/// What a test says.
fn verdict(test: Wilcoxon) -> String {
    let verdict = match test {
        Wilcoxon { p_value, .. } if p_value >= 0.05 => "no difference",
        Wilcoxon { excess, .. } if excess < 0.0 => "better",
        _ => "worse",
    };
    format!("W = {}, p = {:.4}: {verdict}", test.statistic, test.p_value)
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let sum: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((sum / (values.len() - 1) as f64).sqrt())
}

/// Values without repetitions.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}

/// The keys that are columns: the instance, its nodes, and what differs.
fn differing<'a>(groups: &'a [Group<'_>]) -> Vec<&'a str> {
    let differs =
        |name: &&str| *name != SOLVER && groups.iter().any(|group| group.key(name) != groups[0].key(name));
    let all = groups.iter().flat_map(|group| &group.keys).map(|(name, _)| name.as_str());
    distinct(["instance", "n"].into_iter().chain(all.filter(differs)))
}

/// A line a group.
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
        let figures: Vec<String> = groups.iter().map(|group| group.figure(column, groups)).collect();
        if figures.iter().any(|figure| !figure.is_empty()) {
            head.push(column.0);
            lines.iter_mut().zip(figures).for_each(|(line, figure)| line.push(figure));
        }
    }
    let mut table = render(&title, (&head, names.len()), &lines, markdown);
    for test in names[2..].iter().filter_map(|name| compare(name, groups)) {
        table += &format!("\n{test}\n");
    }
    table
}

/// Do results differ by this setting? A block is an instance with its other settings, and a seed.
fn compare(setting: &str, groups: &[Group<'_>]) -> Option<String> {
    if NOT_COMPARED.contains(&setting) {
        return None;
    }
    let values = distinct(groups.iter().map(|group| group.key(setting)));
    let seeds = distinct(groups.iter().flat_map(|group| &group.rows).map(|row| row.text("seed")));
    let others: Vec<_> = groups.iter().map(|group| group.keys_without(&["way", "warps", setting])).collect();
    let result = |block: &Vec<_>, seed: &String, value: &&str| {
        let own =
            groups.iter().zip(&others).filter(|(group, own)| *own == block && group.key(setting) == *value);
        own.flat_map(|(group, _)| &group.rows).find(|row| row.text("seed") == *seed)?.number("result")
    };
    let blocks =
        distinct(others.iter()).into_iter().flat_map(|block| seeds.iter().map(move |seed| (block, seed)));
    let results = |(block, seed)| values.iter().map(|value| result(block, seed, value)).collect();
    let blocks: Vec<Vec<f64>> = blocks.filter_map(results).collect();
    let test = friedman(&blocks).filter(|_| seeds.len() >= FEWEST_BLOCKS)?;
    let says = match test.p_value {
        Some(p) => format!("χ²({}) = {:.3}, p = {p:.4}", values.len() - 1, test.statistic),
        None => "equal results in each".to_owned(),
    };
    let ranks = values.iter().zip(test.mean_ranks).map(|(value, rank)| format!("{value} {rank:.2}"));
    let (count, ranks) = (blocks.len(), ranks.collect::<Vec<_>>().join(", "));
    Some(format!("Friedman test of {setting} over {count} blocks: {says}; mean ranks: {ranks}"))
}

/// The means of the mean gaps over instances, over those of each size, and of how many a run found the optimum.
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
    let title = "means of the mean gaps in %, by number of nodes; in brackets: of how many instances";
    Some(render(title, (&head, names.len()), &lines, markdown))
}

/// A table; `left` columns are words, the others numbers.
fn render(title: &str, (head, left): (&[&str], usize), lines: &[Vec<String>], markdown: bool) -> String {
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
            format!("| {} |\n", cells.join(" | "))
        } else {
            format!("{}\n", cells.join("  ").trim_end())
        }
    };
    let rule: String = (0..head.len()).map(|i| if i < left { "---|" } else { "---:|" }).collect();
    let rule = if markdown { format!("|{rule}\n") } else { String::new() };
    let gap = if markdown { "\n" } else { "" };
    format!("{title}\n{gap}{}{rule}{}", line(&head), lines.iter().map(line).collect::<String>())
}

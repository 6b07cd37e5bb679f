//! The book in docs/: its commands print what it shows, its links lead somewhere, and its pictures have a command.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The Markdown files below a folder, not what is built or hidden.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            found.extend(pages(&path));
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The pages for users. Each of their commands is run, except those with a reason above them.
fn guide() -> Vec<PathBuf> {
    let named = ["cluster", "history", "packages", "performance", "python", "reliability", "serve"];
    let named = named.map(|name| root().join(format!("docs/{name}.md")));
    let mut all = pages(&root().join("docs/guide"));
    all.extend(named);
    all.push(root().join("README.md"));
    all
}

/// A block between three backticks.
struct Block {
    language: String,
    /// The line before the block: a comment there says how to compare what the commands print.
    above: String,
    /// The place of its lines among those of the page.
    lines: std::ops::Range<usize>,
}

fn blocks(page: &[&str]) -> Vec<Block> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, line) in page.iter().enumerate() {
        let Some(language) = line.strip_prefix("```") else { continue };
        match start.take() {
            None => start = Some((at, language.trim().to_owned())),
            Some((from, language)) => {
                let above = if from == 0 { "" } else { page[from - 1] };
                found.push(Block { language, above: above.to_owned(), lines: from + 1..at });
            }
        }
    }
    assert!(start.is_none(), "a block does not end");
    found
}

/// Returns the page without its blocks and without code in lines.
fn prose(page: &str) -> String {
    let lines: Vec<&str> = page.lines().collect();
    let blocks = blocks(&lines);
    let is_code = |at: usize| blocks.iter().any(|block| block.lines.contains(&at));
    let kept = lines.iter().enumerate().filter(|(at, _)| !is_code(*at)).map(|(_, line)| *line);
    let text = kept.collect::<Vec<_>>().join("\n").replace("```", "");
    text.split('`').step_by(2).collect::<Vec<_>>().join("``")
}

/// The targets of the links and pictures of a page.
fn links(page: &str) -> Vec<String> {
    let text = prose(page);
    let after = text.split("](").skip(1);
    after.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()).collect()
}

/// The names by which GitHub and mdBook let links lead to the headings of a page.
fn anchors(page: &str) -> BTreeSet<String> {
    let lines: Vec<&str> = page.lines().collect();
    let blocks = blocks(&lines);
    let mut found = BTreeSet::new();
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim_start_matches('#');
        if blocks.iter().any(|block| block.lines.contains(&at)) || text.len() == line.len() {
            continue;
        }
        let text = text.trim().to_lowercase().replace(' ', "-");
        let name: String = text.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect();
        let mut numbered = name.clone();
        let mut number = 0;
        while !found.insert(numbered.clone()) {
            number += 1;
            numbered = format!("{name}-{number}");
        }
    }
    found
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut seen = 0;
    for page in pages(root()) {
        let text = read(&page);
        for link in links(&text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            assert!(target.exists(), "{}: there is no {path}", page.display());
            let is_page = target.extension().is_some_and(|extension| extension == "md");
            if is_page && !anchor.is_empty() {
                let has_it = anchors(&read(&target)).contains(anchor);
                assert!(has_it, "{}: {} has no heading #{anchor}", page.display(), target.display());
            }
            seen += 1;
        }
    }
    assert!(seen > 300, "{seen} links");
}

#[test]
fn every_page_of_docs_is_in_the_summary_once() {
    let docs = root().join("docs");
    let listed = links(&read(&docs.join("SUMMARY.md")));
    let mut listed: Vec<PathBuf> = listed.iter().map(|link| docs.join(link)).collect();
    listed.sort();
    let mut there = pages(&docs);
    there.retain(|page| !page.ends_with("SUMMARY.md"));
    assert_eq!(listed, there);
}

/// A reader can make each picture again, and sees what was measured.
#[test]
fn pictures_have_the_command_that_makes_them() {
    let mut seen = 0;
    for page in guide() {
        let text = read(&page);
        for link in links(&text).iter().filter(|link| link.ends_with(".svg")) {
            let name = link.rsplit('/').next().unwrap();
            let (_, below) = text.split_once(&format!("{link})")).unwrap();
            assert!(
                below.contains(&format!("-o {name}")) || below.contains(&format!("--svg {name}")),
                "{}: no command below {name} makes it",
                page.display()
            );
            seen += 1;
        }
    }
    assert!(seen >= 2, "{seen} pictures");
}

/// What differs from run to run and from machine to machine, of a line of a report.
const VARYING: [&str; 6] = ["time ", "search ", "iterations ", "layout ", "machine ", "CPU "];

/// Returns whether a command printed what the page shows. Where only first words are compared, those of lines that follow each other count
/// once: there may be any number of GPUs.
fn agree(printed: &[String], shown: &[String], first_words_only: bool) -> bool {
    let first = |line: &String| line.split_whitespace().next().map(str::to_owned);
    // Messages are compared whole.
    let first = |line: &String| if line.starts_with("antwarp:") { Some(line.clone()) } else { first(line) };
    if first_words_only {
        let [mut printed, mut shown] =
            [printed, shown].map(|lines| lines.iter().map(first).collect::<Vec<_>>());
        printed.dedup();
        shown.dedup();
        return printed == shown;
    }
    let is_same = |(printed, shown): (&String, &String)| {
        let varies = VARYING.iter().any(|label| shown.starts_with(label));
        printed == shown || varies && first(printed) == first(shown)
    };
    printed.len() == shown.len() && printed.iter().zip(shown).all(is_same)
}

#[cfg(unix)]
mod commands {
    use std::process::Command;

    use super::*;

    /// What to do about a difference.
    const REMEDY: &str = "look at the difference, then write it: \
                          ANTWARP_WRITE=1 cargo test --test book commands_print_what_the_guide_shows";
    /// Ends what a command printed.
    const END: char = '\u{1e}';

    /// The commands of a block, each with what the page shows below it.
    fn commands(lines: &[&str]) -> Vec<(String, Vec<String>)> {
        let mut found: Vec<(String, Vec<String>)> = Vec::new();
        for line in lines {
            match line.strip_prefix("$ ") {
                Some(command) => found.push((command.to_owned(), Vec::new())),
                None => {
                    found.last_mut().expect("a block of commands starts with one").1.push(line.to_string())
                }
            }
        }
        found
    }

    /// Runs the commands in one shell, so that `$?` is the status of the one before. Returns the lines that each printed.
    fn run(commands: &[(String, Vec<String>)], folder: &Path) -> Vec<Vec<String>> {
        let program = Path::new(env!("CARGO_BIN_EXE_antwarp"));
        let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let script: String = commands
            .iter()
            .map(|(command, _)| format!("{command}\nstatus=$?\nprintf '\\036'\n(exit $status)\n"))
            .collect();
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{script}")])
            .current_dir(folder)
            .env("PATH", path)
            .env("ANTWARP_TUNING", "none")
            .env("COLUMNS", "100")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        // Only where there is a GPU.
        let is_shown = |line: &&str| !line.starts_with("antwarp: using CPU threads");
        let lines = |part: &str| part.lines().filter(is_shown).map(str::to_owned).collect();
        let printed: Vec<Vec<String>> = text.split(END).map(lines).collect();
        assert_eq!(printed.len(), commands.len() + 1, "{text}");
        printed[..commands.len()].to_vec()
    }

    /// With ANTWARP_WRITE set, the pages get what the commands print.
    #[test]
    fn commands_print_what_the_guide_shows() {
        let is_writing = std::env::var_os("ANTWARP_WRITE").is_some();
        let has_highs = antwarp::exact::simplex::Highs::find().is_ok();
        let mut seen = 0;
        for page in guide() {
            let folder = tempfile::tempdir().unwrap();
            for entry in fs::read_dir(root().join("examples")).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_file() {
                    fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
                }
            }
            let text = read(&page);
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let borrowed: Vec<&str> = text.lines().collect();
            // From the last one on, as writing a block moves those behind it.
            let mut written = Vec::new();
            for block in blocks(&borrowed) {
                if block.language != "console" {
                    continue;
                }
                if block.above.contains("needs HiGHS") && !has_highs {
                    continue;
                }
                let first_words_only = block.above.contains("first words");
                let commands = commands(&borrowed[block.lines.clone()]);
                let printed = run(&commands, folder.path());
                let mut is_same = true;
                let mut now = Vec::new();
                for ((command, shown), printed) in commands.iter().zip(&printed) {
                    seen += 1;
                    let same = agree(printed, shown, first_words_only);
                    assert!(
                        same || is_writing,
                        "{}: {command}\nprints:\n{}\nshown:\n{}\n{REMEDY}",
                        page.display(),
                        printed.join("\n"),
                        shown.join("\n")
                    );
                    is_same &= same;
                    now.push(format!("$ {command}"));
                    now.extend(printed.iter().cloned());
                }
                if !is_same {
                    written.push((block.lines, now));
                }
            }
            for (range, now) in written.into_iter().rev() {
                lines.splice(range, now);
            }
            if is_writing {
                fs::write(&page, lines.join("\n") + "\n").unwrap();
            }
        }
        assert!(seen >= 20, "{seen} commands");
    }

    /// Except with a reason in a comment above: it takes long, or needs what the machine may lack. Python's blocks are run by its package's
    /// tests, requests to the server by tests/serve.
    #[test]
    fn every_command_of_the_guide_is_in_a_block_that_is_run() {
        for page in guide() {
            let text = read(&page);
            let lines: Vec<&str> = text.lines().collect();
            for block in blocks(&lines) {
                let code = lines[block.lines].join("\n");
                let is_text =
                    ["console", "rust", "toml", "python", "json", "text"].contains(&&*block.language);
                let has_reason =
                    ["A picture:", "Not run:", "Output:"].iter().any(|why| block.above.contains(why));
                let has_other_test =
                    page.ends_with("README.md") || page.ends_with("serve.md") && code.starts_with("curl -s ");
                assert!(
                    is_text || has_reason || has_other_test,
                    "{}: this is not run:\n{code}",
                    page.display()
                );
            }
        }
    }
}

/// The commands of README.md start cargo, which a test does not; the built program gets their arguments instead.
#[test]
fn the_commands_of_the_readme_work() {
    let folder = tempfile::tempdir().unwrap();
    let examples = folder.path().join("examples");
    fs::create_dir(&examples).unwrap();
    for name in ["shops.csv", "capitals.csv"] {
        fs::copy(root().join("examples").join(name), examples.join(name)).unwrap();
    }
    let text = read(&root().join("README.md"));
    let commands: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("cargo run --release -- ")).collect();
    assert!(commands.contains(&"solve E1k.0 --time 10s"), "{commands:?}");
    for command in commands {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_antwarp"));
        let output = program.args(command.split(' ')).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Most words of the book, without the reference, tables and code.
const MOST_WORDS: usize = 30_000;

/// A book that people read is short. What was measured on the way belongs to benches/notebooks.
#[test]
fn the_book_is_short() {
    let docs = root().join("docs");
    let count = |page: &PathBuf| {
        let text = read(page);
        let lines: Vec<&str> = text.lines().collect();
        let blocks = blocks(&lines);
        let is_code = |at: usize| blocks.iter().any(|block| block.lines.contains(&at));
        let is_other = |line: &str| ["|", "<", "```"].iter().any(|mark| line.starts_with(mark));
        let is_prose = |at: usize| !is_code(at) && !is_other(lines[at].trim_start());
        let words = |at: usize| lines[at].split_whitespace().count();
        (0..lines.len()).filter(|&at| is_prose(at)).map(words).sum::<usize>()
    };
    let mut counted: Vec<(usize, PathBuf)> = pages(&docs)
        .into_iter()
        .filter(|page| !page.ends_with("reference.md"))
        .map(|page| (count(&page), page))
        .collect();
    counted.sort();
    let sum: usize = counted.iter().map(|(words, _)| words).sum();
    let list: Vec<String> =
        counted.iter().map(|(words, page)| format!("{words:6} {}", page.display())).collect();
    assert!(sum <= MOST_WORDS, "{}\n{sum:6} words, more than {MOST_WORDS}", list.join("\n"));
    println!("{}\n{sum:6} words", list.join("\n"));
}

/// Words of our own for what the field has names for, inversions and riddles; and what to write instead.
const WORDS: [(&str, &str); 14] = [
    ("gene", "individual, population"),
    ("genes", "individuals, population"),
    ("anew", "again, restarted"),
    ("told", "reported"),
    ("tells", "reports, shows"),
    ("as ever", "as usual"),
    ("the begin", "the start"),
    ("its begin", "its start"),
    ("that is none", "that is not valid, not available"),
    ("is none of", "does not belong to"),
    ("taken back", "undone"),
    ("to be had", "available"),
    ("kicked on", "kicked again"),
    ("looked-at", "evaluated"),
];
/// Pages with words that a paper has in its tables.
const OLD: [&str; 1] = ["docs/papers/ga.md"];

/// The places where a text uses a word of the list, with what to write instead.
fn riddles(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    for (word, instead) in WORDS {
        for (at, _) in joined.match_indices(word) {
            let is_inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            if is_inside(joined[..at].chars().next_back())
                || is_inside(joined[at + word.len()..].chars().next())
            {
                continue;
            }
            let from = joined[..at].char_indices().rev().nth(40).map_or(0, |(from, _)| from);
            let to = joined[at..].char_indices().nth(60).map_or(joined.len(), |(to, _)| at + to);
            found.push(format!("\"{word}\" (write: {instead}) in: ... {} ...", &joined[from..to]));
        }
    }
    found
}

#[test]
fn pages_say_things_plainly() {
    let root = root();
    let named = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root.join(name));
    for page in pages(&root.join("docs")).into_iter().chain(named) {
        if OLD.iter().any(|old| page.starts_with(root.join(old))) {
            continue;
        }
        let found = riddles(&prose(&read(&page)));
        assert!(found.is_empty(), "{}:\n{}", page.display(), found.join("\n"));
    }
}

/// The text between quotes in the code of a file, as messages have it; what follows `#[cfg(test)]` is left out.
fn messages(code: &str) -> String {
    let own = code.split_once("#[cfg(test)]").map_or(code, |(own, _)| own);
    let mut found = String::new();
    for line in own.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for text in line.replace("\\\"", "'").split('"').skip(1).step_by(2) {
            // A name, such as that of a field in JSON, is no message.
            if text.contains(' ') {
                found.push_str(text);
                found.push_str(" | ");
            }
        }
    }
    found
}

#[test]
fn messages_say_things_plainly() {
    let mut seen = 0;
    let mut folders = vec![root().join("host"), root().join("toolchain")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = entry.file_name().unwrap().to_string_lossy().into_owned();
            if entry.is_dir() && !["tests", "target", "compat"].contains(&name.as_str()) {
                folders.push(entry);
            } else if name.ends_with(".rs") && name != "tests.rs" {
                let found = riddles(&messages(&read(&entry)));
                assert!(found.is_empty(), "{}:\n{}", entry.display(), found.join("\n"));
                seen += 1;
            }
        }
    }
    assert!(seen > 200, "{seen} files");
}

/// The help of every command and the manual page, which are made of comments in the code.
#[test]
fn help_says_things_plainly() {
    let commands = [
        "solve --help all",
        "search --help",
        "bench --help",
        "bound --help",
        "check --help",
        "plot --help",
        "man",
    ];
    for command in commands {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_antwarp"));
        let output = program.args(command.split(' ')).output().unwrap();
        assert!(output.status.success(), "{command}");
        let found = riddles(&String::from_utf8_lossy(&output.stdout));
        assert!(found.is_empty(), "antwarp {command}:\n{}", found.join("\n"));
    }
}

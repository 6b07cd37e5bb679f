//! Finds collectives that some threads of a group may never reach: a barrier, a vote or a shuffle under a condition that can differ
//! between the threads that it is for. Such code hangs or gives wrong results, whether the source has it or the compiler has moved
//! or copied a collective there.
//!
//! It works on the PTX of one kernel. Every register has a level: the same in the whole block, the same in a warp, or different
//! from thread to thread. `%tid` and `%laneid` are where it starts, and what is computed from them has their level. A block of code is
//! as divergent as the branches that decide whether it runs.
//!
//! A condition on anything else is taken for one on which all threads agree: on memory, on what other threads said, on a value that was
//! set on one side of a branch. To follow those as well finds thousands of conditions in correct kernels that no program can tell
//! from wrong ones. So this finds a condition on the thread's own number, which is what the compiler's faults and most mistakes have
//! in common, and it proves nothing where it finds nothing. Blocks are taken to be one-dimensional, of whole warps.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::syntax::{function_name, is_of_lines};

/// How far a value is the same.
type Level = u8;
/// The same for all threads of a block.
const BLOCK: Level = 0;
/// The same for all threads of a warp.
const WARP: Level = 1;
/// Different from thread to thread.
const THREAD: Level = 2;

/// Registers of the machine that differ from thread to thread.
const THREADS: &[&str] = &["%tid", "%laneid", "%lanemask_", "%clock"];
/// Instructions whose operands are all sources.
const WITHOUT_RESULT: &[&str] = &[
    "st",
    "red",
    "bra",
    "brx",
    "bar",
    "barrier",
    "ret",
    "exit",
    "trap",
    "membar",
    "fence",
    "call",
    "prefetch",
    "nanosleep",
    "discard",
];
/// Instructions whose results come from elsewhere: from memory or from other threads.
const FROM_ELSEWHERE: &[&str] = &["ld", "atom", "vote", "shfl", "match", "redux", "activemask"];

/// A collective in divergent code.
#[derive(Debug, PartialEq, Eq)]
pub struct Divergent {
    /// The instruction.
    pub collective: String,
    /// What decides whether it runs: the instruction that makes the condition of the branch.
    pub condition: String,
}

/// One instruction.
struct Instruction<'a> {
    text: &'a str,
    guard: Option<&'a str>,
    op: &'a str,
    results: Vec<&'a str>,
    sources: Vec<&'a str>,
    operands: &'a str,
}

/// Instructions that run one after another, and where they lead.
#[derive(Default)]
struct Block<'a> {
    instructions: Vec<Instruction<'a>>,
    next: Vec<usize>,
    /// Does not end: a panic.
    traps: bool,
}

/// Returns the names of the functions that hold a collective of a whole block, or call one that does.
pub fn functions_with_barriers(functions: &[Function]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    loop {
        let before = found.len();
        for function in functions.iter().filter(|function| !function.is_kernel) {
            let holds = statements(&function.body).any(|statement| {
                let instruction = Instruction::read(statement);
                needed_level(&instruction, &found).is_some_and(|level| level == BLOCK)
            });
            if holds {
                found.insert(function.name.clone());
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Returns the collectives of a kernel that are in divergent code. `body` is the text between its braces; `functions` are those with
/// barriers.
pub fn find(body: &str, functions: &BTreeSet<String>) -> Vec<Divergent> {
    if !statements(body).any(|s| needed_level(&Instruction::read(s), functions).is_some()) {
        return Vec::new();
    }
    let blocks = blocks(body);
    let depends = control_dependences(&blocks);
    let levels = Levels::of(&blocks, &depends);
    let mut found = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        for instruction in &block.instructions {
            let Some(needed) = needed_level(instruction, functions) else { continue };
            let guard = instruction.guard.map_or(BLOCK, |guard| levels.of_register(guard));
            if levels.blocks[at].max(guard) > needed {
                let condition = if guard > needed { instruction.guard } else { levels.reason(at, needed) };
                found.push(Divergent {
                    collective: instruction.text.to_string(),
                    condition: condition.and_then(|c| definition(&blocks, c)).unwrap_or_default().to_string(),
                });
            }
        }
    }
    found
}

/// Returns how far all threads of a collective must agree to come here; `None` for other instructions. A mask or a number of threads that
/// the program chooses is its own affair.
fn needed_level(instruction: &Instruction<'_>, functions: &BTreeSet<String>) -> Option<Level> {
    let mut parts = instruction.op.split('.');
    let first = parts.next()?;
    let operands = || instruction.operands.split(',').map(str::trim);
    match first {
        "bar" | "barrier" => match parts.next()? {
            "warp" => (operands().next_back() == Some("-1")).then_some(WARP),
            "sync" | "red" => (operands().count() == 1).then_some(BLOCK),
            "cta" => (operands().count() == 1).then_some(BLOCK),
            "cluster" => Some(BLOCK),
            _ => None,
        },
        "vote" | "shfl" | "match" | "redux" => (operands().next_back() == Some("-1")).then_some(WARP),
        "call" => instruction
            .operands
            .split(|c: char| !(c.is_alphanumeric() || "_$".contains(c)))
            .any(|word| functions.contains(word))
            .then_some(BLOCK),
        _ => None,
    }
}

/// Returns the statements of a clean body, and its labels with their colons.
fn statements(body: &str) -> impl Iterator<Item = &str> {
    let mut rest = body;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "{};".contains(c));
        let word = rest.find(|c: char| !(c.is_alphanumeric() || "_$.%@".contains(c))).unwrap_or(rest.len());
        let is_label = rest[word..].starts_with(':') && !rest[word..].starts_with("::");
        let end = if is_label { word + 1 } else { rest.find(';').map_or(rest.len(), |at| at + 1) };
        let (statement, after) = rest.split_at(end);
        rest = after;
        (!statement.is_empty()).then_some(statement)
    })
}

impl<'a> Instruction<'a> {
    fn read(statement: &'a str) -> Instruction<'a> {
        let text = statement.trim_end_matches([';', ' ']);
        let (guard, rest) = match text.strip_prefix('@').and_then(|rest| rest.split_once(char::is_whitespace))
        {
            Some((guard, rest)) => (Some(guard.trim_start_matches('!')), rest.trim()),
            None => (None, text),
        };
        let (op, operands) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let operands = operands.trim();
        let kind = op.split('.').next().unwrap_or("");
        let results = if WITHOUT_RESULT.contains(&kind) { 0 } else { end_of_first(operands) };
        Instruction {
            text,
            guard,
            op,
            results: registers(&operands[..results]).collect(),
            sources: registers(&operands[results..]).collect(),
            operands,
        }
    }

    fn branches(&self) -> bool {
        self.op == "bra" || self.op.starts_with("bra.") || self.op.starts_with("brx.")
    }
}

/// Returns where the first operand ends; it may be several registers in braces.
fn end_of_first(operands: &str) -> usize {
    let mut depth = 0;
    for (at, c) in operands.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => return at,
            _ => {}
        }
    }
    operands.len()
}

/// Returns the registers that a text names.
fn registers(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |c: char| c.is_alphanumeric() || "%_.$".contains(c);
    text.split(move |c| !is_name(c)).filter(|word| word.starts_with('%'))
}

/// Takes a body apart at labels and branches.
fn blocks(body: &str) -> Vec<Block<'_>> {
    let mut blocks = vec![Block::default()];
    let mut labels = HashMap::new();
    let mut tables: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut ended = vec![false];
    let mut pending_table = None;
    for statement in statements(body) {
        if let Some(label) = statement.strip_suffix(':') {
            if !blocks.last().is_some_and(|block| block.instructions.is_empty()) || ended[blocks.len() - 1] {
                blocks.push(Block::default());
                ended.push(false);
            }
            labels.insert(label, blocks.len() - 1);
            pending_table = Some(label);
            continue;
        }
        if statement.starts_with(".branchtargets") {
            let words = statement.split(|c: char| c.is_whitespace() || ",;".contains(c)).skip(1);
            if let Some(name) = pending_table {
                tables.insert(name, words.filter(|word| !word.is_empty()).collect());
            }
            continue;
        }
        if statement.starts_with('.') {
            continue;
        }
        if ended[blocks.len() - 1]
            || blocks.last().is_some_and(|b| b.instructions.last().is_some_and(|i| i.branches()))
        {
            blocks.push(Block::default());
            ended.push(false);
        }
        let at = blocks.len() - 1;
        let instruction = Instruction::read(statement);
        let goes_on = instruction.guard.is_some();
        let ends = ["ret", "exit", "trap"].contains(&instruction.op) || instruction.branches();
        blocks[at].traps |= instruction.op == "trap" && !goes_on;
        ended[at] |= ends && !goes_on;
        blocks[at].instructions.push(instruction);
    }
    for at in 0..blocks.len() {
        let mut next = Vec::new();
        for instruction in blocks[at].instructions.iter().filter(|instruction| instruction.branches()) {
            let words = instruction.operands.split([',', ' ', '\t']).map(str::trim);
            for word in words {
                let targets = tables.get(word).map_or_else(|| vec![word], Vec::clone);
                next.extend(targets.iter().filter_map(|label| labels.get(label)));
            }
        }
        if !ended[at] && at + 1 < blocks.len() {
            next.push(at + 1);
        }
        blocks[at].next = next;
    }
    // Nothing that a panic keeps from running is divergent for that: the launch fails.
    let traps: Vec<bool> = blocks.iter().map(|block| block.traps).collect();
    for block in &mut blocks {
        block.next.retain(|&next| !traps[next]);
    }
    blocks
}

/// Returns, for each block, the blocks whose branch decides whether it runs.
fn control_dependences(blocks: &[Block<'_>]) -> Vec<BTreeSet<usize>> {
    let after = post_dominators(blocks);
    let mut depends = vec![BTreeSet::new(); blocks.len()];
    for (from, block) in blocks.iter().enumerate().filter(|(_, block)| block.next.len() > 1) {
        for &to in &block.next {
            let mut at = to;
            while at != after[from] && at < blocks.len() {
                depends[at].insert(from);
                at = after[at];
            }
        }
    }
    depends
}

/// Returns the block through which all ways from a block to the end go next; the number of blocks stands for the end.
fn post_dominators(blocks: &[Block<'_>]) -> Vec<usize> {
    let end = blocks.len();
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); end + 1];
    let mut next: Vec<Vec<usize>> = blocks.iter().map(|block| block.next.clone()).collect();
    for (at, next) in next.iter_mut().enumerate() {
        if next.is_empty() {
            next.push(end);
        }
        next.iter().for_each(|&to| before[to].push(at));
    }
    let mut order = Vec::new();
    let mut seen = vec![false; end + 1];
    postorder(end, &before, &mut seen, &mut order);
    // A loop without an end: any of its blocks leads to the end, for want of a better one.
    for at in (0..end).rev() {
        if !seen[at] {
            next[at].push(end);
            before[end].push(at);
            order.pop();
            postorder(at, &before, &mut seen, &mut order);
            order.push(end);
        }
    }
    let mut number = vec![0; end + 1];
    order.iter().enumerate().for_each(|(n, &at)| number[at] = n);
    let unknown = usize::MAX;
    let mut after = vec![unknown; end + 1];
    after[end] = end;
    let mut changed = true;
    while changed {
        changed = false;
        for &at in order.iter().rev().filter(|&&at| at != end) {
            let known = next[at].iter().copied().filter(|&to| after[to] != unknown);
            let meet = known.reduce(|mut a, mut b| {
                while a != b {
                    while number[a] < number[b] {
                        a = after[a];
                    }
                    while number[b] < number[a] {
                        b = after[b];
                    }
                }
                a
            });
            if let Some(meet) = meet.filter(|&meet| meet != after[at]) {
                after[at] = meet;
                changed = true;
            }
        }
    }
    after
}

/// Appends what can be reached from a block, each after all that is reached from it.
fn postorder(from: usize, edges: &[Vec<usize>], seen: &mut [bool], order: &mut Vec<usize>) {
    let mut stack = vec![(from, 0)];
    seen[from] = true;
    while let Some((at, edge)) = stack.last_mut() {
        match edges[*at].get(*edge) {
            Some(&to) => {
                *edge += 1;
                if !seen[to] {
                    seen[to] = true;
                    stack.push((to, 0));
                }
            }
            None => {
                order.push(*at);
                stack.pop();
            }
        }
    }
}

/// The levels of registers and blocks.
struct Levels<'a> {
    registers: BTreeMap<&'a str, Level>,
    blocks: Vec<Level>,
    /// For each block, the register by which it got its level.
    reasons: Vec<[Option<&'a str>; 2]>,
}

impl<'a> Levels<'a> {
    fn of(blocks: &[Block<'a>], depends: &[BTreeSet<usize>]) -> Levels<'a> {
        let facts = Facts::of(blocks);
        let mut levels = Levels {
            registers: BTreeMap::new(),
            blocks: vec![BLOCK; blocks.len()],
            reasons: vec![[None; 2]; blocks.len()],
        };
        let mut changed = true;
        while changed {
            changed = false;
            for block in blocks {
                for instruction in &block.instructions {
                    let level = levels.result(instruction, &facts);
                    for register in &instruction.results {
                        changed |= levels.raise(register, level);
                    }
                }
            }
            for (at, branches) in depends.iter().enumerate() {
                for &from in branches {
                    let branch = blocks[from].instructions.iter().rfind(|i| i.branches());
                    let register = branch.and_then(|b| b.guard.or_else(|| b.sources.first().copied()));
                    let condition = register.map_or(BLOCK, |register| levels.of_register(register));
                    for needed in [BLOCK, WARP] {
                        let reason = if condition > needed { register } else { levels.reason(from, needed) };
                        let known = &mut levels.reasons[at][usize::from(needed)];
                        *known = known.or(reason);
                    }
                    let level = condition.max(levels.blocks[from]);
                    if level > levels.blocks[at] {
                        levels.blocks[at] = level;
                        changed = true;
                    }
                }
            }
        }
        levels
    }

    fn raise(&mut self, register: &'a str, level: Level) -> bool {
        let old = self.registers.entry(register).or_insert(BLOCK);
        let raised = level > *old;
        *old = level.max(*old);
        raised
    }

    fn of_register(&self, register: &str) -> Level {
        if THREADS.iter().any(|name| register.starts_with(name)) {
            return THREAD;
        }
        if register == "%warpid" {
            return WARP;
        }
        self.registers.get(register).copied().unwrap_or(BLOCK)
    }

    /// Returns the register that makes a block run for some threads only, of those that must agree.
    fn reason(&self, block: usize, needed: Level) -> Option<&'a str> {
        self.reasons[block][usize::from(needed)]
    }

    /// Returns the level of an instruction's result.
    fn result(&self, instruction: &Instruction<'a>, facts: &Facts<'a>) -> Level {
        let kind = instruction.op.split('.').next().unwrap_or("");
        let is_shuffled = |register: &&str| facts.shuffled.contains(register);
        if FROM_ELSEWHERE.contains(&kind) || instruction.sources.iter().any(is_shuffled) {
            return BLOCK;
        }
        let all = instruction.sources.iter().chain(&instruction.guard);
        let highest = all.map(|register| self.of_register(register)).max().unwrap_or(BLOCK);
        if highest == THREAD && is_warps(instruction, &facts.indices) { WARP } else { highest }
    }
}

/// What is known of some registers from the instruction that sets them.
struct Facts<'a> {
    /// They hold the thread's index in the block or grid.
    indices: BTreeSet<&'a str>,
    /// They hold another lane's value: what is made of it and one's own is a reduction.
    shuffled: BTreeSet<&'a str>,
}

impl<'a> Facts<'a> {
    fn of(blocks: &[Block<'a>]) -> Facts<'a> {
        let mut facts = Facts { indices: BTreeSet::new(), shuffled: BTreeSet::new() };
        let all = || blocks.iter().flat_map(|block| &block.instructions);
        for instruction in all().chain(all()) {
            let kind = instruction.op.split('.').next().unwrap_or("");
            let is_index = |s: &&str| s.starts_with("%tid.x") || facts.indices.contains(s);
            // The index in the grid as well: a block's first index is a multiple of 32.
            let keeps = match kind {
                "mov" | "cvt" => true,
                "mad" | "add" => instruction.sources.len() >= 2,
                _ => false,
            };
            if keeps && instruction.sources.iter().any(is_index) {
                facts.indices.extend(instruction.results.iter().copied());
            } else if kind == "shfl" {
                facts.shuffled.extend(instruction.results.iter().copied());
            }
        }
        facts
    }
}

/// Returns whether the result is a warp's, although it comes from the thread's index: its upper bits, or a comparison with a multiple
/// of 32.
fn is_warps(instruction: &Instruction<'_>, indices: &BTreeSet<&str>) -> bool {
    let [source] = instruction.sources.as_slice() else { return false };
    if !indices.contains(source) && !source.starts_with("%tid.x") {
        return false;
    }
    let last = instruction.operands.rsplit(',').next();
    let Some(number) = last.and_then(|n| n.trim().parse::<i64>().ok()) else { return false };
    match instruction.op.split('.').collect::<Vec<_>>().as_slice() {
        ["shr", ..] => number >= 5,
        ["and", ..] => number.rem_euclid(32) == 0,
        ["setp", "lt" | "ge" | "lo" | "hs", ..] => number.rem_euclid(32) == 0,
        ["setp", "gt" | "le" | "hi" | "ls", ..] => number.rem_euclid(32) == 31,
        _ => false,
    }
}

/// Returns the instruction that sets a register.
fn definition<'a>(blocks: &[Block<'a>], register: &str) -> Option<&'a str> {
    let mut all = blocks.iter().flat_map(|block| &block.instructions);
    all.find(|instruction| instruction.results.contains(&register)).map(|instruction| instruction.text)
}

/// A function or kernel of a text.
pub struct Function {
    /// Its name.
    pub name: String,
    /// Whether it is a kernel.
    pub is_kernel: bool,
    /// What is between its braces, without comments and source lines.
    pub body: String,
}

/// Returns the functions and kernels of a text, in its order.
pub fn functions(ptx: &str) -> Vec<Function> {
    let mut found = Vec::new();
    let mut rest = ptx;
    while let Some(start) = rest.find("\n{\n") {
        let head = &rest[..start];
        let body = &rest[start + 3..];
        let end = body.find("\n}").unwrap_or(body.len());
        let (entry, func) = (head.rfind(".entry "), head.rfind(".func"));
        if let Some(at) = entry.max(func) {
            let is_kernel = entry > func;
            let name = &head[at + if is_kernel { ".entry ".len() } else { ".func".len() }..];
            found.push(Function {
                name: function_name(name).to_string(),
                is_kernel,
                body: clean(&body[..end]),
            });
        }
        rest = &body[end..];
    }
    found
}

/// Returns the number of instructions in a clean body.
pub fn instructions(body: &str) -> usize {
    statements(body).filter(|statement| !statement.ends_with(':') && !statement.starts_with('.')).count()
}

fn clean(body: &str) -> String {
    let code = body.lines().map(|line| line.split("//").next().unwrap_or("").trim());
    let code = code.filter(|line| !is_of_lines(line));
    code.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the collectives found in a kernel with this body.
    fn found(body: &str) -> Vec<String> {
        let found = find(&clean(body), &BTreeSet::from(["gather".to_string()]));
        found.into_iter().map(|found| format!("{} | {}", found.collective, found.condition)).collect()
    }

    /// A collective that is only reached where this condition holds.
    fn under(condition: &str, collective: &str) -> Vec<String> {
        found(&format!(
            "\tmov.u32 \t%r1, %tid.x;\n\tld.param.b32 %r2, [p];\n{condition}\n\t@%p1 bra \t$L__BB0_2;\n\
             \t{collective}\n$L__BB0_2:\n\tret;\n"
        ))
    }

    #[test]
    fn a_barrier_must_be_reached_by_the_block() {
        let barrier = "bar.sync \t0;";
        assert_eq!(
            under("\tsetp.gt.u32 %p1, %r1, 15;", barrier),
            ["bar.sync \t0 | setp.gt.u32 %p1, %r1, 15"]
        );
        assert!(under("\tsetp.gt.u32 %p1, %r2, 15;", barrier).is_empty());
        // Of the first warp alone.
        assert_eq!(under("\tsetp.gt.u32 %p1, %r1, 31;", barrier).len(), 1);
        // Not of all threads: the program says how many.
        assert!(under("\tsetp.gt.u32 %p1, %r1, 31;", "barrier.sync 1, 32;").is_empty());
        assert_eq!(under("\tsetp.gt.u32 %p1, %r1, 31;", "barrier.cluster.arrive.aligned;").len(), 1);
        assert_eq!(under("\tsetp.gt.u32 %p1, %r1, 31;", "call.uni gather, (p);").len(), 1);
        assert!(under("\tsetp.gt.u32 %p1, %r1, 31;", "call.uni other, (p);").is_empty());
    }

    #[test]
    fn a_shuffle_must_be_reached_by_the_warp() {
        let shuffle = "shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;";
        assert_eq!(under("\tsetp.gt.u32 %p1, %r1, 15;", shuffle).len(), 1);
        for agreed in [
            "setp.gt.u32 %p1, %r1, 31;",
            "shr.u32 %r4, %r1, 5;\n\tsetp.ne.b32 %p1, %r4, 0;",
            "mad.lo.s32 %r4, %r2, %r2, %r1;\n\tshr.u32 %r5, %r4, 5;\n\tsetp.ge.u32 %p1, %r5, %r2;",
            "setp.ne.b32 %p2, %r1, 3;\n\tvote.sync.any.pred %p1, %p2, -1;",
            "shfl.sync.idx.b32 %r4, %r1, 0, 31, -1;\n\tsetp.ne.b32 %p1, %r4, 0;",
            "shfl.sync.bfly.b32 %r4, %r1, 16, 31, -1;\n\tmax.u32 %r5, %r4, %r1;\n\tsetp.ne.b32 %p1, %r5, 0;",
        ] {
            assert_eq!(under(&format!("\t{agreed}"), shuffle), Vec::<String>::new(), "{agreed}");
        }
        // Only the threads of this mask.
        assert!(under("\tsetp.gt.u32 %p1, %r1, 15;", "vote.sync.any.pred %p3, %p2, %r2;").is_empty());
        assert_eq!(found("\tmov.u32 %r1, %laneid;\n\tsetp.eq.b32 %p1, %r1, 0;\n\t@%p1 redux.sync.add.u32 %r2, %r1, -1;\n\tret;").len(), 1);
    }

    #[test]
    fn both_sides_of_a_branch() {
        let text = |after: &str| {
            format!(
                "\tmov.u32 %r1, %tid.x;\n\tsetp.lt.u32 %p1, %r1, 7;\n\t@%p1 bra $L__BB0_2;\n\tmov.b32 %r5, 1;\n\
                 \tbra.uni $L__BB0_3;\n$L__BB0_2:\n\tmov.b32 %r5, 2;\n$L__BB0_3:\n{after}\tret;\n"
            )
        };
        assert!(found(&text("\tbar.sync 0;\n")).is_empty());
        // In both of them, as a compiler leaves it that copies a barrier.
        let copied = text("").replace("\tmov.b32 %r5", "\tbar.sync 0;\n\tmov.b32 %r5");
        assert_eq!(found(&copied), vec!["bar.sync 0 | setp.lt.u32 %p1, %r1, 7"; 2]);
    }

    #[test]
    fn loops_and_early_ends() {
        let turns = |from: &str| {
            format!(
                "\tmov.u32 %r9, %tid.x;\n\tmov.b32 %r1, {from};\n$L__BB0_1:\n\tbar.sync 0;\n\tadd.s32 %r1, %r1, 1;\n\
                 \tsetp.lt.u32 %p1, %r1, 100;\n\t@%p1 bra $L__BB0_1;\n\tret;\n"
            )
        };
        assert!(found(&turns("0")).is_empty());
        assert_eq!(found(&turns("%r9")).len(), 1);
        let ends = |how: &str| {
            format!(
                "\tmov.u32 %r1, %tid.x;\n\tsetp.ge.u32 %p1, %r1, 7;\n\t@%p1 bra $L__BB0_2;\n\tbar.sync 0;\n\tret;\n\
                 $L__BB0_2:\n\t{how};\n"
            )
        };
        // A panic ends the launch, a return only the thread.
        assert!(found(&ends("trap")).is_empty());
        assert_eq!(found(&ends("ret")).len(), 1);
        // Without an end. Threads wait for each other where ways meet, within a loop too.
        let forever = |skipped: &str, always: &str| {
            format!(
                "\tmov.u32 %r1, %tid.x;\n$L__BB0_1:\n\tsetp.lt.u32 %p1, %r1, 9;\n\t@%p1 bra $L__BB0_2;\n\t{skipped}\n\
                 $L__BB0_2:\n\t{always}\n\tbra.uni $L__BB0_1;\n"
            )
        };
        assert!(found(&forever("", "bar.sync 0;")).is_empty());
        assert_eq!(found(&forever("bar.sync 0;", "")).len(), 1);
    }

    #[test]
    fn tables_of_branches_are_followed() {
        let text = |index: &str| {
            format!(
                "\tmov.u32 %r1, %tid.x;\n\tld.param.b32 %r2, [p];\n\t$L_brx_0: .branchtargets\n\t\t$L__BB0_1,\n\t\t$L__BB0_2;\n\
                 \tbrx.idx {index}, $L_brx_0;\n$L__BB0_1:\n\tst.shared::cta.b32 [%r2], 1;\n\tbar.sync 0;\n$L__BB0_2:\n\tret;\n"
            )
        };
        assert!(found(&text("%r2")).is_empty());
        assert_eq!(found(&text("%r1")).len(), 1);
    }

    #[test]
    fn functions_are_taken_from_a_text() {
        let ptx = ".func f(\n)\n{\n\tbar.sync 0; // all\n\n}\n.func g()\n{\n\tcall.uni f, ();\n}\n.visible .entry k(\n)\n\
                   .maxntid 1, 1, 1\n{\n\t.loc 1 2 3\n\tret;\n\n}\n";
        let all = functions(ptx);
        let names: Vec<_> = all.iter().map(|f| (f.name.as_str(), f.is_kernel)).collect();
        assert_eq!(names, [("f", false), ("g", false), ("k", true)]);
        assert!(!all[2].body.contains(".loc") && !all[0].body.contains("all"));
        let with: Vec<String> = functions_with_barriers(&all).into_iter().collect();
        assert_eq!(with, ["f", "g"]);
    }
}

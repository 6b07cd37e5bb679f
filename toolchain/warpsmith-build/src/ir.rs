//! Reads LLVM's form of the kernels, for what the PTX no longer shows: orderings that are not obeyed, remainders of floats, collectives
//! in inline assembly, and collectives that were copied.
//!
//! The last come from the places in the source. With line tables, every call in this form has its place, and that of each inlined call
//! around it. So a call that stands twice with the same places is a copy. Copies that run one after another are those of an unrolled
//! loop. Copies of which only one runs are on the two sides of a branch, and threads that take different sides never meet: this is what
//! jump threading does to a barrier.

use std::collections::{BTreeMap, BTreeSet};

use crate::ptx::{Finding, Kind};

/// Starts of instructions that only work if all threads of a group run them together.
const COLLECTIVES: &[&str] =
    &["bar.", "barrier.", "vote.", "shfl.", "match.", "redux.", "activemask.", "wgmma.", "mma.", "wmma."];
/// Parts of the names of LLVM's intrinsics for them.
const INTRINSICS: &[&str] = &["barrier", "bar.", "vote", "shfl", "match", "redux", "activemask"];
/// Orderings that have to be obeyed.
const ORDERINGS: &[&str] = &["acquire", "release", "acq_rel", "seq_cst"];

/// Returns what a text in LLVM's language shows.
pub fn findings(ir: &str) -> Vec<Finding> {
    let places = Places::of(ir);
    let mut found = Vec::new();
    let mut function = Function::default();
    for line in ir.lines() {
        if let Some(rest) = line.strip_prefix("define ") {
            function = Function { name: name_of(rest), ..Function::default() };
        } else if line.starts_with('}') {
            found.extend(function.copied(&places));
            function = Function::default();
        } else if !function.name.is_empty() {
            found.extend(instruction(line.trim(), &function.name, &places));
            function.read(line);
        }
    }
    found
}

/// Returns what one instruction is.
fn instruction(text: &str, kernel: &str, places: &Places<'_>) -> Option<Finding> {
    let op = text.split_once(" = ").map_or(text, |(_, op)| op);
    let words = || op.split([' ', ',']);
    // Floats are added by an intrinsic, which has no ordering to lose: `core` has no atomics of them.
    let adds_float = words().nth(1) == Some("fadd");
    let kind = if op.starts_with("atomicrmw ") && !adds_float && words().any(|word| ORDERINGS.contains(&word))
    {
        Kind::Ordering
    } else if words().take(8).any(|word| word == "frem") {
        Kind::Remainder
    } else if assembly(op).is_some_and(|text| starts(text).any(is_collective)) {
        Kind::Assembly
    } else {
        return None;
    };
    let short = op.split(", !").next().unwrap_or(op);
    let text = match place_of(op).and_then(|number| places.in_source(number)) {
        Some(place) => format!("{place}: {short}"),
        None => short.to_string(),
    };
    Some(Finding { kernel: kernel.into(), kind, text })
}

fn is_collective(start: &str) -> bool {
    COLLECTIVES.iter().any(|collective| start.starts_with(collective))
}

/// Returns the text of a call of inline assembly.
fn assembly(op: &str) -> Option<&str> {
    let (call, rest) = op.split_once(" asm ")?;
    let text = rest.split_once('"')?.1;
    call.contains("call").then_some(text.split('"').next().unwrap_or(""))
}

/// Returns the words at which instructions may start in a text of assembly, where `\0A` is the end of a line.
fn starts(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || ";{}".contains(c))
        .flat_map(|word| word.split("\\0A"))
        .flat_map(|word| word.split("\\09"))
}

/// Returns the function's name in the rest of a line that defines it.
fn name_of(definition: &str) -> String {
    let name = definition.split_once('@').map_or("", |(_, name)| name);
    match name.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or("").into(),
        None => name.split('(').next().unwrap_or("").into(),
    }
}

/// Where instructions are from, by the numbers that they have in the text.
struct Places<'a> {
    /// `!7 = !DILocation(line: 1, column: 2, scope: !3, inlinedAt: !4)`: the fields.
    calls: BTreeMap<&'a str, &'a str>,
    /// What a scope is, and files.
    scopes: BTreeMap<&'a str, &'a str>,
}

impl<'a> Places<'a> {
    fn of(ir: &'a str) -> Places<'a> {
        let mut places = Places { calls: BTreeMap::new(), scopes: BTreeMap::new() };
        for line in ir.lines().filter(|line| line.starts_with('!')) {
            let Some((number, rest)) = line.split_once(" = ") else { continue };
            if let Some((_, fields)) = rest.split_once("!DILocation(") {
                places.calls.insert(number, fields);
            } else if rest.contains("file: ") || rest.contains("!DIFile(") {
                places.scopes.insert(number, rest);
            }
        }
        places
    }

    /// Returns the place of an instruction, and so on for what it was inlined into: lines, columns and scopes.
    fn chain(&self, number: &str) -> Vec<[&'a str; 3]> {
        let mut chain = Vec::new();
        let mut at = number;
        while let Some(fields) = self.calls.get(at) {
            chain.push([field(fields, "line:"), field(fields, "column:"), field(fields, "scope:")]);
            at = field(fields, "inlinedAt:");
        }
        chain
    }

    /// Returns file and line in the source of the kernels, not in the library's or the compiler's that they call, if it is known.
    fn in_source(&self, number: &str) -> Option<String> {
        let chain = self.chain(number);
        let file = |scope: &str| {
            let file = self.scopes.get(field(self.scopes.get(scope)?, "file:"))?;
            file.split_once("filename: \"")?.1.split('"').next()
        };
        let mut known = chain.iter().filter_map(|[line, _, scope]| Some((file(scope)?, line)));
        let is_kernels = |file: &str| !file.contains("/library/") && !file.contains("warpsmith");
        let (file, line) = known.clone().find(|(file, _)| is_kernels(file)).or_else(|| known.next())?;
        Some(format!("{file}:{line}"))
    }
}

/// Returns the value after a name in `name: value, name: value)`.
fn field<'a>(fields: &'a str, name: &str) -> &'a str {
    let value = fields.split([',', ')', '(']).find_map(|field| field.trim().strip_prefix(name));
    value.unwrap_or("").trim()
}

/// Returns the number of an instruction's place.
fn place_of(text: &str) -> Option<&str> {
    let (_, number) = text.rsplit_once("!dbg ")?;
    number.split([',', ' ']).next()
}

/// The ways through a function, and its collectives.
#[derive(Default)]
struct Function {
    name: String,
    /// For each label, where the block leads.
    blocks: BTreeMap<String, BTreeSet<String>>,
    label: String,
    in_switch: bool,
    /// The collectives: label, text, number of the place.
    collectives: Vec<(String, String, String)>,
}

impl Function {
    fn read(&mut self, line: &str) {
        if let Some((label, _)) = line.split_once(':').filter(|_| !line.starts_with(' ')) {
            self.label = label.trim_matches('"').to_string();
            return;
        }
        let text = line.trim();
        self.in_switch |= text.starts_with("switch ");
        if self.in_switch || text.starts_with("br ") {
            let labels = text.split("label %").skip(1);
            let labels = labels.map(|rest| {
                let quoted = rest.strip_prefix('"').and_then(|rest| rest.split('"').next());
                quoted.unwrap_or_else(|| rest.split([',', ' ']).next().unwrap_or("")).to_string()
            });
            self.blocks.entry(self.label.clone()).or_default().extend(labels);
            self.in_switch &= !text.starts_with(']');
        }
        if let Some((_, call)) = text.split_once("@llvm.nvvm.")
            && text.contains("call ")
            && INTRINSICS.iter().any(|part| call.split('(').next().unwrap_or("").contains(part))
            && let Some(place) = place_of(text)
        {
            let name = call.split('(').next().unwrap_or("").to_string();
            self.collectives.push((self.label.clone(), name, place.to_string()));
        }
    }

    /// Returns the collectives that stand on several sides of branches although the source has them once.
    fn copied(&self, places: &Places<'_>) -> Vec<Finding> {
        let mut by_place: BTreeMap<_, Vec<(&str, &str)>> = BTreeMap::new();
        for (label, name, number) in &self.collectives {
            let chain = places.chain(number);
            // Line 0 is what LLVM gives to an instruction that it has merged of several.
            if chain.first().is_some_and(|[line, ..]| !["", "0"].contains(line)) {
                by_place.entry((name, chain)).or_default().push((label, number));
            }
        }
        let copied = by_place.into_iter().filter(|(_, copies)| self.are_apart(copies));
        copied
            .map(|((name, _), copies)| {
                let place = places.in_source(copies[0].1).unwrap_or_default();
                let text = format!("{place}: {name} has become {} copies on different ways", copies.len());
                Finding { kernel: self.name.clone(), kind: Kind::Copied, text }
            })
            .collect()
    }

    /// Returns whether there are two copies of which none can run after the other.
    fn are_apart(&self, copies: &[(&str, &str)]) -> bool {
        let labels: BTreeSet<&str> = copies.iter().map(|(label, _)| *label).collect();
        if labels.len() < 2 {
            return false;
        }
        let ways: Vec<(&str, BTreeSet<&str>)> =
            labels.iter().map(|label| (*label, self.reached(label))).collect();
        ways.iter().enumerate().any(|(at, (label, ways_on))| {
            ways[..at].iter().any(|(other, others_on)| !ways_on.contains(other) && !others_on.contains(label))
        })
    }

    /// Returns the blocks that can follow a block.
    fn reached<'a>(&'a self, label: &str) -> BTreeSet<&'a str> {
        let mut seen = BTreeSet::new();
        let mut next: Vec<&str> = self.blocks.get(label).into_iter().flatten().map(String::as_str).collect();
        while let Some(at) = next.pop() {
            if seen.insert(at) {
                next.extend(self.blocks.get(at).into_iter().flatten().map(String::as_str));
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(body: &str) -> Vec<(Kind, String)> {
        let ir = format!("define ptx_kernel void @k(ptr %p) #0 {{\nstart:\n{body}\n}}\n");
        findings(&ir).into_iter().map(|found| (found.kind, found.text)).collect()
    }

    #[test]
    fn orderings_are_found_where_they_are_lost() {
        let add = "  %4 = atomicrmw add ptr addrspace(1) %acquire, i32 5 release, align 4, !noalias !3";
        let text = "atomicrmw add ptr addrspace(1) %acquire, i32 5 release, align 4".to_string();
        assert_eq!(kinds(add), [(Kind::Ordering, text)]);
        for good in [
            "  %4 = atomicrmw add ptr %acquire, i32 5 monotonic, align 4",
            "  %4 = atomicrmw fadd ptr addrspace(1) %1, float %x seq_cst, align 4",
            "  fence acq_rel",
            "  %6 = load atomic i32, ptr %5 acquire, align 4",
            "  %8 = cmpxchg ptr %5, i32 1, i32 2 acquire monotonic, align 4",
        ] {
            assert!(kinds(good).is_empty(), "{good}");
        }
    }

    #[test]
    fn remainders_of_floats_are_found() {
        assert_eq!(kinds("  %2 = frem float %x, %y")[0].0, Kind::Remainder);
        assert_eq!(kinds("  %2 = frem contract double %x, %y").len(), 1);
        assert!(kinds("  %frem = urem i32 %x, %y").is_empty());
    }

    #[test]
    fn collectives_in_assembly_are_found() {
        let call = |text: &str| {
            format!("  tail call void asm sideeffect \"{text}\", \"~{{memory}}\"() #8, !srcloc !2")
        };
        for text in
            ["bar.sync 0;", "{ .reg .pred p;\\0Avote.sync.any.pred p, $1, -1;", "@p shfl.sync.idx.b32 $0;"]
        {
            assert_eq!(kinds(&call(text)).len(), 1, "{text}");
        }
        for text in ["fence.acq_rel.gpu;", "mov.b64 $0, bar_table;", ""] {
            assert!(kinds(&call(text)).is_empty(), "{text}");
        }
    }

    /// Two calls of a barrier with the same place, in blocks that a branch or each other leads to.
    fn two_barriers(ways: &str, second: &str) -> Vec<Finding> {
        findings(&format!(
            "define ptx_kernel void @k(ptr %p) #0 !dbg !5 {{\nstart:\n  br i1 %c, label %a, label %b, !dbg !1\n\n\
             a:                                                ; preds = %start\n\
             \x20 tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !1\n  {ways}\n\n\
             b:                                                ; preds = %start\n\
             \x20 tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg {second}\n  br label %end\n\n\
             end:                                              ; preds = %b, %a\n  ret void\n}}\n\n\
             !1 = !DILocation(line: 9, column: 5, scope: !5, inlinedAt: !2)\n\
             !2 = distinct !DILocation(line: 30, column: 1, scope: !6)\n\
             !3 = !DILocation(line: 9, column: 5, scope: !5, inlinedAt: !4)\n\
             !4 = distinct !DILocation(line: 31, column: 1, scope: !6)\n\
             !5 = distinct !DISubprogram(name: \"sync\", scope: !9, file: !7, line: 8)\n\
             !6 = distinct !DISubprogram(name: \"k\", scope: !9, file: !8, line: 28)\n\
             !7 = !DIFile(filename: \"/src/warpsmith/src/thread.rs\", directory: \"/x\")\n\
             !8 = !DIFile(filename: \"src/kernels.rs\", directory: \"/x\")\n"
        ))
    }

    #[test]
    fn copies_on_two_sides_of_a_branch_are_found() {
        let found = two_barriers("br label %end", "!1");
        let text = "src/kernels.rs:30: barrier.cta.sync.aligned.all has become 2 copies on different ways";
        assert_eq!(found, [Finding { kernel: "k".into(), kind: Kind::Copied, text: text.into() }]);
        // One after the other, as in an unrolled loop.
        assert!(two_barriers("br label %b", "!1").is_empty());
        // Two calls in the source.
        assert!(two_barriers("br label %end", "!3").is_empty());
    }

    #[test]
    fn functions_have_names() {
        assert_eq!(name_of("internal fastcc void @\"a b\"(i32 %x) {"), "a b");
        assert_eq!(name_of("ptx_kernel void @k(ptr %p) {"), "k");
    }
}

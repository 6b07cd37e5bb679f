//! Edits rustc's PTX, checks it for code that would not load, would go wrong, or would run slowly, and takes it apart.
//!
//! The kernels' source controls this module by comments that `global_asm!` copies into the text:
//!
//! - `//@launch_bounds NAME THREADS [BLOCKS]`: at most THREADS threads a block and at least BLOCKS blocks an
//!   SM, which rustc has no attribute for;
//! - `//@allow NAME KIND`: findings of this [`Kind`] in this kernel are meant, do not warn or fail; `*PART*` stands for every
//!   kernel and function with PART in its name.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::divergence;
use crate::syntax::{function_name, is_of_lines};

/// The fault of a text without kernels.
const NO_KERNELS: &str = "there is no kernel: write `#[kernel]` before a public function, or, without the library, \
    `#[unsafe(no_mangle)] pub unsafe extern \"ptx-kernel\" fn`";
/// The start of the names of arrays with the types of a kernel's parameters.
const SIGNATURE: &str = " warpsmith_signature_";
/// Functions that the driver provides, the heap among them.
const DRIVER_FUNCTIONS: &[&str] = &["vprintf", "__assertfail", "malloc", "free"];
/// The library's variable for where a failing kernel leaves its message.
const RECORD: &str = "warpsmith_record";
/// A part of the name of the function that ends a kernel whose `device_assert!` fails.
const FAILURE: &str = "___assert_failed";
/// Functions of C by which `==` compares slices.
const COMPARISONS: [&str; 2] = ["memcmp", "bcmp"];
/// Compares bytes, and returns the difference of the first two that are not the same.
const COMPARE: &str = "\
.func  (.param .b32 func_retval0) NAME
(
	.param .b64 NAME_param_0,
	.param .b64 NAME_param_1,
	.param .b64 NAME_param_2
)
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<4>;

	ld.param.b64 	%rd1, [NAME_param_0];
	ld.param.b64 	%rd2, [NAME_param_1];
	ld.param.b64 	%rd3, [NAME_param_2];
	mov.b32 	%r3, 0;
$L__NAME_next:
	setp.eq.s64 	%p1, %rd3, 0;
	@%p1 bra 	$L__NAME_end;
	ld.u8 	%r1, [%rd1];
	ld.u8 	%r2, [%rd2];
	sub.s32 	%r3, %r1, %r2;
	setp.ne.s32 	%p2, %r3, 0;
	@%p2 bra 	$L__NAME_end;
	add.s64 	%rd1, %rd1, 1;
	add.s64 	%rd2, %rd2, 1;
	add.s64 	%rd3, %rd3, -1;
	bra.uni 	$L__NAME_next;
$L__NAME_end:
	st.param.b32 	[func_retval0], %r3;
	ret;
}
";
/// The state spaces that a memory access can name; without one it is generic and slower.
const SPACES: &[&str] = &["global", "shared", "local", "param", "const"];
/// Instructions at which a block waits for all its threads.
const BARRIERS: &[&str] = &["bar.sync", "bar.cta.sync", "barrier.sync", "barrier.cta.sync"];

/// Code that goes wrong or costs speed, and is sometimes intended. [`Kind::Copied`], [`Kind::Assembly`] and [`Kind::Ordering`] fail the
/// build unless a comment allows them; the others are findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A collective that the compiler has copied to several sides of a branch.
    Copied,
    /// A collective in inline assembly, which the compiler may copy or move.
    Assembly,
    /// An atomic operation whose ordering is not obeyed.
    Ordering,
    /// A collective under a condition on the thread's index.
    Divergent,
    /// A remainder of floats, which is wrong for large quotients.
    Remainder,
    /// A memory access that does not name its space.
    Generic,
    /// A stack frame.
    Local,
    /// A function that was not inlined.
    Call,
}

impl Kind {
    const ALL: [Kind; 8] = [
        Kind::Copied,
        Kind::Assembly,
        Kind::Ordering,
        Kind::Divergent,
        Kind::Remainder,
        Kind::Generic,
        Kind::Local,
        Kind::Call,
    ];

    pub(crate) fn parse(word: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.to_string() == word)
    }

    /// Returns why code of this kind must not be used and what to write instead; `None` if it may be.
    fn fault(self) -> Option<&'static str> {
        match self {
            Kind::Copied => Some(
                "the compiler has copied a collective to several sides of a branch, where threads never meet: please report it",
            ),
            Kind::Assembly => Some(
                "a collective in `asm!`, which the compiler may copy and move: call the function of the library, or LLVM's intrinsic",
            ),
            Kind::Ordering => Some(
                "`swap` and `fetch_*` of core's atomics ignore their ordering on GPUs: use the library's atomics, \
                 `compare_exchange`, or Relaxed and a fence",
            ),
            _ => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Copied => "copied",
            Kind::Assembly => "assembly",
            Kind::Ordering => "ordering",
            Kind::Divergent => "divergent",
            Kind::Remainder => "remainder",
            Kind::Generic => "generic",
            Kind::Local => "local",
            Kind::Call => "call",
        })
    }
}

/// One instruction that goes wrong or costs speed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kernel or function it is in; empty outside of both.
    pub kernel: String,
    /// The kind of finding.
    pub kind: Kind,
    /// The instruction.
    pub text: String,
}

/// The results of checking a PTX text.
#[derive(Debug, Default)]
pub struct Report {
    /// The kernels' names, in the text's order.
    pub entries: Vec<String>,
    /// Reasons not to use this PTX.
    pub faults: Vec<String>,
    /// Findings that may stay, and were not allowed by a comment.
    pub findings: Vec<Finding>,
    /// Number of barriers in each kernel or function that has any.
    pub barriers: BTreeMap<String, usize>,
}

impl Report {
    /// Returns counts by kind and the first findings, in one line; `None` if there are no findings.
    pub fn summary(&self) -> Option<String> {
        let first: Vec<String> =
            self.findings.iter().take(3).map(|f| format!("{}: {}", f.kernel, f.text)).collect();
        let mut counts = BTreeMap::new();
        for finding in &self.findings {
            *counts.entry(finding.kind).or_insert(0) += 1;
        }
        let counts: Vec<String> = counts.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        (!first.is_empty()).then(|| format!("{} (first: {})", counts.join(", "), first.join(" | ")))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.faults.iter().try_for_each(|fault| writeln!(f, "fault: {fault}"))?;
        self.findings.iter().try_for_each(|x| writeln!(f, "{} in {}: {}", x.kind, x.kernel, x.text))
    }
}

/// Edits the text so that ptxas optimises it, each function is declared or defined but not both, launch bounds are added, and each
/// kernel says what its parameters are.
///
/// # Errors
/// If a comment is invalid.
pub fn finish(ptx: &str, arch: &str) -> Result<String, String> {
    // "debug" would make ptxas stop optimising; the line tables work without it.
    let text = ptx.replacen(&format!(".target {arch}, debug"), &format!(".target {arch}"), 1);
    let text = without_unused_record(define_comparisons(&drop_needless_declarations(&text)));
    let mut text = name_parameters(&text);
    for (kernel, bounds) in launch_bounds(ptx)? {
        let head = format!(".visible .entry {kernel}(");
        let missing = || format!("launch bounds for a kernel that does not exist: {kernel}");
        let start = text.find(&head).ok_or_else(missing)?;
        let brace = start + text[start..].find("\n{").ok_or_else(missing)?;
        text.insert_str(brace, &format!("\n{bounds}"));
    }
    Ok(text)
}

/// Removes what line tables add. The rest is what the compiler writes without them.
pub fn without_lines(ptx: &str) -> String {
    let mut kept = String::with_capacity(ptx.len());
    let mut in_section = false;
    for line in ptx.lines() {
        let code = line.trim_start();
        let is_label = ["$L__tmp", "$L__func_begin", "$L__func_end"].iter().any(|l| code.starts_with(l));
        let is_of_lines = is_of_lines(code) || is_label && code.ends_with(':');
        if code.starts_with(".section") && code.contains(".debug") {
            in_section = !code.ends_with('}');
        } else if in_section {
            in_section = code != "}";
        } else if !is_of_lines {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// Returns the comments after `//@word `, each once: a macro used from several crates repeats them.
fn comments<'a>(ptx: &'a str, word: &str) -> BTreeSet<Vec<&'a str>> {
    let rest = |line: &'a str| line.trim().strip_prefix("//@")?.strip_prefix(word)?.strip_prefix(' ');
    ptx.lines().filter_map(rest).map(|words| words.split_whitespace().collect()).collect()
}

fn launch_bounds(ptx: &str) -> Result<BTreeMap<&str, String>, String> {
    let mut all = BTreeMap::new();
    for words in comments(ptx, "launch_bounds") {
        let numbers: Option<Vec<u32>> = words.iter().skip(1).map(|w| w.parse().ok()).collect();
        let directives = match numbers.as_deref() {
            Some([threads]) => format!(".maxntid {threads}, 1, 1"),
            Some([threads, blocks]) => format!(".maxntid {threads}, 1, 1\n.minnctapersm {blocks}"),
            _ => {
                return Err(format!(
                    "launch bounds must be NAME THREADS [BLOCKS], not `{}`",
                    words.join(" ")
                ));
            }
        };
        if all.insert(words[0], directives).is_some() {
            return Err(format!("two different launch bounds for {}", words[0]));
        }
    }
    Ok(all)
}

/// Makes comments of the arrays in which the macro `kernel` leaves the types of a kernel's parameters: the host compares them with what
/// it passes, and a device needs no memory for them.
fn name_parameters(ptx: &str) -> String {
    let (mut kept, mut signatures) = (String::with_capacity(ptx.len()), BTreeMap::new());
    for line in ptx.lines() {
        let array = line.strip_prefix(".visible .global ").and_then(|rest| rest.split_once(SIGNATURE));
        match array.and_then(|(_, rest)| Some((rest.split(['[', ' ', ';']).next()?, types(rest)?))) {
            Some((kernel, types)) => _ = signatures.insert(kernel, types),
            None => kept.extend([line, "\n"]),
        }
    }
    for (kernel, types) in signatures {
        let head = kept.find(&format!(".visible .entry {kernel}("));
        if let Some((start, length)) = head.and_then(|start| Some((start, kept[start..].find("\n{\n")?))) {
            kept.insert_str(start + length + 3, &format!("\t// parameters: {types}\n"));
        }
    }
    kept
}

/// Returns the text in the rest of a declaration, `name[3] = {102, 51, 50};`. That of no parameters has no bytes.
fn types(declaration: &str) -> Option<String> {
    let Some((_, bytes)) = declaration.split_once('{') else { return Some(String::new()) };
    let bytes = bytes.split_once('}')?.0.split(',').map(|byte| byte.trim().parse::<u8>().ok());
    String::from_utf8(bytes.collect::<Option<_>>()?).ok()
}

/// Removes needless declarations: a function written in `global_asm!` and declared in Rust comes out defined *and* declared
/// `.extern`, which ptxas rejects.
fn drop_needless_declarations(ptx: &str) -> String {
    let defined: BTreeSet<&str> = ptx
        .lines()
        .filter_map(|line| line.trim_start().trim_start_matches(".visible ").strip_prefix(".func"))
        .map(function_name)
        .collect();
    let mut kept = String::with_capacity(ptx.len());
    let mut dropping = false;
    for line in ptx.lines() {
        let declared = line.trim_start().strip_prefix(".extern .func").map(function_name);
        dropping |= declared.is_some_and(|name| defined.contains(name));
        if !dropping {
            kept.push_str(line);
            kept.push('\n');
        }
        dropping &= !line.trim_end().ends_with(';');
    }
    kept
}

/// Removes the variable by which the library's failing kernels find the host's memory for their message, unless there is one that can
/// fail with a message.
fn without_unused_record(mut ptx: String) -> String {
    let Some(name) = ptx.find(RECORD) else { return ptx };
    let line = ptx[..name].rfind('\n').map_or(0, |end| end + 1);
    let end = name + ptx[name..].find('\n').map_or(ptx.len() - name, |end| end + 1);
    if ptx[line..].starts_with(".visible .global") && !ptx[end..].contains(RECORD) {
        ptx.replace_range(line..end, "");
    }
    ptx
}

/// Defines the functions of C by which `==` compares slices, where the text calls them and nobody defines them.
fn define_comparisons(ptx: &str) -> String {
    let mut text = ptx.to_string();
    for name in COMPARISONS {
        let head = format!(".extern .func  (.param .b32 func_retval0) {name}\n");
        let Some(start) = text.find(&head) else { continue };
        let Some(length) = text[start..].find(";\n") else { continue };
        text.replace_range(start..start + length + 2, &COMPARE.replace("NAME", name));
    }
    text
}

/// Checks a finished text, and takes what [`ir`](crate::ir) found. Each kernel of `one_barrier` must contain exactly one barrier.
pub fn check(ptx: &str, one_barrier: &[String], of_ir: Vec<Finding>) -> Report {
    let mut report = Report { findings: of_ir, ..Report::default() };
    let allowed = allowances(ptx, &mut report.faults);
    let mut kernel = String::new();
    for line in ptx.lines() {
        let code = line.split("//").next().unwrap_or("").trim();
        // Indented braces end calls, not functions.
        if line.starts_with('}') {
            kernel.clear();
        } else if let Some((_, rest)) = code.split_once(".entry ") {
            kernel = function_name(rest).to_string();
            report.entries.push(kernel.clone());
        } else if let Some(rest) = code.trim_start_matches(".visible ").strip_prefix(".func") {
            kernel = function_name(rest).to_string();
        }
        for statement in code.split(';').map(str::trim).filter(|s| !s.is_empty()) {
            read_statement(statement, &kernel, &mut report);
        }
    }
    report.findings.extend(divergent(ptx));
    // What is wrong comes before what is slow.
    report.findings.sort_by_key(|finding| finding.kind.min(Kind::Generic));
    let is_meant =
        |f: &Finding| allowed.iter().any(|&(name, kind)| kind == f.kind && matches(name, &f.kernel));
    report.findings.retain(|f| !is_meant(f));
    for Finding { kernel, kind, text } in report.findings.extract_if(.., |f| f.kind.fault().is_some()) {
        let why = kind.fault().unwrap_or_default();
        report.faults.push(format!("{kernel}: {text}: {why}. If it is meant: //@allow {kernel} {kind}"));
    }
    if report.entries.is_empty() {
        report.faults.push(NO_KERNELS.into());
    }
    for name in one_barrier {
        let n = report.barriers.get(name).copied().unwrap_or(0);
        if !report.entries.contains(name) {
            report.faults.push(format!("the canary kernel {name} is missing"));
        } else if n != 1 {
            report.faults.push(format!("{name} holds {n} barriers, not 1: barriers are copied or lost"));
        }
    }
    report
}

/// Returns the collectives under conditions on the thread's index.
fn divergent(ptx: &str) -> Vec<Finding> {
    let functions = divergence::functions(ptx);
    let with_barriers = divergence::functions_with_barriers(&functions);
    let mut found = Vec::new();
    for function in functions.iter().filter(|function| function.is_kernel) {
        for divergent in divergence::find(&function.body, &with_barriers) {
            let text = format!("{} after {}", divergent.collective, divergent.condition);
            found.push(Finding { kernel: function.name.clone(), kind: Kind::Divergent, text });
        }
    }
    found
}

/// Returns whether a name, or a `*PART*` of one, matches a kernel.
fn matches(name: &str, kernel: &str) -> bool {
    match name.strip_prefix('*').and_then(|rest| rest.strip_suffix('*')) {
        Some(part) => kernel.contains(part),
        None => name == kernel,
    }
}

fn allowances<'a>(ptx: &'a str, faults: &mut Vec<String>) -> BTreeSet<(&'a str, Kind)> {
    let mut allowed = BTreeSet::new();
    for words in comments(ptx, "allow") {
        match (words.as_slice(), words.get(1).and_then(|word| Kind::parse(word))) {
            ([kernel, _], Some(kind)) => {
                allowed.insert((*kernel, kind));
            }
            _ => {
                let kinds = Kind::ALL.map(|kind| kind.to_string()).join("|");
                faults.push(format!("allow must be NAME {kinds}, not `{}`", words.join(" ")));
            }
        }
    }
    allowed
}

/// Reads one statement, without its semicolon.
fn read_statement(statement: &str, kernel: &str, report: &mut Report) {
    if [".file", ".loc", ".section"].contains(&statement.split_whitespace().next().unwrap_or("")) {
        return; // names of source files, not of functions
    }
    if statement.contains("llvm.") {
        report.faults.push(format!("{kernel}: an intrinsic that this LLVM does not know: {statement}"));
    }
    if let Some(rest) = statement.strip_prefix(".extern .func") {
        let name = function_name(rest);
        if !DRIVER_FUNCTIONS.contains(&name) {
            report.faults.push(format!("an undefined function: {name}"));
        }
    }
    // Inline assembly may open a scope and guard the instruction: `{ @%p1 ld.b32 ..`.
    let mut words = statement.split_whitespace().skip_while(|w| *w == "{" || w.starts_with('@'));
    let op = words.next().unwrap_or("");
    if BARRIERS.iter().any(|barrier| op.starts_with(barrier)) {
        *report.barriers.entry(kernel.to_string()).or_insert(0) += 1;
    }
    // What compares bytes of any memory is generic by nature. What ends a kernel costs nothing before.
    let is_meant = COMPARISONS.contains(&kernel)
        || kernel.contains(FAILURE)
        || op.starts_with("call") && statement.contains(FAILURE);
    if let Some(kind) = finding(op).filter(|_| !is_meant) {
        report.findings.push(Finding { kernel: kernel.to_string(), kind, text: statement.to_string() });
    }
}

fn finding(op: &str) -> Option<Kind> {
    let mut parts = op.split('.');
    match parts.next()? {
        "ld" | "st" | "atom" | "red" => {
            let named = parts.any(|p| SPACES.contains(&p.split("::").next().unwrap_or("")));
            (!named).then_some(Kind::Generic)
        }
        "call" => Some(Kind::Call),
        "" if op == ".local" => Some(Kind::Local),
        _ => None,
    }
}

/// A text, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub struct Parts {
    /// Everything that belongs to no kernel.
    pub common: String,
    /// The kernels, in the text's order.
    pub kernels: Vec<Kernel>,
}

/// A kernel's own part of a text.
#[derive(Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Number of bytes of the common part before it.
    pub at: usize,
    /// From its header to its closing brace.
    pub text: String,
}

/// Takes a finished text apart. A kernel is an `.entry` up to a brace at the start of a line.
pub fn split(ptx: &str) -> Parts {
    let mut parts = Parts { common: String::new(), kernels: Vec::new() };
    let mut inside = false;
    for line in ptx.lines() {
        if let Some(rest) = line.strip_prefix(".visible .entry ") {
            let (name, at) = (function_name(rest).to_string(), parts.common.len());
            parts.kernels.push(Kernel { name, at, text: String::new() });
            inside = true;
        }
        let part = match parts.kernels.last_mut() {
            Some(kernel) if inside => &mut kernel.text,
            _ => &mut parts.common,
        };
        part.push_str(line);
        part.push('\n');
        inside &= line != "}";
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a kernel as LLVM writes it, with this body.
    fn kernel(name: &str, body: &str) -> String {
        format!(".visible .entry {name}(\n\t.param .u64 {name}_param_0\n)\n{{\n{body}\n\tret;\n\n}}\n")
    }

    fn check_body(body: &str) -> Report {
        check(&kernel("k", body), &[], Vec::new())
    }

    #[test]
    fn good_text_has_no_faults_and_no_findings() {
        let report = check_body(
            "\tld.param.b64 \t%rd1, [k_param_0];\n\tld.global.nc.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];\n\
             \tst.shared::cta.b32 [%r1], 1;\n\tatom.relaxed.sys.global.add.u32 %r1, [%rd1], 1; // ld.b32 llvm.x\n\
             \tbar.warp.sync -1;\n\tbar.sync \t0;",
        );
        assert_eq!(report.entries, ["k"]);
        assert!(report.faults.is_empty() && report.findings.is_empty(), "{report}");
        assert_eq!(report.barriers["k"], 1);
        assert_eq!(report.summary(), None);
    }

    #[test]
    fn what_would_not_load_is_a_fault() {
        assert_eq!(check_body("\tcall.uni llvm.nvvm.nothing, ();").faults.len(), 1);
        let declared = |f: &str| {
            check(
                &format!("{}.extern .func  (.param .b32 r) {f}\n(\n)\n;\n", kernel("k", "")),
                &[],
                Vec::new(),
            )
            .faults
        };
        assert!(declared("vprintf").is_empty());
        assert_eq!(declared("memcpy"), ["an undefined function: memcpy"]);
    }

    #[test]
    fn slow_code_is_found_with_its_kernel() {
        let body = "\t.local .align 8 .b8 \t__local_depot0[32];\n\tld.b32 \t%r1, [%rd1];\n\
                    \t{ @%p1 atom.add.u32 %r1, [%rd1], 1; }\n\tcall.uni (r), f, (a);";
        let report = check_body(body);
        let kinds: Vec<Kind> = report.findings.iter().map(|f| f.kind).collect();
        assert_eq!(kinds, [Kind::Local, Kind::Generic, Kind::Generic, Kind::Call]);
        assert!(report.findings.iter().all(|f| f.kernel == "k"));
        let summary = report.summary().unwrap();
        assert!(summary.starts_with("2 generic, 1 local, 1 call (first: k: .local"), "{summary}");
    }

    #[test]
    fn a_text_without_kernels_says_what_to_write() {
        let faults = check(".func f(\n)\n{\n\tret;\n}\n", &[], Vec::new()).faults;
        assert!(faults.len() == 1 && faults[0].contains("#[kernel]"), "{faults:?}");
    }

    #[test]
    fn what_goes_wrong_is_a_fault_unless_it_is_meant() {
        let found = |kind| vec![Finding { kernel: "k".into(), kind, text: "code".into() }];
        for kind in [Kind::Copied, Kind::Assembly, Kind::Ordering] {
            let report = check(&kernel("k", ""), &[], found(kind));
            assert!(report.findings.is_empty() && report.faults[0].starts_with("k: code: "), "{report}");
            assert!(report.faults[0].ends_with(&format!("//@allow k {kind}")), "{report}");
            let meant = format!("//@allow k {kind}\n{}", kernel("k", ""));
            let report = check(&meant, &[], found(kind));
            assert!(report.findings.is_empty() && report.faults.is_empty(), "{report}");
        }
        let report = check(&kernel("k", ""), &[], found(Kind::Remainder));
        assert!(report.faults.is_empty() && report.findings.len() == 1, "{report}");
    }

    #[test]
    fn a_barrier_of_some_threads_is_found() {
        let text = kernel(
            "k",
            "\tmov.u32 %r1, %tid.x;\n\tsetp.gt.u32 %p1, %r1, 3;\n\t@%p1 bra $L;\n\tbar.sync 0;\n$L:",
        );
        let report = check(&text, &[], Vec::new());
        assert_eq!(report.findings.len(), 1);
        assert_eq!(report.findings[0].text, "bar.sync 0 after setp.gt.u32 %p1, %r1, 3");
    }

    #[test]
    fn an_allow_comment_silences_one_kind_in_one_kernel() {
        let slow = "\tld.b32 \t%r1, [%rd1];\n\tcall.uni f, ();";
        let text = format!("\t//@allow a generic\n{}{}", kernel("a", slow), kernel("b", slow));
        let left: Vec<_> =
            check(&text, &[], Vec::new()).findings.into_iter().map(|f| (f.kernel, f.kind)).collect();
        let expected = [("a", Kind::Call), ("b", Kind::Generic), ("b", Kind::Call)];
        assert_eq!(left, expected.map(|(k, kind)| (k.to_string(), kind)));
        assert_eq!(check(&format!("//@allow k speed\n{}", kernel("k", "")), &[], Vec::new()).faults.len(), 1);
        let text = format!("\t//@allow *a* generic\n{}{}", kernel("bar", slow), kernel("b", slow));
        let left: Vec<_> =
            check(&text, &[], Vec::new()).findings.into_iter().map(|f| (f.kernel, f.kind)).collect();
        let expected = [("bar", Kind::Call), ("b", Kind::Generic), ("b", Kind::Call)];
        assert_eq!(left, expected.map(|(k, kind)| (k.to_string(), kind)));
    }

    #[test]
    fn braces_inside_a_kernel_do_not_end_it() {
        let report =
            check_body("\t{ // callseq 0, 0\n\tcall.uni f, ();\n\t} // callseq 0, 0\n\tbar.sync \t0;");
        assert_eq!(report.findings.iter().map(|f| f.kernel.as_str()).collect::<Vec<_>>(), ["k"]);
        assert_eq!(report.barriers["k"], 1);
    }

    #[test]
    fn a_canary_needs_exactly_one_barrier() {
        let faults = |body: &str| check(&kernel("k", body), &["k".to_string()], Vec::new()).faults.len();
        assert_eq!(faults("\tbar.sync \t0;"), 0);
        assert_eq!(faults("\tbarrier.sync \t0;"), 0);
        assert_eq!(faults(""), 1);
        assert_eq!(faults("\tbar.sync \t0;\n\tbar.sync \t0;"), 1);
        assert_eq!(check(&kernel("other", "\tbar.sync 0;"), &["k".to_string()], Vec::new()).faults.len(), 1);
    }

    #[test]
    fn barriers_of_a_function_are_not_the_kernels() {
        let text = format!(".func f(\n)\n{{\n\tbar.sync 0;\n}}\n{}", kernel("k", "\tbar.sync 0;"));
        assert_eq!(check(&text, &["k".to_string()], Vec::new()).faults, Vec::<String>::new());
    }

    #[test]
    fn finish_adds_launch_bounds_once() {
        let text = format!("\t//@launch_bounds k 256 2\n\t//@launch_bounds k 256 2\n{}", kernel("k", ""));
        let done = finish(&text, "sm_70").unwrap();
        assert!(done.contains("\n)\n.maxntid 256, 1, 1\n.minnctapersm 2\n{\n"), "{done}");
        assert_eq!(done.matches(".maxntid").count(), 1);
        let threads_only = finish(&format!("//@launch_bounds k 64\n{}", kernel("k", "")), "sm_70").unwrap();
        assert!(threads_only.contains(".maxntid 64, 1, 1\n{"));
    }

    #[test]
    fn finish_refuses_launch_bounds_that_cannot_be_followed() {
        let refused =
            |comments: &str| finish(&format!("{comments}\n{}", kernel("k", "")), "sm_70").unwrap_err();
        assert!(refused("//@launch_bounds other 256 2").contains("does not exist: other"));
        assert!(refused("//@launch_bounds k many").contains("must be NAME"));
        assert!(refused("//@launch_bounds k 1 1\n//@launch_bounds k 2 1").contains("two different"));
    }

    #[test]
    fn finish_strips_debug_from_the_target_line_only() {
        let done = finish(".target sm_90, debug\n.file 1 \"debug\"\n", "sm_90").unwrap();
        assert_eq!(done, ".target sm_90\n.file 1 \"debug\"\n");
    }

    #[test]
    fn lines_can_be_taken_out() {
        let text = "\t.file\t1 \"a.rs\"\n$L__func_begin0:\n\t.loc\t1 22 0\n\t.local .b8 \td[8];\n\tret;\n$L__tmp1:\n$L__BB0_1:\n}\n\
                    \t.section\t.debug_info\n\t{\n.b8 1\n\t}\n\t.section\t.debug_macinfo\t{\t}\n// end\n";
        assert_eq!(without_lines(text), "\t.local .b8 \td[8];\n\tret;\n$L__BB0_1:\n}\n// end\n");
    }

    #[test]
    fn comparisons_of_slices_are_defined() {
        let head =
            ".extern .func  (.param .b32 func_retval0) memcmp\n(\n\t.param .b64 memcmp_param_0\n)\n;\n";
        let text = finish(&format!("{head}{}", kernel("k", "")), "sm_70").unwrap();
        assert!(
            text.starts_with(".func  (.param .b32 func_retval0) memcmp\n(") && !text.contains("NAME"),
            "{text}"
        );
        assert!(check(&text, &[], Vec::new()).faults.is_empty());
        // Whoever defines it is right.
        let own = format!("{head}.func  (.param .b32 func_retval0) memcmp (\n)\n{{\n}}\n{}", kernel("k", ""));
        assert_eq!(finish(&own, "sm_70").unwrap().matches("memcmp").count(), 1);
    }

    #[test]
    fn the_types_of_parameters_become_a_comment() {
        let array = |name: &str, rest: &str| {
            format!(".visible .global .align 1 .b8 warpsmith_signature_{name}{rest};\n")
        };
        let others = kernel("scale_f32_twice", "");
        let text = format!(
            "{}{}{others}{}",
            array("scale_f32", "[6] = {102, 51, 50, 44, 32, 63}"),
            array("gone", "[1] = {63}"),
            kernel("scale_f32", "")
        );
        let done = finish(&text, "sm_70").unwrap();
        let body = kernel("scale_f32", "").replace("{\n", "{\n\t// parameters: f32, ?\n");
        assert_eq!(done, format!("{others}{body}"));
        let none = format!("{}.visible .entry k()\n{{\n\tret;\n}}\n", array("k", ""));
        assert_eq!(finish(&none, "sm_70").unwrap(), ".visible .entry k()\n{\n\t// parameters: \n\tret;\n}\n");
    }

    #[test]
    fn a_failed_assertion_is_no_finding() {
        let call = "\tcall.uni _RNvNtC_9warpsmith5print15___assert_failed, ();";
        assert!(check_body(call).findings.is_empty());
        assert_eq!(check_body("\tcall.uni f, ();").findings.len(), 1);
    }

    #[test]
    fn finish_drops_the_record_that_nothing_writes() {
        let record = ".visible .global .align 8 .b8 warpsmith_record[8];\n";
        let (unused, used) = (kernel("k", ""), kernel("k", "\tld.global.b64 %rd1, [warpsmith_record];"));
        assert_eq!(finish(&format!("{record}{unused}"), "sm_70").unwrap(), unused);
        let text = format!("{record}{used}");
        assert_eq!(finish(&text, "sm_70").unwrap(), text);
    }

    #[test]
    fn finish_drops_declarations_of_what_is_defined() {
        let declare = |f: &str| format!(".extern .func  (.param .b32 r) {f}\n(\n\t.param .b32 p\n)\n;\n");
        let text = format!("{}{}.func (.param .b32 r) f (\n)\n{{\n}}\n", declare("f"), declare("vprintf"));
        let done = finish(&text, "sm_70").unwrap();
        assert_eq!(done, format!("{}.func (.param .b32 r) f (\n)\n{{\n}}\n", declare("vprintf")));
    }

    #[test]
    fn a_text_is_kernels_and_what_is_common() {
        let (a, b) = (kernel("a", "\t{\n\t}"), kernel("b", ""));
        let text = format!(".version 7.0\n.func f(\n)\n{{\n}}\n{a}.global .b8 table[4];\n{b}{a}// end\n");
        let parts = split(&text);
        let table = ".version 7.0\n.func f(\n)\n{\n}\n".len();
        let end = table + ".global .b8 table[4];\n".len();
        let part = |name: &str, at, text: &str| Kernel { name: name.into(), at, text: text.into() };
        assert_eq!(parts.kernels, [part("a", table, &a), part("b", end, &b), part("a", end, &a)]);
        assert_eq!(parts.common, ".version 7.0\n.func f(\n)\n{\n}\n.global .b8 table[4];\n// end\n");
    }
}

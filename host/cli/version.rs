//! `antwarp --version`: what this program was built from, and what it found here.

use crate::exact::simplex::Highs;

/// Features that change what the program can do, and whether it has them.
const FEATURES: [(&str, bool); 5] = [
    ("cli", cfg!(feature = "cli")),
    ("cuda", cfg!(feature = "cuda")),
    ("highs", cfg!(feature = "highs")),
    ("mpi", cfg!(feature = "mpi")),
    ("serve", cfg!(feature = "serve")),
];

/// Describes the build in several lines, of which the first is the version. HiGHS is looked for, so this is made only for those who ask.
pub fn describe() -> String {
    // Those who package antwarp name the commit. Asking git would build everything again after each commit.
    let commit = option_env!("ANTWARP_COMMIT").filter(|commit| !commit.is_empty());
    let commit = commit.map_or_else(String::new, |commit| format!("commit {commit}, "));
    let build = format!("{commit}{}, {}", env!("ANTWARP_TARGET"), env!("ANTWARP_PROFILE"));
    let features: Vec<&str> = FEATURES.iter().filter(|(_, is_on)| *is_on).map(|(name, _)| *name).collect();
    let highs = match Highs::find() {
        Ok(highs) => format!("{}, {}", highs.version(), highs.origin()),
        Err(why) => format!("none: {why}"),
    };
    format!(
        "{}\nbuild     {build}\nfeatures  {}\nkernels   {}\nHiGHS     {highs}",
        env!("CARGO_PKG_VERSION"),
        features.join(", "),
        kernels(),
    )
}

#[cfg(feature = "cuda")]
fn kernels() -> String {
    match crate::backend::cuda::kernels() {
        Ok(facts) => facts.architectures.iter().map(|a| format!("sm_{a}")).collect::<Vec<_>>().join(", "),
        Err(_) => "none".to_owned(),
    }
}

#[cfg(not(feature = "cuda"))]
fn kernels() -> String {
    "none".to_owned()
}

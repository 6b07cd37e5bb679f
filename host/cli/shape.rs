//! Options for the shape of tours: open paths and their ends, fixed edges, forbidden pairs.

use std::path::Path;

use super::{Error, Result};
use crate::instance::{Ends, Instance, NodeNames, pairs};

/// What tours must look like, in addition to what the file of the instance says.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Tour")]
pub struct ShapeArgs {
    /// An open path instead of a closed tour
    #[arg(long)]
    open: bool,
    /// The node where the tour starts, by its number or name in the file
    #[arg(long, value_name = "NODE")]
    start: Option<String>,
    /// The node where the path ends; implies --open
    #[arg(long, value_name = "NODE")]
    end: Option<String>,
    /// An edge that the tour must use, from A to B if edges are directed; or a file with two nodes in each line. Can be repeated
    #[arg(long, value_name = "A,B|FILE")]
    fix: Vec<String>,
    /// An edge that the tour must not use, given in the same way
    #[arg(long, value_name = "A,B|FILE")]
    forbid: Vec<String>,
}

impl ShapeArgs {
    /// Gives an instance this shape, in addition to its own fixed edges and forbidden pairs. Also returns the node of `--start`, from 0,
    /// if it is given.
    ///
    /// # Errors
    /// If a node does not exist, a file of edges cannot be read, or no tour can have this shape.
    pub fn apply(&self, instance: Instance) -> Result<(Instance, Option<u32>)> {
        let nodes = NodeNames::new(&instance);
        let node = |name: &Option<String>| name.as_ref().map(|name| nodes.node(name)).transpose();
        let (start, end) = (node(&self.start)?, node(&self.end)?);
        let all = |texts: &[String]| -> Result<Vec<(u32, u32)>> {
            let given = texts.iter().map(|text| pairs::given(text, &nodes));
            Ok(given.collect::<std::result::Result<Vec<_>, _>>()?.concat())
        };
        let (more, forbidden) = (all(&self.fix)?, all(&self.forbid)?);
        let mut fixed = instance.fixed_edges().to_vec();
        fixed.extend(more);
        let ends = (self.open || self.end.is_some()).then_some(Ends { start, end });
        let instance = instance.with_fixed_edges(fixed).with_forbidden_pairs(forbidden)?.with_ends(ends);
        instance.check_shape()?;
        Ok((instance, start))
    }

    /// Rejects a start of closed tours, for commands to which it makes no difference.
    ///
    /// # Errors
    /// [`Error::Usage`] for `--start` with neither `--open` nor `--end`.
    pub fn refuse_start_alone(&self) -> Result<()> {
        if self.start.is_none() || self.open || self.end.is_some() {
            return Ok(());
        }
        let why = "--start does nothing here without --open: a closed tour has no start".to_owned();
        Err(Error::Usage(why))
    }

    /// Returns the existing files that `--fix` and `--forbid` name, each after a description.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let fixed = self.fix.iter().map(|text| ("a file of fixed edges", text));
        let given = fixed.chain(self.forbid.iter().map(|text| ("a file of forbidden edges", text)));
        given.map(|(what, text)| (what, Path::new(text))).filter(|(_, path)| path.is_file())
    }
}

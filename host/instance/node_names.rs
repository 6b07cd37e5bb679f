//! Nodes by the numbers and names that their file gives them.

use std::collections::HashMap;

use super::error::{InstanceError, Result};
use super::model::{Instance, NodeNumbers};

/// The nodes of an instance by number and name.
pub struct NodeNames<'a> {
    instance: &'a Instance,
    numbers: NodeNumbers,
    /// The first node with this name, and another one if there is any.
    names: HashMap<&'a str, (u32, Option<u32>)>,
}

impl<'a> NodeNames<'a> {
    /// Creates the mapping of an instance.
    pub fn new(instance: &'a Instance) -> NodeNames<'a> {
        let mut names = HashMap::new();
        for (node, name) in (0..).zip(instance.names().unwrap_or_default()) {
            let known = names.entry(name.as_str()).or_insert((node, None));
            if known.0 != node {
                known.1.get_or_insert(node);
            }
        }
        NodeNames { instance, numbers: instance.node_numbers(), names }
    }

    /// Returns the instance.
    pub fn instance(&self) -> &'a Instance {
        self.instance
    }

    /// Returns the node with this number or name. A text that is the name of a node is taken as that name.
    ///
    /// # Errors
    /// If no node, or more than one, has this number or name.
    pub fn node(&self, text: &str) -> Result<u32> {
        let instance = self.instance;
        let refuse = |problem: String, help: String| {
            Err(InstanceError::content(instance.name().to_owned(), problem, help))
        };
        match self.names.get(text) {
            Some(&(node, None)) => return Ok(node),
            Some(&(one, Some(other))) => {
                let [one, other] = [one, other].map(|node| instance.id(node));
                let help = format!("give the number of the one you mean, such as {one} or {other}");
                return refuse(format!("several nodes are named {text}"), help);
            }
            None => {}
        }
        if let Some(node) = text.parse().ok().and_then(|id| self.numbers.node(id)) {
            return Ok(node);
        }
        let (first, last) = (instance.label(0), instance.label(instance.len() as u32 - 1));
        let help = if first == last {
            "give the number of a node".to_owned()
        } else {
            format!("give a node's name in the file, such as {first} or {last}, or its number")
        };
        refuse(format!("there is no node {text}"), help)
    }
}

impl Instance {
    /// As [`NodeNames::node`], for a single node.
    ///
    /// # Errors
    /// If no node, or more than one, has this number or name.
    pub fn node_named(&self, text: &str) -> Result<u32> {
        NodeNames::new(self).node(text)
    }
}

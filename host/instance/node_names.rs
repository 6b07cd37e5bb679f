//! Nodes by the numbers and names that their file gives them.

use std::collections::HashMap;

use super::error::{InstanceError, Result, printable};
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

    /// Returns the instance that it was created for.
    pub fn instance(&self) -> &'a Instance {
        self.instance
    }

    /// Returns the node with this number or name, if there is exactly one. For those who try many texts: the error of
    /// [`NodeNames::node`] takes a look at all names.
    pub(super) fn find(&self, text: &str) -> Option<u32> {
        match self.names.get(text) {
            Some(&(node, None)) => Some(node),
            Some((_, Some(_))) => None,
            None => text.parse().ok().and_then(|id| self.numbers.node(id)),
        }
    }

    /// Returns the node with this number or name. A text that is the name of a node is taken as that name.
    ///
    /// # Errors
    /// If no node, or more than one, has this number or name.
    pub fn node(&self, text: &str) -> Result<u32> {
        if let Some(node) = self.find(text) {
            return Ok(node);
        }
        let instance = self.instance;
        let refuse = |problem: String, help: String| {
            Err(InstanceError::content(instance.name().to_owned(), problem, help))
        };
        if let Some(&(one, Some(other))) = self.names.get(text) {
            let [first, second] = [one, other].map(|node| instance.id(node).to_string());
            let help = if self.find(&first) == Some(one) && self.find(&second) == Some(other) {
                format!("give the number of the one you mean, such as {first} or {second}")
            } else {
                "give each of them another name in the file: a number of theirs is the name of a node, too"
                    .to_owned()
            };
            return refuse(format!("several nodes are named {text}"), help);
        }
        let (first, last) = (instance.label(0), instance.label(instance.len() as u32 - 1));
        let similar = self.similar(text);
        let help = if !similar.is_empty() {
            let names: Vec<String> = similar.iter().map(|name| format!("`{}`", printable(name))).collect();
            let listed = match names.split_last() {
                Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
                _ => names.concat(),
            };
            format!("did you mean {}? Give a node's name as it is in the file, or its number", listed)
        } else if first == last {
            "give the number of a node".to_owned()
        } else {
            format!("give a node's name in the file, such as {first} or {last}, or its number")
        };
        refuse(format!("there is no node {text}"), help)
    }

    /// Returns up to three names that may be meant by this text, the most similar first. Letters may be in either case.
    fn similar(&self, text: &str) -> Vec<&'a str> {
        let text = text.trim().to_lowercase();
        if text.is_empty() {
            return Vec::new();
        }
        // The same name, else names that begin with the text, else those that have it in them or are in it, else those with a few
        // other letters: at most a third.
        let distance = |name: &str| {
            let name = name.to_lowercase();
            let [letters, others] = [&text, &name].map(|text| text.chars().count());
            let is_within = name.contains(&text) || others > 2 && text.contains(&name);
            match strsim::osa_distance(&text, &name) {
                0 => Some((0, 0)),
                _ if name.starts_with(&text) => Some((1, others)),
                _ if is_within => Some((2, letters.abs_diff(others))),
                count if count <= letters / 3 => Some((3, count)),
                _ => None,
            }
        };
        let mut found: Vec<_> =
            self.names.iter().filter_map(|(name, &(node, _))| Some((distance(name)?, node, *name))).collect();
        found.sort_unstable();
        let Some(&((best, _), ..)) = found.first() else { return Vec::new() };
        found.into_iter().take_while(|((rank, _), ..)| *rank == best).take(3).map(|(.., name)| name).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_comes_before_a_number() {
        let names = ["1", "1", "A", "A", "3"];
        let places = (0..names.len()).map(|at| [at as f64, 0.0]).collect::<Vec<_>>();
        let instance = Instance::euclidean(&places).unwrap().with_names(names.map(str::to_owned).to_vec());
        let nodes = NodeNames::new(&instance);
        assert_eq!(nodes.node("3").unwrap(), 4);
        // Without a name that is 2, it is a number.
        assert_eq!(nodes.node("2").unwrap(), 1);
        let help = |text: &str| nodes.node(text).unwrap_err().remedy().to_owned();
        // Their numbers would not be taken as numbers.
        for text in ["1", "A"] {
            assert!(help(text).starts_with("give each of them another name"), "{}", help(text));
        }
        let places = &places[..2];
        let two = Instance::euclidean(places).unwrap().with_names(vec!["A".to_owned(); 2]);
        let help = two.node_named("A").unwrap_err().remedy().to_owned();
        assert_eq!(help, "give the number of the one you mean, such as 1 or 2");
    }

    #[test]
    fn a_name_with_a_slip_is_answered_by_those_that_are_similar() {
        let names = ["Depot North", "Depot North", "Depot South", "Müller, Ulm", "Baker Street 5", "C"];
        let places = (0..names.len()).map(|at| [at as f64, 0.0]).collect::<Vec<_>>();
        let instance = Instance::euclidean(&places).unwrap().with_names(names.map(str::to_owned).to_vec());
        let nodes = NodeNames::new(&instance);
        let help = |text: &str| nodes.node(text).unwrap_err().remedy().to_owned();
        let similar = |text: &str| nodes.similar(text);
        assert_eq!(similar("Depot"), ["Depot North", "Depot South"]);
        assert_eq!(similar("depot south"), ["Depot South"]);
        assert_eq!(similar("Depto North")[0], "Depot North");
        assert_eq!(similar("MÜLLER"), ["Müller, Ulm"]);
        assert_eq!(similar("street 5"), ["Baker Street 5"]);
        assert_eq!(similar("Baker Street 5, London"), ["Baker Street 5"]);
        assert_eq!(similar("c"), ["C"]);
        for other in ["Warehouse", "X", "17"] {
            assert_eq!(similar(other), Vec::<&str>::new(), "{other}");
        }
        assert_eq!(similar(" "), Vec::<&str>::new());
        assert!(
            help("Depot").starts_with("did you mean `Depot North` or `Depot South`?"),
            "{}",
            help("Depot")
        );
        assert!(help("Warehouse").starts_with("give a node's name"), "{}", help("Warehouse"));
        let numbers = Instance::euclidean(&places).unwrap();
        assert!(numbers.node_named("17").unwrap_err().remedy().starts_with("give a node's name in the file"));
    }
}

//! The kernels in a program: what the build script writes, and how it is unpacked.

use core::ops::Range;
use std::format;
use std::io::{BufRead as _, BufReader, Read as _};
use std::string::String;

use flate2::bufread::DeflateDecoder;

use super::{Error, Result};

/// The kernels that a build script compiled.
#[derive(Debug)]
pub struct Images {
    /// The same kernels, for several architectures.
    pub texts: &'static [Image],
    /// Why the program has no kernels, and the remedy.
    pub missing: Option<&'static str>,
    /// The compiler that made them.
    pub compiler: Option<&'static str>,
}

/// A PTX text for one architecture: what belongs to all kernels, and a part for each, compressed separately.
///
/// The driver compiles whatever it is given, so only the kernel that is needed is unpacked and loaded.
#[derive(Debug)]
pub struct Image {
    /// Ten times the compute capability that it needs.
    pub capability: u32,
    /// All parts, compressed.
    pub packed: &'static [u8],
    /// Where the common part is in `packed`.
    pub common: Range<usize>,
    /// The kernels, in the order of the text.
    pub parts: &'static [Part],
}

/// A kernel's own part of a text.
#[derive(Debug)]
pub struct Part {
    /// The kernel's name.
    pub name: &'static str,
    /// Number of bytes of the common part before it.
    pub at: usize,
    /// Where it is in the packed text.
    pub packed: Range<usize>,
}

impl Images {
    /// Returns no kernels, and why.
    pub const fn none(why: &'static str) -> Self {
        Images { texts: &[], missing: Some(why), compiler: None }
    }
}

impl Image {
    /// Returns the kernels' names, in the text's order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.parts.iter().map(|part| part.name)
    }

    /// Returns the text with one kernel and everything that belongs to none.
    ///
    /// # Errors
    /// If there is no such kernel, or the packed text is damaged.
    pub fn only(&self, name: &str) -> Result<String> {
        let part = self.parts.iter().find(|part| part.name == name);
        let part = part.ok_or_else(|| Error::NoSuchKernel(name.into()))?;
        self.join(core::slice::from_ref(part))
    }

    /// Returns the whole text.
    ///
    /// # Errors
    /// If the packed text is damaged.
    pub fn text(&self) -> Result<String> {
        self.join(self.parts)
    }

    /// Returns the version of PTX in which it is written, and whether it is for a single architecture, whose name ends in `a`: that one
    /// runs on no newer device.
    pub(crate) fn head(&self) -> Result<((u32, u32), bool)> {
        let (mut version, mut target) = (None, None);
        // They are among the first lines: the rest need not be unpacked.
        for line in BufReader::new(self.unpacker(&self.common)?).lines() {
            let line = line.map_err(|error| damaged(&format!("{error}")))?;
            if let Some(text) = line.trim().strip_prefix(".version ") {
                let numbers = text.trim().split_once('.');
                version = numbers.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
            } else if let Some(text) = line.trim().strip_prefix(".target ") {
                // Options follow after a comma.
                target = text.split(',').next().map(|name| name.trim().ends_with('a'));
            }
            if let (Some(version), Some(target)) = (version, target) {
                return Ok((version, target));
            }
        }
        Err(damaged("it names no version of PTX, or no architecture"))
    }

    fn join(&self, parts: &[Part]) -> Result<String> {
        let common = self.unpack(&self.common)?;
        let (mut text, mut done) = (String::new(), 0);
        for part in parts {
            text.push_str(common.get(done..part.at).ok_or_else(|| damaged("its parts do not fit together"))?);
            text.push_str(&self.unpack(&part.packed)?);
            done = part.at;
        }
        text.push_str(&common[done..]);
        Ok(text)
    }

    fn unpack(&self, stream: &Range<usize>) -> Result<String> {
        let mut text = String::new();
        let unpacked = self.unpacker(stream)?.read_to_string(&mut text);
        unpacked.map_err(|error| damaged(&format!("{error}")))?;
        Ok(text)
    }

    fn unpacker(&self, stream: &Range<usize>) -> Result<DeflateDecoder<&'static [u8]>> {
        let packed = self.packed.get(stream.clone()).ok_or_else(|| damaged("it is too short"))?;
        Ok(DeflateDecoder::new(packed))
    }
}

fn damaged(why: &str) -> Error {
    Error::NoKernels(format!("the embedded PTX is damaged ({why}): build again"))
}

/// Returns the CUDA version whose driver first reads this version of PTX.
pub(crate) fn driver_for(ptx: (u32, u32)) -> (u32, u32) {
    match ptx {
        (6, 0) => (9, 0),
        (6, minor @ 1..=2) => (9, minor),
        (6, 3) => (10, 0),
        (6, 4) => (10, 1),
        (6, _) => (10, 2),
        // PTX 8.6 came with CUDA 12.7, one minor version later than the rule has it, and so do the rest of them.
        (8, minor @ 6..) => (12, minor + 1),
        (major, minor) => (major + 4, minor),
    }
}

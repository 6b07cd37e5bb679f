// The header of the module that a host includes: it is followed by the texts, as values of these types. It becomes part of the
// host's source, so this has to be an ordinary comment; its tests are in embed.rs.

/// A PTX text for one architecture: each kernel's own part and the common part, each compressed separately.
///
/// The driver compiles whatever it is given. Passing only the kernels of a run keeps start-up short, and so does decompressing no
/// others.
#[derive(Debug)]
pub struct Ptx {
    /// Ten times the compute capability that it needs. A text for an architecture with the letter `a` runs on no newer device.
    pub capability: u32,
    pub(super) packed: &'static [u8],
    pub(super) common: std::ops::Range<usize>,
    pub(super) kernels: &'static [Part],
}

/// A kernel's own part of a text.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: &'static str,
    /// Number of bytes of the common part before it.
    pub(super) at: usize,
    pub(super) packed: std::ops::Range<usize>,
}

impl Ptx {
    /// Returns the kernels' names, in the text's order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.kernels.iter().map(|kernel| kernel.name)
    }

    /// Returns the text with only one kernel and everything that belongs to no kernel; `None` if there is no such kernel.
    pub fn only(&self, name: &str) -> Option<String> {
        let kernel = self.kernels.iter().find(|kernel| kernel.name == name)?;
        Some(self.join(std::slice::from_ref(kernel)))
    }

    /// Returns the whole text.
    pub fn text(&self) -> String {
        self.join(self.kernels)
    }

    fn join(&self, kernels: &[Part]) -> String {
        let common = self.unpack(&self.common);
        let (mut text, mut done) = (String::new(), 0);
        for kernel in kernels {
            text.push_str(&common[done..kernel.at]);
            text.push_str(&self.unpack(&kernel.packed));
            done = kernel.at;
        }
        text.push_str(&common[done..]);
        text
    }

    fn unpack(&self, stream: &std::ops::Range<usize>) -> String {
        let mut text = String::new();
        let mut unpacked = flate2::bufread::DeflateDecoder::new(&self.packed[stream.clone()]);
        std::io::Read::read_to_string(&mut unpacked, &mut text).expect("a stream that the build packed");
        text
    }
}

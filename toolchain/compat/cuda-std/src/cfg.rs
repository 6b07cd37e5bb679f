//! The architecture that a kernel is compiled for.

/// An architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum ComputeCapability {
    Compute35,
    Compute37,
    Compute50,
    Compute52,
    Compute53,
    Compute60,
    Compute61,
    Compute62,
    Compute70,
    Compute72,
    Compute75,
    Compute80,
    Compute86,
    Compute87,
    Compute89,
    Compute90,
    Compute100,
    Compute120,
}

impl ComputeCapability {
    /// Returns the architecture that the kernels are compiled for, or the last one listed before it, as a constant by which branches are
    /// decided at compile time; on a host `Compute70`.
    #[inline(always)]
    pub fn from_cuda_arch_env() -> Self {
        match warpsmith::architecture() {
            ..72 => Self::Compute70,
            72..75 => Self::Compute72,
            75..80 => Self::Compute75,
            80..86 => Self::Compute80,
            86 => Self::Compute86,
            87..89 => Self::Compute87,
            89 => Self::Compute89,
            90..100 => Self::Compute90,
            100..120 => Self::Compute100,
            120.. => Self::Compute120,
        }
    }
}

//! The architectures that kernels can be compiled for.

macro_rules! architectures {
    ($($name:ident $target:literal $ptx:literal;)*) => {
        /// The oldest architecture that is to run the kernels.
        ///
        /// Kernels are compiled for Volta at the oldest: what is named for a device before it, is compiled for Volta. Kernels for one with
        /// the letter `a` run on that architecture alone.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs)]
        #[non_exhaustive]
        pub enum NvvmArch {
            $($name,)*
        }

        impl NvvmArch {
            /// Returns the architecture's name for the compiler.
            pub(crate) fn target(self) -> &'static str {
                match self {
                    $(Self::$name => $target,)*
                }
            }

            /// Returns the oldest version of PTX that has it, but 7.0 at least.
            pub(crate) fn ptx(self) -> &'static str {
                match self {
                    $(Self::$name => $ptx,)*
                }
            }
        }
    };
}

architectures! {
    Compute35 "sm_70" "ptx70";
    Compute37 "sm_70" "ptx70";
    Compute50 "sm_70" "ptx70";
    Compute52 "sm_70" "ptx70";
    Compute53 "sm_70" "ptx70";
    Compute60 "sm_70" "ptx70";
    Compute61 "sm_70" "ptx70";
    Compute62 "sm_70" "ptx70";
    Compute70 "sm_70" "ptx70";
    Compute72 "sm_72" "ptx70";
    Compute75 "sm_75" "ptx70";
    Compute80 "sm_80" "ptx70";
    Compute86 "sm_86" "ptx71";
    Compute87 "sm_87" "ptx74";
    Compute89 "sm_89" "ptx78";
    Compute90 "sm_90" "ptx80";
    Compute90a "sm_90a" "ptx80";
    Compute100 "sm_100" "ptx86";
    Compute100a "sm_100a" "ptx86";
    Compute101 "sm_101" "ptx86";
    Compute103 "sm_103" "ptx88";
    Compute120 "sm_120" "ptx87";
    Compute120a "sm_120a" "ptx87";
    Compute121 "sm_121" "ptx88";
}

impl NvvmArch {
    /// Returns whether it is older than what kernels are compiled for.
    pub(crate) fn is_too_old(self) -> bool {
        self < Self::Compute70
    }
}

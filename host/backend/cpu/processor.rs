//! Functions that are also compiled for newer processors.

/// Defines `$name`, which calls `$call`, through `$new` as code for newer processors where it runs on one: searches spend their
/// time on bit counts and vectors. `$call` must be inlined into it.
macro_rules! for_this_processor {
    ($name:ident, $new:ident, $call:path, [$($generic:ident: $bound:path),*], ($($argument:ident: $kind:ty),*) $(-> $result:ty)?) => {
        /// # Safety
        /// As the function of the same name in core.
        #[allow(clippy::too_many_arguments)]
        unsafe fn $name<$($generic: $bound),*>($($argument: $kind),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("popcnt")
            {
                // SAFETY: the processor has what it needs; else the caller's promise.
                return unsafe { $new::<$($generic),*>($($argument),*) };
            }
            // SAFETY: the caller's promise.
            unsafe { $call($($argument),*) }
        }

        /// # Safety
        /// As above; the processor has these features.
        #[allow(clippy::too_many_arguments)]
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
        unsafe fn $new<$($generic: $bound),*>($($argument: $kind),*) $(-> $result)? {
            // SAFETY: the caller's promise.
            unsafe { $call($($argument),*) }
        }
    };
}

pub(super) use for_this_processor;

//! Macros by rules. What the procedural macros expand to goes through them where it needs unstable features: code from a macro
//! with `allow_internal_unstable` may use them, so that users' crates declare none.

/// The entry of a kernel on the device.
#[cfg(target_os = "cuda")]
#[doc(hidden)]
#[macro_export]
#[allow_internal_unstable(abi_ptx)]
macro_rules! __entry {
    (
        $export:literal, $signature:literal, [$($forever:ty),*],
        [$($generics:tt)*], $function:expr, $(($first:ident $second:ident $held:ident $type:ty))*
    ) => {
        const TYPES: $crate::shape::Shape = $crate::shape::Shape::list(&[$(<$forever as $crate::Param>::SHAPE),*]);
        // The builder makes a comment of it, which the host compares with its own before a launch.
        #[unsafe(export_name = $signature)]
        static SIGNATURE: [u8; TYPES.len()] = TYPES.into_array();

        #[allow(improper_ctypes_definitions, clippy::too_many_arguments)]
        #[unsafe(export_name = $export)]
        pub unsafe extern "ptx-kernel" fn __entry $($generics)* (
            $($first: <$type as $crate::param::Param>::First, $second: <$type as $crate::param::Param>::Second,)*
        ) {
            $(
                // SAFETY: the host passes what `lower` made of an argument of this type.
                let mut $held = unsafe { <$type as $crate::param::Param>::hold($first, $second) };
            )*
            // SAFETY: a kernel that is unsafe is launched by an unsafe function.
            #[allow(unused_unsafe)]
            unsafe { ($function)($(<$type as $crate::param::Param>::take(&mut $held),)*) }
        }
    };
}

/// An array in shared memory: its declaration in PTX and its address.
#[cfg(target_os = "cuda")]
#[doc(hidden)]
#[macro_export]
#[allow_internal_unstable(asm_experimental_arch)]
macro_rules! __shared {
    ($type:ty, $name:literal) => {{
        mod __shared {
            #[allow(unused_imports)]
            use super::*;
            ::core::arch::global_asm!(
                concat!(".shared .align {a} .b8 ", $name, "[{n}];"),
                a = const {
                    let align = ::core::mem::align_of::<$type>();
                    if align > 16 { align } else { 16 }
                },
                n = const ::core::mem::size_of::<$type>(),
            );
        }
        // SAFETY: the address of the variable declared above, which has the size and alignment of the type.
        unsafe {
            let start: *mut u8;
            ::core::arch::asm!(
                concat!("mov.b64 {0}, ", $name, ";"),
                "cvta.shared.u64 {0}, {0};",
                out(reg64) start,
                options(pure, nomem, nostack, preserves_flags)
            );
            $crate::shared::__new::<$type>(start)
        }
    }};
}

/// An array in the shared memory of a simulated block.
#[cfg(not(target_os = "cuda"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __shared {
    ($type:ty, $name:literal) => {{
        // It can be written, so that no linker takes two for one.
        static SITE: ::core::sync::atomic::AtomicU8 = ::core::sync::atomic::AtomicU8::new(0);
        // SAFETY: memory of the block, made for this type and this place in the source.
        unsafe { $crate::shared::__new::<$type>($crate::shared::__of_site::<$type>(&SITE)) }
    }};
}

/// Keeps what only a host with its tools needs.
#[cfg(all(feature = "host", not(target_os = "cuda")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __host {
    ($($tokens:tt)*) => { $($tokens)* };
}

/// Keeps what only a host with its tools needs: here it is dropped.
#[cfg(not(all(feature = "host", not(target_os = "cuda"))))]
#[doc(hidden)]
#[macro_export]
macro_rules! __host {
    ($($tokens:tt)*) => {};
}

/// Declares `Kernels`, through which the host launches the kernels of this module and of those that have it in scope.
///
/// `module!()` contains the kernels that the crate's build script compiled. `module!(cpu)` has none, and runs on the simulated
/// device alone: for tests of device code without a build script.
#[cfg(all(feature = "host", not(target_os = "cuda")))]
#[macro_export]
macro_rules! module {
    () => {
        $crate::module!(@ unsafe {
            // What the build script wrote: data alone, of the types of `warpsmith::image`.
            static IMAGES: $crate::image::Images = include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
            &IMAGES
        });
    };
    (cpu) => {
        $crate::module!(@ unsafe {
            static IMAGES: $crate::image::Images = $crate::image::Images::none(
                "`module!(cpu)` declares kernels for the CPU alone: use `module!()`, and compile them in a build script",
            );
            &IMAGES
        });
    };
    // The images are those of the kernels that are to be launched: whoever writes this promises it by `unsafe`.
    (@ $unsafe:tt $images:expr) => {
        /// The kernels of this module, loaded for a device.
        #[derive(Clone, Debug)]
        pub struct Kernels($crate::Module);

        impl Kernels {
            /// Loads the kernels for a device.
            ///
            /// # Errors
            /// If the build has none, or the device or its driver is too old for them.
            pub fn load(device: &$crate::Device) -> $crate::Result<Self> {
                // SAFETY: the promise above.
                let module = $unsafe { $crate::Module::load(device, $images) };
                module.map(Kernels)
            }

            /// Returns the loaded module.
            pub fn module(&self) -> &$crate::Module {
                &self.0
            }
        }

        // SAFETY: the promise above.
        $unsafe impl $crate::Declared for Kernels {
            fn declared(&self) -> &$crate::Module {
                &self.0
            }
        }
    };
}

/// Declares nothing on the device.
#[cfg(not(all(feature = "host", not(target_os = "cuda"))))]
#[macro_export]
macro_rules! module {
    ($($tokens:tt)*) => {};
}

/// Ends the launch with an error that has the text, file, line, block and thread, if a condition does not hold.
///
/// The text is a literal without arguments. `core::assert!` does the same in kernels for debugging (`WARPSMITH_KERNEL_DEBUG=1`); other
/// kernels keep no text of it and only end.
#[cfg(target_os = "cuda")]
#[macro_export]
macro_rules! device_assert {
    ($condition:expr $(,)?) => {
        $crate::device_assert!($condition, concat!("assertion failed: ", stringify!($condition)))
    };
    ($condition:expr, $text:expr $(,)?) => {
        if !$condition {
            let text = const { $crate::print::__text(concat!($text, "\0")) };
            $crate::print::__assert_failed(
                text,
                const { $crate::print::__text(concat!(file!(), "\0")) },
                line!(),
                column!(),
            );
        }
    };
}

/// Ends the launch with an error that has the text, file, line, block and thread, if a condition does not hold.
///
/// The text is a literal without arguments. `core::assert!` does the same in kernels for debugging (`WARPSMITH_KERNEL_DEBUG=1`); other
/// kernels keep no text of it and only end.
#[cfg(not(target_os = "cuda"))]
#[macro_export]
macro_rules! device_assert {
    ($condition:expr $(,)?) => {
        ::core::assert!($condition)
    };
    ($condition:expr, $text:expr $(,)?) => {
        ::core::assert!($condition, "{}", $text)
    };
}

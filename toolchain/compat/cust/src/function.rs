//! Kernels, and the sizes of their launches.

use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::ptr;

pub use crate::context::{CacheConfig, SharedMemoryConfig};
use crate::error::{CudaError, CudaResult, call};
use crate::module::Module;
use crate::stream::Stream;
use crate::sys;

macro_rules! sizes {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name {
            /// Along x.
            pub x: u32,
            /// Along y.
            pub y: u32,
            /// Along z.
            pub z: u32,
        }

        impl $name {
            /// Makes a size of one dimension.
            #[inline]
            pub fn x(x: u32) -> Self {
                Self { x, y: 1, z: 1 }
            }

            /// Makes a size of two dimensions.
            #[inline]
            pub fn xy(x: u32, y: u32) -> Self {
                Self { x, y, z: 1 }
            }

            /// Makes a size of three dimensions.
            #[inline]
            pub fn xyz(x: u32, y: u32, z: u32) -> Self {
                Self { x, y, z }
            }
        }

        impl From<u32> for $name {
            fn from(x: u32) -> Self {
                Self::x(x)
            }
        }

        impl From<(u32, u32)> for $name {
            fn from((x, y): (u32, u32)) -> Self {
                Self::xy(x, y)
            }
        }

        impl From<(u32, u32, u32)> for $name {
            fn from((x, y, z): (u32, u32, u32)) -> Self {
                Self::xyz(x, y, z)
            }
        }

        impl From<&Self> for $name {
            fn from(other: &Self) -> Self {
                *other
            }
        }

        #[cfg(feature = "impl_glam")]
        impl From<glam::UVec2> for $name {
            fn from(v: glam::UVec2) -> Self {
                Self::xy(v.x, v.y)
            }
        }

        #[cfg(feature = "impl_glam")]
        impl From<glam::UVec3> for $name {
            fn from(v: glam::UVec3) -> Self {
                Self::xyz(v.x, v.y, v.z)
            }
        }

        // What is too large stays too large, and the launch fails.
        #[cfg(feature = "impl_glam")]
        impl From<glam::USizeVec2> for $name {
            fn from(v: glam::USizeVec2) -> Self {
                let [x, y] = [v.x, v.y].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
                Self::xy(x, y)
            }
        }

        #[cfg(feature = "impl_glam")]
        impl From<glam::USizeVec3> for $name {
            fn from(v: glam::USizeVec3) -> Self {
                let [x, y, z] = [v.x, v.y, v.z].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
                Self::xyz(x, y, z)
            }
        }

        #[cfg(feature = "impl_vek")]
        impl From<vek::Vec2<u32>> for $name {
            fn from(v: vek::Vec2<u32>) -> Self {
                Self::xy(v.x, v.y)
            }
        }

        #[cfg(feature = "impl_vek")]
        impl From<vek::Vec3<u32>> for $name {
            fn from(v: vek::Vec3<u32>) -> Self {
                Self::xyz(v.x, v.y, v.z)
            }
        }

        #[cfg(feature = "impl_vek")]
        impl From<vek::Vec2<usize>> for $name {
            fn from(v: vek::Vec2<usize>) -> Self {
                let [x, y] = [v.x, v.y].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
                Self::xy(x, y)
            }
        }

        #[cfg(feature = "impl_vek")]
        impl From<vek::Vec3<usize>> for $name {
            fn from(v: vek::Vec3<usize>) -> Self {
                let [x, y, z] = [v.x, v.y, v.z].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
                Self::xyz(x, y, z)
            }
        }
    )* };
}

sizes! {
    /// The blocks of a launch.
    GridSize;
    /// The threads of a block.
    BlockSize;
}

/// A property of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
#[non_exhaustive]
pub enum FunctionAttribute {
    /// The most threads that a block may have.
    MaxThreadsPerBlock = 0,
    /// Bytes of shared memory, without what a launch adds.
    SharedMemorySizeBytes = 1,
    /// Bytes of constant memory.
    ConstSizeBytes = 2,
    /// Bytes of each thread's own memory.
    LocalSizeBytes = 3,
    /// Registers of a thread.
    NumRegisters = 4,
    /// The version of its PTX.
    PtxVersion = 5,
    /// The architecture of its machine code.
    BinaryVersion = 6,
    /// Whether it caches global memory.
    CacheModeCa = 7,
}

/// A kernel of a module.
#[derive(Debug)]
pub struct Function<'a> {
    inner: sys::CUfunction,
    module: PhantomData<&'a Module>,
}

// SAFETY: the driver's functions may be called from any thread.
unsafe impl Send for Function<'_> {}
// SAFETY: as above.
unsafe impl Sync for Function<'_> {}

impl Function<'_> {
    pub(crate) fn new(inner: sys::CUfunction, _module: &Module) -> Function<'_> {
        Function { inner, module: PhantomData }
    }

    /// Returns a property.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn get_attribute(&self, attr: FunctionAttribute) -> CudaResult<i32> {
        let mut value = 0;
        // SAFETY: a kernel, a place for the result, and a value of the driver's type.
        call(|| unsafe {
            let attr = std::mem::transmute::<u32, sys::CUfunction_attribute>(attr as u32);
            sys::cuFuncGetAttribute(&mut value, attr, self.inner)
        })?;
        Ok(value)
    }

    /// Sets what the memory of a multiprocessor is preferably used for.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn set_cache_config(&mut self, config: CacheConfig) -> CudaResult<()> {
        // SAFETY: a kernel.
        call(|| unsafe { sys::cuFuncSetCacheConfig(self.inner, config.raw()) })
    }

    /// Sets how wide the banks of shared memory are.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn set_shared_memory_config(&mut self, cfg: SharedMemoryConfig) -> CudaResult<()> {
        // SAFETY: a kernel.
        call(|| unsafe { sys::cuFuncSetSharedMemConfig(self.inner, cfg.raw()) })
    }

    /// Returns the driver's handle.
    pub fn to_raw(&self) -> sys::CUfunction {
        self.inner
    }

    /// Returns the bytes of shared memory that a launch can add if so many blocks are to run on a multiprocessor.
    ///
    /// # Errors
    /// If there are 2^31 blocks or threads of a block or more, or the driver fails.
    pub fn available_dynamic_shared_memory_per_block(
        &self,
        blocks: GridSize,
        block_size: BlockSize,
    ) -> CudaResult<usize> {
        let mut bytes = 0;
        let blocks = product(blocks.x, blocks.y, blocks.z)?;
        let threads = product(block_size.x, block_size.y, block_size.z)?;
        // SAFETY: a kernel, and a place for the result.
        call(|| unsafe {
            sys::cuOccupancyAvailableDynamicSMemPerBlock(&mut bytes, self.inner, blocks, threads)
        })?;
        Ok(bytes)
    }

    /// Returns how many blocks run on a multiprocessor at once.
    ///
    /// # Errors
    /// If a block has 2^31 threads or more, or the driver fails.
    pub fn max_active_blocks_per_multiprocessor(
        &self,
        block_size: BlockSize,
        dynamic_smem_size: usize,
    ) -> CudaResult<u32> {
        let mut blocks = 0;
        let threads = product(block_size.x, block_size.y, block_size.z)?;
        // SAFETY: a kernel, and a place for the result.
        call(|| unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut blocks,
                self.inner,
                threads,
                dynamic_smem_size,
            )
        })?;
        Ok(blocks.unsigned_abs())
    }

    /// Returns the least blocks, and the threads of a block, with which the device is full. A limit of 0 means that there is no limit.
    ///
    /// # Errors
    /// If the limit is 2^31 threads or more, or the driver fails.
    pub fn suggested_launch_configuration(
        &self,
        dynamic_smem_size: usize,
        block_size_limit: BlockSize,
    ) -> CudaResult<(u32, u32)> {
        let (mut blocks, mut threads) = (0, 0);
        let limit = product(block_size_limit.x, block_size_limit.y, block_size_limit.z)?;
        // SAFETY: a kernel, and places for the results.
        call(|| unsafe {
            sys::cuOccupancyMaxPotentialBlockSize(
                &mut blocks,
                &mut threads,
                self.inner,
                None,
                dynamic_smem_size,
                limit,
            )
        })?;
        Ok((blocks.unsigned_abs(), threads.unsigned_abs()))
    }
}

/// Returns the number of blocks or threads in a size.
fn product(x: u32, y: u32, z: u32) -> CudaResult<i32> {
    let all = x.checked_mul(y).and_then(|all| all.checked_mul(z));
    all.and_then(|all| all.try_into().ok()).ok_or(CudaError::InvalidValue)
}

impl Module {
    /// Returns a kernel of the module.
    ///
    /// # Errors
    /// If the module has no kernel of this name.
    pub fn get_function<T: AsRef<str>>(&self, name: T) -> CudaResult<Function<'_>> {
        let name = CString::new(name.as_ref()).map_err(|_| CudaError::NotFound)?;
        let mut function = ptr::null_mut();
        // SAFETY: a module, a name, and a place for the result.
        call(|| unsafe { sys::cuModuleGetFunction(&mut function, self.as_inner(), name.as_ptr()) })?;
        Ok(Function::new(function, self))
    }
}

impl Stream {
    /// Queues a launch. [`launch!`](crate::launch!) is more comfortable.
    ///
    /// # Safety
    /// `args` points to as many arguments as the kernel has parameters, of their types, and the kernel is right for them and the grid.
    ///
    /// # Errors
    /// If the grid is not possible.
    pub unsafe fn launch<G, B>(
        &self,
        func: &Function<'_>,
        grid_size: G,
        block_size: B,
        shared_mem_bytes: u32,
        args: &[*mut c_void],
    ) -> CudaResult<()>
    where
        G: Into<GridSize>,
        B: Into<BlockSize>,
    {
        let (grid, block): (GridSize, BlockSize) = (grid_size.into(), block_size.into());
        // SAFETY: the caller's promise.
        call(|| unsafe {
            sys::cuLaunchKernel(
                func.to_raw(),
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                shared_mem_bytes,
                self.as_inner(),
                args.as_ptr().cast_mut(),
                ptr::null_mut(),
            )
        })
    }
}

/// Queues a launch: `launch!(function<<<blocks, threads, shared_bytes, stream>>>(arguments))`, or `launch!(module.function<<<..>>>(..))`,
/// which looks for the kernel by its name. It is unsafe: nothing checks that the arguments are the kernel's.
#[macro_export]
macro_rules! launch {
    ($module:ident . $function:ident <<< $grid:expr, $block:expr, $shared:expr, $stream:ident >>> ( $($argument:expr),* $(,)? )) => {
        match $module.get_function(stringify!($function)) {
            Ok(function) => $crate::launch!(function<<<$grid, $block, $shared, $stream>>>($($argument),*)),
            Err(error) => Err(error),
        }
    };
    ($function:ident <<< $grid:expr, $block:expr, $shared:expr, $stream:ident >>> ( $($argument:expr),* $(,)? )) => {{
        fn must_be_device_copy<T: $crate::memory::DeviceCopy>(_: T) {}
        if false {
            $(must_be_device_copy($argument);)*
        }
        $stream.launch(
            &$function,
            $grid,
            $block,
            $shared,
            &[$(&$argument as *const _ as *mut ::std::ffi::c_void,)*],
        )
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_beyond_the_driver_are_errors() {
        assert_eq!(product(1024, 1024, 2047), Ok(1024 * 1024 * 2047));
        assert_eq!(product(0, u32::MAX, 1), Ok(0));
        for (x, y, z) in [(1024, 1024, 2048), (1 << 16, 1 << 16, 1), (1 << 31, 1, 1), (u32::MAX, 2, 1)] {
            assert_eq!(product(x, y, z), Err(CudaError::InvalidValue));
        }
    }
}

//! The functions of HiGHS, from a library that is loaded at run time or linked statically.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Result, SimplexError};

/// The type of callbacks during a solve. Arguments: kind, message, data from HiGHS, data for HiGHS, and the caller's data.
pub(super) type Callback =
    unsafe extern "C" fn(c_int, *const c_char, *const c_void, *mut DataIn, *mut c_void);

/// What a callback tells HiGHS. Only the first field is known here.
#[repr(C)]
pub(super) struct DataIn {
    pub is_interrupted: c_int,
}

/// The file to load, instead of the usual ones or what is linked.
const VARIABLE: &str = "ANTWARP_HIGHS";
/// The usual names.
#[cfg(not(feature = "highs"))]
const NAMES: &[&str] = if cfg!(target_os = "macos") {
    &["libhighs.1.dylib", "libhighs.dylib"]
} else if cfg!(windows) {
    &["highs.dll", "libhighs.dll"]
} else {
    &["libhighs.so.1", "libhighs.so"]
};
/// The first version whose callbacks are as they are used here.
const OLDEST: (c_int, c_int) = (1, 7);

/// Declares the functions: as fields of `Functions`, loaded by name or linked.
macro_rules! functions {
    ($($name:ident = $symbol:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// HiGHS's functions, by their names without the prefix.
        pub(super) struct Functions {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            fn of_library(library: &libloading::Library) -> std::result::Result<Functions, String> {
                Ok(Functions {
                    $($name: {
                        let symbol = concat!(stringify!($symbol), "\0");
                        // SAFETY: the type is that of HiGHS's C interface, which has kept these functions since 1.7.
                        *unsafe { library.get(symbol.as_bytes()) }
                            .map_err(|_| format!("it has no function {}", stringify!($symbol)))?
                    },)*
                })
            }

            #[cfg(feature = "highs")]
            fn linked() -> Functions {
                use highs_sys as _;
                unsafe extern "C" {
                    $(fn $symbol($(_: $argument),*) $(-> $result)?;)*
                }
                Functions { $($name: $symbol,)* }
            }
        }
    };
}

type Handle = *mut c_void;
type Name = *const c_char;

functions! {
    create = Highs_create() -> Handle;
    destroy = Highs_destroy(Handle);
    version = Highs_version() -> Name;
    version_major = Highs_versionMajor() -> c_int;
    version_minor = Highs_versionMinor() -> c_int;
    size_of_int = Highs_getSizeofHighsInt(Handle) -> c_int;
    set_bool = Highs_setBoolOptionValue(Handle, Name, c_int) -> c_int;
    set_int = Highs_setIntOptionValue(Handle, Name, c_int) -> c_int;
    set_double = Highs_setDoubleOptionValue(Handle, Name, f64) -> c_int;
    set_string = Highs_setStringOptionValue(Handle, Name, Name) -> c_int;
    add_cols = Highs_addCols(Handle, c_int, *const f64, *const f64, *const f64, c_int, *const c_int, *const c_int, *const f64) -> c_int;
    add_rows = Highs_addRows(Handle, c_int, *const f64, *const f64, c_int, *const c_int, *const c_int, *const f64) -> c_int;
    delete_cols = Highs_deleteColsByMask(Handle, *mut c_int) -> c_int;
    delete_rows = Highs_deleteRowsByMask(Handle, *mut c_int) -> c_int;
    set_limits = Highs_changeColBounds(Handle, c_int, f64, f64) -> c_int;
    run = Highs_run(Handle) -> c_int;
    status = Highs_getModelStatus(Handle) -> c_int;
    solution = Highs_getSolution(Handle, *mut f64, *mut f64, *mut f64, *mut f64) -> c_int;
    objective = Highs_getObjectiveValue(Handle) -> f64;
    int_info = Highs_getIntInfoValue(Handle, Name, *mut c_int) -> c_int;
    ray = Highs_getDualRay(Handle, *mut c_int, *mut f64) -> c_int;
    basis = Highs_getBasis(Handle, *mut c_int, *mut c_int) -> c_int;
    set_basis = Highs_setBasis(Handle, *const c_int, *const c_int) -> c_int;
    set_callback = Highs_setCallback(Handle, Option<Callback>, *mut c_void) -> c_int;
    start_callback = Highs_startCallback(Handle, c_int) -> c_int;
}

/// Held to create and to destroy programs: before 1.16, HiGHS cannot do that on two threads at the same time.
pub(super) static TURN: Mutex<()> = Mutex::new(());

/// HiGHS itself.
#[derive(Clone)]
pub struct Highs {
    shared: Arc<Shared>,
}

/// A library: its functions, its version, and where it was found.
pub(super) struct Shared {
    pub functions: Functions,
    version: String,
    origin: String,
    /// Where the functions are.
    _library: Option<libloading::Library>,
}

impl Highs {
    /// Finds HiGHS: in the file that the variable `ANTWARP_HIGHS` names; else as it is linked, with the feature `highs`; else in the
    /// folder `../lib/antwarp` beside the program's, where packages have it; else in a library of the usual name.
    ///
    /// # Errors
    /// If there is no library, or it is unsuitable, as [`Highs::load`].
    pub fn find() -> Result<Highs> {
        match std::env::var(VARIABLE) {
            Ok(file) if !file.is_empty() => Highs::load(&[&file]),
            _ => Highs::find_usual(),
        }
    }

    #[cfg(feature = "highs")]
    fn find_usual() -> Result<Highs> {
        Highs::of("the linked library", Functions::linked(), None)
    }

    #[cfg(not(feature = "highs"))]
    fn find_usual() -> Result<Highs> {
        let packaged = packaged();
        let packaged = packaged.iter().filter(|file| file.exists()).filter_map(|file| file.to_str());
        Highs::load(&packaged.chain(NAMES.iter().copied()).collect::<Vec<_>>())
    }

    /// Loads the first of these libraries that can be loaded: names, as the system finds them, or paths.
    ///
    /// # Errors
    /// If none of them can be loaded; or if the first that can is not HiGHS, is too old, or was built for integers of another size
    /// than 4 bytes.
    pub fn load(names: &[&str]) -> Result<Highs> {
        let mut tried = Vec::new();
        for &name in names {
            // SAFETY: loading HiGHS runs nothing but its initialisers of C++ objects. The user answers for other libraries.
            match unsafe { libloading::Library::new(name) } {
                Ok(library) => {
                    let functions = Functions::of_library(&library)
                        .map_err(|why| SimplexError::Unsuitable { file: name.into(), why })?;
                    return Highs::of(name, functions, Some(library));
                }
                Err(error) => {
                    // The error itself only says which call failed.
                    let why = std::error::Error::source(&error).unwrap_or(&error);
                    tried.push(format!("{name}: {why}"));
                }
            }
        }
        Err(SimplexError::Missing { tried })
    }

    fn of(file: &str, functions: Functions, library: Option<libloading::Library>) -> Result<Highs> {
        let unsuitable = |why| Err(SimplexError::Unsuitable { file: file.into(), why });
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the version's functions only return constants, one of them a string that is never freed. No other program is
        // created or destroyed at the same time.
        let (version, major, minor, size) = unsafe {
            let version = CStr::from_ptr((functions.version)()).to_string_lossy().into_owned();
            let program = (functions.create)();
            let size = (functions.size_of_int)(program);
            (functions.destroy)(program);
            (version, (functions.version_major)(), (functions.version_minor)(), size)
        };
        if (major, minor) < OLDEST {
            return unsuitable(format!("it is version {version}"));
        }
        if size as usize != size_of::<c_int>() {
            return unsuitable(format!("it was built for integers of {size} bytes, not 4"));
        }
        let origin = file.to_owned();
        Ok(Highs { shared: Arc::new(Shared { functions, version, origin, _library: library }) })
    }

    /// Returns the functions.
    pub(super) fn shared(&self) -> Arc<Shared> {
        self.shared.clone()
    }

    /// Returns the version, as in `1.15.1`.
    pub fn version(&self) -> &str {
        &self.shared.version
    }

    /// Returns where it was found: the name that it was loaded by, or `the linked library`.
    pub fn origin(&self) -> &str {
        &self.shared.origin
    }
}

/// Returns where a package has its library: for `bin/antwarp` that is `lib/antwarp/libhighs.so`.
#[cfg(not(feature = "highs"))]
fn packaged() -> Vec<std::path::PathBuf> {
    // A link in a folder of programs leads to the package.
    let program = std::env::current_exe().and_then(std::fs::canonicalize);
    let folder = program.ok().and_then(|file| Some(file.parent()?.parent()?.join("lib/antwarp")));
    folder.map_or_else(Vec::new, |folder| NAMES.iter().map(|name| folder.join(name)).collect())
}

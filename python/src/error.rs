//! antwarp's errors as the exceptions that `antwarp/_errors.py` defines.

use antwarp::engine::BackendError;
use antwarp::instance::InstanceError;
use antwarp::solver::SolveError;
use pyo3::PyErr;

/// The exceptions.
pub mod python {
    pyo3::import_exception!(antwarp._errors, InputError);
    pyo3::import_exception!(antwarp._errors, OptionError);
    pyo3::import_exception!(antwarp._errors, BackendError);
    pyo3::import_exception!(antwarp._errors, InternalError);
}

/// Makes the exception for something wrong in the input: the problem, then the remedy.
pub fn input(problem: impl std::fmt::Display, remedy: &str) -> PyErr {
    python::InputError::new_err(with_python_options(&format!("{problem}: {remedy}")))
}

/// Makes the exception for a wrong option.
pub fn option(problem: impl std::fmt::Display) -> PyErr {
    python::OptionError::new_err(with_python_options(&problem.to_string()))
}

/// Makes the exception for a bug.
pub fn bug(what: impl std::fmt::Display) -> PyErr {
    python::InternalError::new_err(format!("{what}: this is a bug in antwarp, please report it"))
}

/// Makes the exception of an instance's error.
pub fn of_instance(error: InstanceError) -> PyErr {
    input(&error, error.remedy())
}

/// Makes the exception of a backend's error: an `OptionError` where another option helps, else a `BackendError`.
pub fn of_backend(error: BackendError) -> PyErr {
    let text = with_python_options(&error.to_string());
    match error {
        BackendError::Warps(..) | BackendError::Threads(..) | BackendError::Gpus(_) => {
            python::OptionError::new_err(text)
        }
        _ => python::BackendError::new_err(text),
    }
}

/// Makes the exception of a solver's error.
pub fn of_solve(error: SolveError) -> PyErr {
    match error {
        SolveError::Settings(problem) => option(problem),
        SolveError::Unsupported { .. } | SolveError::Shape(_) => {
            python::InputError::new_err(with_python_options(&error.to_string()))
        }
        SolveError::Backend(error) => of_backend(error),
        SolveError::NoThread(_) | SolveError::CutShort { .. } => {
            python::BackendError::new_err(with_python_options(&error.to_string()))
        }
        SolveError::Wrong { .. } => python::InternalError::new_err(error.to_string()),
    }
}

/// Rewrites the options of the command line in a text as keyword arguments: `` `--columns x=2,y=3` `` becomes
/// `` `columns="x=2,y=3"` ``.
fn with_python_options(text: &str) -> String {
    let mut rewritten = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("--") {
        let (before, option) = (&rest[..at], &rest[at + 2..]);
        let is_free = !before.ends_with(|c: char| c.is_alphanumeric() || c == '-');
        let length = option.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(option.len());
        rewritten += before;
        if !is_free || length == 0 {
            rewritten += "--";
            rest = option;
            continue;
        }
        let name = match &option[..length] {
            // A word of Python's own.
            "as" => "shape".to_owned(),
            name => name.replace('-', "_"),
        };
        rest = &option[length..];
        // Of a quoted option, the value is quoted, too.
        let quoted = before.ends_with('`').then(|| rest.find('`')).flatten();
        match quoted {
            Some(0) => rewritten += &format!("{name}=True"),
            Some(end) if rest.starts_with(' ') => {
                rewritten += &format!("{name}=\"{}\"", &rest[1..end]);
                rest = &rest[end..];
            }
            _ => rewritten += &name,
        }
    }
    rewritten + rest
}

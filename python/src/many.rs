//! Many small instances in one call.

use std::sync::Arc;
use std::time::Duration;

use antwarp::backend::Backend;
use antwarp::instance;
use antwarp::solver::many::{ManyError, ManySettings, solve_many as solve_all};
use numpy::ndarray::{Array2, ArrayView2, ArrayView3, Axis};
use numpy::{IntoPyArray, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::attend::{Post, Stop, attend};
use crate::error;
use crate::input::{Instance, matrix_of, points_of, whole_matrix};
use crate::options::Options;
use crate::session::Session;

/// A node of a tour of an instance that was not solved.
const NOBODY: i64 = -1;

/// Instances of an array.
#[pyclass(frozen, module = "antwarp._native")]
pub struct Batch {
    instances: Vec<Arc<instance::Instance>>,
}

#[pymethods]
impl Batch {
    /// Collects instances.
    #[staticmethod]
    fn of(instances: Vec<PyRef<'_, Instance>>) -> Batch {
        Batch { instances: instances.iter().map(|one| one.instance.clone()).collect() }
    }

    /// Makes places of an array of shape (k, n, 2) or (k, n, 3).
    #[staticmethod]
    fn points(session: &Session, array: &Bound<'_, PyArray3<f64>>, is_degrees: bool) -> PyResult<Batch> {
        let make = |array: ArrayView2<'_, f64>| points_of(session, "array", array, is_degrees);
        each(session, array.readonly().as_array(), &make)
    }

    /// Makes costs of an array of shape (k, n, n).
    #[staticmethod]
    fn matrices(session: &Session, array: &Bound<'_, PyAny>, options: &Options) -> PyResult<Batch> {
        let shaped = |made: PyResult<instance::Instance>| {
            let instance = made?;
            Ok(if options.reading.directed { instance.into_atsp() } else { instance })
        };
        if let Ok(array) = array.cast::<PyArray3<i64>>() {
            let make = |array: ArrayView2<'_, i64>| shaped(whole_matrix(session, "array", array, options));
            return each(session, array.readonly().as_array(), &make);
        }
        let make = |array: ArrayView2<'_, f64>| shaped(matrix_of(session, "array", array, options));
        each(session, array.cast::<PyArray3<f64>>()?.readonly().as_array(), &make)
    }

    /// The number of instances.
    fn __len__(&self) -> usize {
        self.instances.len()
    }
}

/// Makes an instance of each part of an array.
fn each<T: Sync>(
    session: &Session,
    array: ArrayView3<'_, T>,
    make: &(dyn Fn(ArrayView2<'_, T>) -> PyResult<instance::Instance> + Sync),
) -> PyResult<Batch> {
    let one = |index: usize| make(array.index_axis(Axis(0), index)).map(Arc::new);
    // The threads of the pool do not touch Python: this thread has its lock.
    let made = session.pool.install(|| instance::parallel::collect(array.len_of(Axis(0)), &one));
    let named = |(index, made): (usize, PyResult<_>)| made.map_err(|error| with_index(index, error));
    let instances = made.into_iter().enumerate().map(named).collect::<PyResult<_>>()?;
    Ok(Batch { instances })
}

/// Returns the same exception with the index of an instance before its text.
#[pyfunction]
pub fn of_index<'py>(index: usize, error: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    error.get_type().call1((format!("instance {index}: {error}"),))
}

/// The same for an exception that is on its way.
fn with_index(index: usize, error: PyErr) -> PyErr {
    Python::attach(|py| match of_index(index, error.value(py)) {
        Ok(named) => PyErr::from_value(named),
        Err(_) => error,
    })
}

/// Solves many instances. Returns the tours, an array of shape (k, n), or a list of arrays if they have different lengths; and the
/// costs. Also returns why they were solved on the CPU, if a GPU was looked for.
#[pyfunction]
pub fn solve_many(
    py: Python<'_>,
    session: &Session,
    batch: &Batch,
    options: &Options,
    search: (u32, u64),
    spent: f64,
) -> PyResult<(Py<PyAny>, Py<PyAny>, Option<String>)> {
    let (instances, (effort, seed)) = (&batch.instances, search);
    let stop = options.stop_of_many(Duration::try_from_secs_f64(spent).unwrap_or_default());
    let stop = antwarp::engine::Stop { interrupt: session.interrupt.clone(), ..stop };
    // What failed: an instance, by its index, or everything.
    let solve = |_: &Post<_>| -> PyResult<Result<_, (Option<usize>, PyErr)>> {
        let opened = Backend::open_on(options.backend, &options.gpus);
        let (backend, note) = opened.map_err(error::of_backend)?;
        let tours = match solve_all(instances, ManySettings { effort, seed }, (&backend, &stop)) {
            Err(ManyError::Instance { index, error }) => {
                return Ok(Err((Some(index), error::of_solve(error))));
            }
            Err(ManyError::Other(error)) => return Ok(Err((None, error::of_solve(error)))),
            Ok(tours) => tours,
        };
        let cost = |index: usize| {
            let (instance, Some(tour)) = (&instances[index], &tours[index]) else { return f64::NAN };
            let is_possible = instance.forbidden_steps(tour).is_empty();
            if is_possible { instance.tour_cost(tour).as_f64() } else { f64::INFINITY }
        };
        let costs = instance::parallel::collect(instances.len(), &cost);
        Ok(Ok((tours, costs, note)))
    };
    let ended = attend(py, session, (&stop, &Stop::default()), solve, &|_, _| Ok(()))?;
    let (tours, costs, note) = ended.map_err(|(index, error)| match index {
        Some(index) => with_index(index, error),
        None => error,
    })?;
    let nodes = |tour: &Option<Vec<u32>>, n: usize| match tour {
        Some(tour) => tour.iter().map(|&node| i64::from(node)).collect(),
        None => vec![NOBODY; n],
    };
    let sizes: Vec<usize> = instances.iter().map(|instance| instance.len()).collect();
    let rows = || tours.iter().zip(&sizes).map(|(tour, &n)| nodes(tour, n));
    let width = sizes.first().copied().unwrap_or(0);
    let arrays = if sizes.iter().all(|&n| n == width) {
        let array = Array2::from_shape_vec((sizes.len(), width), rows().flatten().collect());
        array.map_err(error::bug)?.into_pyarray(py).into_any().unbind()
    } else {
        PyList::new(py, rows().map(|row| row.into_pyarray(py)))?.into_any().unbind()
    };
    Ok((arrays, costs.into_pyarray(py).into_any().unbind(), note))
}

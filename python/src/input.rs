//! What Python gives becomes an instance.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use antwarp::instance::{self, Ends, memory};
use numpy::ndarray::{Array2, ArrayView2};
use numpy::{Element, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use crate::error;
use crate::options::{Options, number, shown};
use crate::session::Session;

/// An instance, as the solver knows it.
#[pyclass(frozen, module = "antwarp._native")]
pub struct Instance {
    pub instance: Arc<instance::Instance>,
    /// The node where a closed tour starts, if one is chosen.
    pub start: Option<u32>,
}

impl Instance {
    fn new(instance: instance::Instance) -> Instance {
        Instance { instance: Arc::new(instance), start: None }
    }
}

/// Returns an instance, or the exception.
fn made(made: instance::Result<instance::Instance>) -> PyResult<Instance> {
    made.map(Instance::new).map_err(error::of_instance)
}

/// Rejects what does not fit main memory.
fn check_room(name: &str, bytes: u64) -> PyResult<()> {
    memory::check(bytes)
        .map_err(|shortage| error::input(format!("{name}: {shortage}"), "use a smaller instance"))
}

/// Rejects numbers of nodes that no instance can have.
fn check_nodes(name: &str, nodes: usize) -> PyResult<()> {
    if (1..=i32::MAX as usize).contains(&nodes) {
        return Ok(());
    }
    let problem = format!("{name}: an instance of {nodes} nodes cannot be solved");
    Err(error::input(problem, "give between 1 and 2147483647 nodes"))
}

#[pymethods]
impl Instance {
    /// Reads a file, or makes the generated instance of this name.
    #[staticmethod]
    fn open(py: Python<'_>, session: &Session, path: PathBuf, options: &Options) -> PyResult<Instance> {
        let reading = &options.reading;
        made(py.detach(|| session.pool.install(|| instance::Instance::open_with(path, reading))))
    }

    /// Reads the text of a file.
    #[staticmethod]
    fn parse(
        py: Python<'_>,
        session: &Session,
        name: &str,
        text: &[u8],
        options: &Options,
    ) -> PyResult<Instance> {
        let reading = &options.reading;
        made(py.detach(|| session.pool.install(|| instance::Instance::parse(name, name, text, reading))))
    }

    /// Makes places of an array of shape (n, 2) or (n, 3), or of a list of rows; with `is_degrees`, of latitudes and longitudes.
    #[staticmethod]
    fn points(
        session: &Session,
        name: &str,
        array: &Bound<'_, PyAny>,
        is_degrees: bool,
    ) -> PyResult<Instance> {
        // No other thread of Python changes the array meanwhile: this one holds the interpreter's lock.
        let make =
            |array: ArrayView2<'_, f64>| points_of(session, name, array, is_degrees).map(Instance::new);
        match array.cast::<PyArray2<f64>>() {
            Ok(array) => make(array.readonly().as_array()),
            Err(_) => make(rows(name, array)?.view()),
        }
    }

    /// Makes costs of an array of shape (n, n) of integers or floats, or of a list of rows, where infinity or NaN is no road.
    #[staticmethod]
    fn matrix(
        session: &Session,
        name: &str,
        array: &Bound<'_, PyAny>,
        options: &Options,
    ) -> PyResult<Instance> {
        let instance = if let Ok(array) = array.cast::<PyArray2<i64>>() {
            whole_matrix(session, name, array.readonly().as_array(), options)
        } else if let Ok(array) = array.cast::<PyArray2<f64>>() {
            matrix_of(session, name, array.readonly().as_array(), options)
        } else {
            matrix_of(session, name, rows(name, array)?.view(), options)
        }?;
        let is_directed = options.reading.directed;
        made(Ok(if is_directed { instance.into_atsp() } else { instance }))
    }

    /// Returns the same instance with tours of another shape: open paths, fixed and forbidden edges.
    fn shaped(
        &self,
        session: &Session,
        is_open: bool,
        ends: (Option<u32>, Option<u32>),
        fixed: Vec<(u32, u32)>,
        forbidden: Vec<(u32, u32)>,
    ) -> PyResult<Instance> {
        let (n, (start, end)) = (self.instance.len() as u32, ends);
        let nodes = fixed.iter().chain(&forbidden).flat_map(|&(a, b)| [a, b]).chain(start).chain(end);
        if let Some(node) = nodes.into_iter().find(|&node| node >= n) {
            return Err(error::option(format!(
                "there is no place {node}: places are numbered from 0 to {}",
                n - 1
            )));
        }
        let shape = || {
            let instance = (*self.instance).clone();
            let ends = (is_open || end.is_some()).then_some(Ends { start, end });
            let all = [instance.fixed_edges(), &fixed].concat();
            let instance = instance.with_fixed_edges(all).with_forbidden_pairs(forbidden)?;
            let ends = ends.or(instance.ends());
            let instance = instance.with_ends(ends);
            instance.check_shape()?;
            Ok(instance)
        };
        let instance = session.pool.install(shape).map_err(error::of_instance)?;
        Ok(Instance { instance: Arc::new(instance), start })
    }

    /// The number of its nodes.
    #[getter]
    fn nodes(&self) -> usize {
        self.instance.len()
    }

    /// The names of its nodes in the file, if it has names.
    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        self.instance.names().map(<[String]>::to_vec)
    }

    /// The numbers of its nodes in the file.
    #[getter]
    fn ids(&self) -> Vec<u32> {
        (0..self.instance.len() as u32).map(|node| self.instance.id(node)).collect()
    }

    /// What was read, and how it was interpreted.
    #[getter]
    fn reading(&self) -> Option<&str> {
        self.instance.reading()
    }

    /// Warnings about how it was read.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.instance.warnings().to_vec()
    }

    /// Whether its places have coordinates.
    #[getter]
    fn has_places(&self) -> bool {
        self.instance.points().is_some()
    }
}

/// Returns the numbers in a list of rows.
fn rows(name: &str, list: &Bound<'_, PyAny>) -> PyResult<Array2<f64>> {
    let (mut numbers, mut shape) = (Vec::new(), (0, 0));
    for row in list.try_iter()? {
        let row = row?;
        let at = shape.0;
        let values = row.try_iter().map_err(|_| {
            let problem = format!("{name}: row {at} is {}", shown(&row));
            error::input(problem, "give a list of rows, such as [[0, 0], [3, 4]]")
        })?;
        let before = numbers.len();
        for value in values {
            let value = value?;
            let number = number(&value).ok_or_else(|| {
                let problem =
                    format!("{name}: row {at} has {} in column {}", shown(&value), numbers.len() - before);
                error::input(problem, "give a number")
            })?;
            numbers.push(number);
        }
        let width = numbers.len() - before;
        if at > 0 && width != shape.1 {
            let problem = format!("{name}: row {at} has {width} values, but those before have {}", shape.1);
            return Err(error::input(problem, "give every row the same number of values"));
        }
        shape = (at + 1, width);
    }
    Array2::from_shape_vec(shape, numbers).map_err(error::bug)
}

/// Makes an instance from coordinates, a place in each row; with `is_degrees`, latitude and longitude.
pub fn points_of(
    session: &Session,
    name: &str,
    array: ArrayView2<'_, f64>,
    is_degrees: bool,
) -> PyResult<instance::Instance> {
    let (nodes, dimensions) = array.dim();
    check_nodes(name, nodes)?;
    check_room(name, (nodes * size_of::<[f64; 3]>()) as u64)?;
    if !(2..=3).contains(&dimensions) {
        let problem = format!("{name}: there are {nodes} rows and {dimensions} columns");
        return Err(error::input(
            problem,
            "give two columns of coordinates, or three; or a square matrix of costs",
        ));
    }
    let make = || {
        if is_degrees {
            let places = array.rows().into_iter().map(|row| [row[0], row[1]]);
            return instance::Instance::from_degrees(name, places.collect());
        }
        let place = |row: &[f64]| [row[0], row[1], row.get(2).copied().unwrap_or(0.0)];
        let places = match array.as_slice() {
            Some(all) => all.chunks_exact(dimensions).map(place).collect(),
            None => array.rows().into_iter().map(|row| place(&row.to_vec())).collect(),
        };
        instance::Instance::from_places(name, dimensions, places)
    };
    session.pool.install(make).map_err(error::of_instance)
}

/// Returns the number of rows of a square array.
fn side<T: Element>(name: &str, array: &ArrayView2<'_, T>) -> PyResult<usize> {
    let (rows, columns) = array.dim();
    if rows != columns {
        let problem = format!("{name}: there are {rows} rows and {columns} columns");
        return Err(error::input(problem, "give a square matrix, or two or three columns of coordinates"));
    }
    check_nodes(name, rows)?;
    Ok(rows)
}

/// Makes an instance from whole numbers, the cost from `row` to `column`: as they are, where they fit the solver's.
pub fn whole_matrix(
    session: &Session,
    name: &str,
    array: ArrayView2<'_, i64>,
    options: &Options,
) -> PyResult<instance::Instance> {
    let n = side(name, &array)?;
    check_room(name, 4 * (n as u64).pow(2))?;
    let fits = |&cost: &i64| (0..=i64::from(i32::MAX)).contains(&cost);
    if options.reading.forbidden_from.is_none() && array.iter().all(fits) {
        let make = || instance::Instance::from_matrix(name, array.iter().map(|&cost| cost as i32).collect());
        return session.pool.install(make).map_err(error::of_instance);
    }
    check_room(name, 20 * (n as u64).pow(2))?;
    let costs = array.mapv(|cost| cost as f64);
    matrix_of(session, name, costs.view(), options)
}

/// Makes an instance from real numbers, the cost from `row` to `column`; infinity or NaN where there is no road. The array is not
/// copied unless it has to be.
pub fn matrix_of(
    session: &Session,
    name: &str,
    array: ArrayView2<'_, f64>,
    options: &Options,
) -> PyResult<instance::Instance> {
    let n = side(name, &array)?;
    let forbidden_from = options.reading.forbidden_from;
    let is_as_is = array.as_slice().is_some() && forbidden_from.is_none();
    // The instance's own matrix; the costs, unless they are exact in it; and a copy of the array.
    check_room(name, (4 + 8 + if is_as_is { 0 } else { 8 }) * (n as u64).pow(2))?;
    let is_bad =
        |&((row, column), &cost): &((usize, usize), &f64)| row != column && cost == f64::NEG_INFINITY;
    if let Some(((row, column), _)) = array.indexed_iter().find(is_bad) {
        let problem = format!("{name}: the cost from {row} to {column} is minus infinity");
        return Err(error::input(problem, "give a number, or infinity where there is no road"));
    }
    let known =
        |cost: f64| if forbidden_from.is_some_and(|least| cost >= least) { f64::INFINITY } else { cost };
    let costs = match array.as_slice().filter(|_| is_as_is) {
        Some(costs) => Cow::Borrowed(costs),
        None => Cow::Owned(array.iter().map(|&cost| known(cost)).collect()),
    };
    let make = || instance::Instance::from_costs(name, costs);
    session.pool.install(make).map_err(error::of_instance)
}

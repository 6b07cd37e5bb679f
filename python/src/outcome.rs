//! The result of a run.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use antwarp::instance::{Cost, Instance, Metric, atomic_file, tour_file};
use antwarp::report::svg::Picture;
use antwarp::report::{Report, itinerary};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::error;

/// A tour, with everything that is known about it.
#[pyclass(frozen, module = "antwarp._native")]
pub struct Outcome {
    instance: Arc<Instance>,
    tour: Vec<u32>,
    report: Report,
}

impl Outcome {
    pub fn new(instance: Arc<Instance>, tour: Vec<u32>, report: Report) -> Outcome {
        Outcome { instance, tour, report }
    }

    fn write(&self, format: &str, mut out: &mut dyn Write) -> io::Result<()> {
        match format {
            "csv" => itinerary::write(&self.instance, &self.tour, out),
            "json" => {
                serde_json::to_writer(&mut out, &self.report)?;
                writeln!(out)
            }
            "svg" => self.draw(out),
            _ => tour_file::write(&self.instance, &self.tour, self.report.cost, &mut out),
        }
    }

    fn draw(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(places) = self.instance.display_points() else { return Ok(()) };
        let cost = self.instance.unit().show(self.report.cost);
        let caption = format!("{} · {} nodes · length {cost}", self.instance.name(), self.tour.len());
        let picture = Picture {
            places: &places,
            is_globe: self.is_on_globe(),
            is_open: self.instance.ends().is_some(),
            fixed: self.instance.fixed_edges(),
            labels: self.instance.names().map(|names| names.to_vec()).unwrap_or_default(),
        };
        picture.write(out, &self.tour, &caption)
    }
}

#[pymethods]
impl Outcome {
    /// The places in tour order, numbered from 0.
    #[getter]
    fn order(&self) -> Vec<u32> {
        self.tour.clone()
    }

    /// The cost of the tour, without pairs that have no road.
    #[getter]
    fn cost(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        in_python(py, self.report.cost)
    }

    /// No tour costs less, if anything was proven.
    #[getter]
    fn bound(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.report.bound.map(|bound| in_python(py, bound.length)).transpose()
    }

    /// Every improvement: seconds, and the cost.
    #[getter]
    fn trace(&self, py: Python<'_>) -> PyResult<Vec<(f64, Py<PyAny>)>> {
        self.report.trace.iter().map(|better| Ok((better.seconds, in_python(py, better.cost)?))).collect()
    }

    /// Pairs in the tour that have no road.
    #[getter]
    fn forbidden(&self) -> Vec<(u32, u32)> {
        self.instance.forbidden_steps(&self.tour)
    }

    /// Whether the tour is an open path.
    #[getter]
    fn is_open(&self) -> bool {
        self.instance.ends().is_some()
    }

    /// Whether each cost is the same in both directions.
    #[getter]
    fn is_symmetric(&self) -> bool {
        self.instance.is_symmetric()
    }

    /// Whether places are longitudes and latitudes.
    #[getter]
    fn is_on_globe(&self) -> bool {
        self.instance.metric().is_some_and(Metric::is_on_globe)
    }

    /// The places of all nodes, x to the right and y upwards, if there are any.
    #[getter]
    fn places(&self) -> Option<Vec<(f64, f64)>> {
        self.instance.display_points().map(|places| places.into_iter().map(|[x, y]| (x, y)).collect())
    }

    /// The costs of the tour's edges, in its order.
    #[getter]
    fn edge_costs(&self) -> Vec<f64> {
        self.instance.edges(&self.tour).map(|(from, to)| self.instance.edge_cost(from, to)).collect()
    }

    /// The facts of the run as JSON, without what is long: the tour and the trace.
    fn report(&self) -> PyResult<String> {
        let (tour, names, trace) = (Vec::new(), None, Vec::new());
        serde_json::to_string(&Report { tour, names, trace, ..self.report.clone() }).map_err(error::bug)
    }

    /// A picture, if there are places.
    fn svg(&self) -> PyResult<Option<String>> {
        let mut picture = Vec::new();
        self.draw(&mut picture)?;
        Ok(String::from_utf8(picture).ok().filter(|picture| !picture.is_empty()))
    }

    /// What is in a file of this format: "tour" (TSPLIB), "csv", "json" or "svg".
    fn contents(&self, py: Python<'_>, format: &str) -> PyResult<Vec<u8>> {
        py.detach(|| {
            let mut contents = Vec::new();
            self.write(format, &mut contents)?;
            Ok(contents)
        })
    }

    /// Writes a file of one of these formats.
    fn save(&self, py: Python<'_>, path: PathBuf, format: &str) -> PyResult<()> {
        replace(py, path, |out| self.write(format, out))
    }
}

/// Writes a file, which is replaced as a whole.
#[pyfunction]
pub fn write_file(py: Python<'_>, path: PathBuf, contents: &[u8]) -> PyResult<()> {
    replace(py, path, |out| out.write_all(contents))
}

fn replace(
    py: Python<'_>,
    path: PathBuf,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send,
) -> PyResult<()> {
    py.detach(|| atomic_file::write(&path, |out| content(out)))
        .map_err(|error| PyOSError::new_err(format!("{error}: {}", error.remedy())))
}

/// Returns a cost as an int or a float of Python.
pub fn in_python(py: Python<'_>, cost: Cost) -> PyResult<Py<PyAny>> {
    Ok(match cost {
        Cost::Whole(cost) => cost.into_pyobject(py)?.into_any().unbind(),
        Cost::Real(cost) => cost.into_pyobject(py)?.into_any().unbind(),
    })
}

//! The result of a run.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use antwarp::instance::{Cost, Instance, Metric, atomic_file, tour_file};
use antwarp::report::route::Route;
use antwarp::report::{Report, geojson, gpx, itinerary, page, picture, svg};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::error;

/// A tour, with everything that is known about it.
#[pyclass(frozen, module = "antwarp._native")]
pub struct Outcome {
    instance: Arc<Instance>,
    tour: Vec<u32>,
    report: Report,
    /// What the caller calls the places, in the order of their numbers, if not as the instance does.
    names: Option<Vec<String>>,
}

impl Outcome {
    pub fn new(instance: Arc<Instance>, tour: Vec<u32>, report: Report) -> Outcome {
        Outcome { instance, tour, report, names: None }
    }

    fn write(&self, format: &str, mut out: &mut dyn Write) -> io::Result<()> {
        match format {
            "csv" => itinerary::write(&self.route(), out),
            "geojson" => geojson::write(&self.route(), out),
            "gpx" => gpx::write(&self.route(), out),
            "html" => page::write(out, [&self.report]),
            "json" => {
                serde_json::to_writer(&mut out, &self.report)?;
                writeln!(out)
            }
            "svg" => self.draw(out),
            _ => tour_file::write(&self.instance, &self.tour, self.report.cost, &mut out),
        }
    }

    fn draw(&self, out: &mut dyn Write) -> io::Result<()> {
        picture::of(&self.route()).map_or(Ok(()), |drawing| svg::write(&drawing, out))
    }

    fn route(&self) -> Route<'_> {
        let route = Route::new(&self.instance, &self.tour);
        let is_start_chosen = self.report.instance.start.is_some();
        Route { names: self.names.as_deref().or(route.names), is_start_chosen, ..route }
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

    /// The facts of the run as JSON, without what is long: the tour with its names, places and legs, and the trace.
    fn report(&self) -> PyResult<String> {
        let (tour, names, places, legs, trace) = (Vec::new(), None, None, Vec::new(), Vec::new());
        let short = Report { tour, names, places, legs, trace, ..self.report.clone() };
        serde_json::to_string(&short).map_err(error::bug)
    }

    /// The same with names for all places, in the order of their numbers, which the files then have.
    fn named(&self, names: Vec<String>) -> PyResult<Outcome> {
        let name = |&node: &u32| names.get(node as usize).cloned();
        let in_order: Option<Vec<String>> = self.tour.iter().map(name).collect();
        let in_order = in_order.ok_or_else(|| error::bug("there is not a name for each place"))?;
        let report = Report { names: Some(in_order), ..self.report.clone() };
        Ok(Outcome { report, names: Some(names), instance: self.instance.clone(), tour: self.tour.clone() })
    }

    /// A picture, if there are places.
    fn svg(&self) -> PyResult<Option<String>> {
        let mut picture = Vec::new();
        self.draw(&mut picture)?;
        Ok(String::from_utf8(picture).ok().filter(|picture| !picture.is_empty()))
    }

    /// What is in a file of this format: "tour" (TSPLIB), "csv", "geojson", "gpx", "html", "json" or "svg".
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

//! Checks tours and certificates, without a run.

use std::path::PathBuf;

use antwarp::exact::certificate;
use antwarp::instance::tour_file;
use antwarp::solver::proof::Prover;
use pyo3::prelude::*;

use crate::error;
use crate::input::Instance;
use crate::outcome::in_python;
use crate::session::Session;

/// Reads a file with a tour; returns its nodes.
#[pyfunction]
pub fn read_tour(
    py: Python<'_>,
    session: &Session,
    instance: &Instance,
    path: PathBuf,
) -> PyResult<Vec<u32>> {
    let read = || session.pool.install(|| tour_file::read_with(&path, &instance.instance));
    Ok(py.detach(read).map_err(error::of_instance)?.nodes)
}

/// Returns the cost of a tour, if it is one of the instance.
#[pyfunction]
pub fn check_tour(py: Python<'_>, instance: &Instance, tour: Vec<u32>) -> PyResult<Py<PyAny>> {
    let instance = &*instance.instance;
    let remedy = "give all places once, in the order of a tour";
    instance.check_tour(&tour).map_err(|problem| error::input(problem, remedy))?;
    match instance.fault(&tour) {
        Some(fault) => Err(error::input(fault, "give a tour of the shape that was asked for")),
        None => in_python(py, instance.tour_cost(&tour)),
    }
}

/// Checks a certificate of the instance. Returns the cost of its tour, the bound that it proves, and whether no tour is shorter.
#[pyfunction]
pub fn check_certificate(
    py: Python<'_>,
    session: &Session,
    instance: &Instance,
    path: PathBuf,
) -> PyResult<(Py<PyAny>, Py<PyAny>, bool)> {
    let instance = &*instance.instance;
    let missing = "give the file that `solve` wrote as `certificate`";
    let check = || {
        let read =
            certificate::read(&path).map_err(|error| error::of_instance(error.where_missing(missing)))?;
        let prover = Prover::new(instance).map_err(error::of_solve)?;
        let refused = |refusal| {
            error::input(format!("{}: the certificate proves nothing: {refusal}", path.display()), missing)
        };
        let verified = certificate::check(prover.closed(), &read).map_err(refused)?;
        let (offset, tour) = (prover.offset(), prover.outward(read.tour.clone()));
        let cost =
            tour.map_or_else(|| instance.cost(verified.cost + offset), |tour| instance.tour_cost(&tour));
        let bound = instance.lower_bound(verified.bound + offset);
        Ok::<_, PyErr>((cost, bound, verified.is_optimal()))
    };
    let (cost, bound, is_optimal) = py.detach(|| session.pool.install(check))?;
    Ok((in_python(py, cost)?, in_python(py, bound)?, is_optimal))
}

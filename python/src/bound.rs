//! Lower bounds, without a run.

use std::time::{Duration, Instant};

use antwarp::engine;
use antwarp::instance::memory;
use antwarp::solver::bounds;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::attend::{Post, Stop, attend};
use crate::error;
use crate::input::Instance;
use crate::outcome::in_python;
use crate::session::Session;

/// Finds a lower bound on the cost of every tour: with `time` in seconds, of which `spent` has passed, else by spanning trees alone.
/// `initial` is a tour to begin with. Returns the bound, infinite if every tour has a pair without a road; how it was found; and what
/// there is to tell about that.
#[pyfunction]
#[pyo3(signature = (session, instance, time=None, initial=None, spent=0.0))]
pub fn bound(
    py: Python<'_>,
    session: &Session,
    instance: &Instance,
    time: Option<f64>,
    initial: Option<Vec<u32>>,
    spent: f64,
) -> PyResult<(Py<PyAny>, &'static str, Vec<String>)> {
    let duration = |seconds: f64| {
        let time = Duration::try_from_secs_f64(seconds).ok();
        time.ok_or_else(|| error::option(format!("`time` must be a number of seconds, not {seconds}")))
    };
    let spent = Duration::try_from_secs_f64(spent).unwrap_or_default();
    let time = time.map(duration).transpose()?.map(|time| time.saturating_sub(spent));
    let stop = engine::Stop { time, interrupt: session.interrupt.clone(), ..engine::Stop::never() };
    let instance = &*instance.instance;
    if let Some(tour) = &initial {
        let wrong = |problem| error::option(format!("`initial_tour`: {problem}"));
        instance.check_tour(tour).map_err(wrong)?;
    }
    let work = |_: &Post<_>| {
        bounds::check(instance).map_err(error::of_instance)?;
        let no_room =
            |shortage| error::python::BackendError::new_err(format!("not enough memory: {shortage}"));
        memory::check(antwarp::bound::memory(instance) as u64).map_err(no_room)?;
        let mut told = Vec::new();
        let deadline = engine::Deadline::since(Instant::now(), &stop);
        let best = bounds::best(instance, (None, initial.as_deref()), deadline, &mut |what| told.push(what));
        Ok((best.map_err(error::of_solve)?, told))
    };
    let (best, told) = attend(py, session, (&stop, &Stop::default()), work, &|_, _| Ok(()))?;
    let Some(best) = best else {
        if stop.is_interrupted() {
            return Err(PyKeyboardInterrupt::new_err(()));
        }
        return Err(error::option("the time was up before a bound was found: give more `time`"));
    };
    let length = match best.length() {
        length if instance.is_impossible(length) => f64::INFINITY.into_pyobject(py)?.into_any().unbind(),
        length => in_python(py, instance.lower_bound(length))?,
    };
    Ok((length, best.method(), told))
}

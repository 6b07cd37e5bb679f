//! The CUDA devices of a run.

use std::sync::Arc;

use super::device::{Device, count};
use crate::backend::{Gpus, Machine};
use crate::engine::BackendError;

/// The CUDA devices of a run, at least one, all opened.
#[derive(Clone)]
pub struct Cards {
    devices: Vec<Arc<Device>>,
    /// Why others were left out.
    left_out: Option<String>,
}

impl Cards {
    /// Opens the requested devices, each on a thread of its own, in the order of the request. If all devices are requested, those
    /// that cannot be opened are left out, as long as one remains; [`Cards::machine`] names the first of them.
    ///
    /// # Errors
    /// If no device is requested, or one twice; if there is no driver or no device; or if a requested device does not exist or cannot
    /// be opened; where all are requested, only if none can be opened.
    pub fn open(gpus: &Gpus) -> Result<Cards, BackendError> {
        if let Some(fault) = gpus.fault() {
            return Err(BackendError::Gpus(fault));
        }
        let there = count()?;
        let ordinals: Vec<usize> = match gpus {
            Gpus::All => (0..there).collect(),
            Gpus::Count(wanted) if *wanted as usize > there => {
                return Err(BackendError::NoSuchDevice(*wanted as usize - 1, there));
            }
            Gpus::Count(wanted) => (0..*wanted as usize).collect(),
            Gpus::Turn(number) => vec![*number as usize % there],
            Gpus::These(numbers) => numbers.iter().map(|&number| number as usize).collect(),
        };
        let mut devices = Vec::new();
        let mut failures = Vec::new();
        std::thread::scope(|scope| {
            let opening: Vec<_> = ordinals
                .iter()
                .map(|&ordinal| (ordinal, scope.spawn(move || Device::open(ordinal))))
                .collect();
            for (ordinal, opened) in opening {
                match opened.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
                    Ok(device) => devices.push(Arc::new(device)),
                    Err(failure) => failures.push((ordinal, failure)),
                }
            }
        });
        let may_be_fewer = *gpus == Gpus::All && !devices.is_empty();
        let left_out = match failures.into_iter().next() {
            Some((_, failure)) if !may_be_fewer => return Err(failure),
            failure => failure.map(|(ordinal, why)| format!("GPU {ordinal} is left out: {why}")),
        };
        Ok(Cards { devices, left_out })
    }

    /// Makes the devices of a run from a single one.
    pub fn one(device: Device) -> Cards {
        Cards { devices: vec![Arc::new(device)], left_out: None }
    }

    /// Returns each device as the only one of a run.
    pub fn each(&self) -> impl Iterator<Item = Cards> {
        self.devices.iter().map(|device| Cards { devices: vec![device.clone()], left_out: None })
    }

    /// Returns the first device, for work that runs on one.
    pub fn first(&self) -> &Device {
        &self.devices[0]
    }

    /// Returns all devices.
    pub fn all(&self) -> Vec<&Device> {
        self.devices.iter().map(Arc::as_ref).collect()
    }

    /// Returns the number of multiprocessors of all devices together.
    pub fn multiprocessors(&self) -> u32 {
        self.devices.iter().map(|device| device.multiprocessors()).sum()
    }

    /// Returns the number of devices.
    pub fn count(&self) -> usize {
        self.devices.len()
    }

    /// Returns the machine, for reports: of several devices their number, their names, each once where equal ones are
    /// consecutive, and all their multiprocessors. The details are those of the first device, and why one was left out.
    pub fn machine(&self) -> Machine {
        let mut machine = self.first().machine();
        if self.count() > 1 {
            let mut names: Vec<String> = self.devices.iter().map(|device| device.machine().device).collect();
            names.dedup();
            machine.device = format!("{} x {}", self.count(), names.join(", "));
            machine.units = self.multiprocessors() as usize;
        }
        if let Some(why) = &self.left_out {
            machine.details = format!("{}; {why}", machine.details);
        }
        machine
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_gpu_or_one_twice_is_an_error_before_any_is_opened() {
        for gpus in [Gpus::Count(0), Gpus::These(Vec::new()), Gpus::These(vec![3, 0, 3])] {
            assert!(matches!(Cards::open(&gpus), Err(BackendError::Gpus(_))), "{gpus:?}");
        }
    }
}

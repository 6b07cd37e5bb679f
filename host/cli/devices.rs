//! `antwarp devices`: the processors and GPUs that antwarp can use.

#[cfg(feature = "cuda")]
use super::error::as_options;
use super::{Outcome, Result, output};
use crate::backend::cpu::Cpu;
#[cfg(feature = "cuda")]
use crate::backend::cuda::{self, DeviceFacts};
use crate::instance::counted;

/// Arguments of `antwarp devices`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Lists the processors and GPUs.
pub fn run(_: Args) -> Result<Outcome> {
    let text = describe();
    output::deliver(|out| out.write_all(text.as_bytes())).map(|()| Outcome::Done)
}

fn describe() -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| text += &format!("{name:<10} {value}\n");
    let cpu = Cpu::new().machine();
    line("CPU", format!("{}, {}, {}", cpu.device, counted(cpu.units, "thread"), cpu.details));
    #[cfg(not(feature = "cuda"))]
    line("GPU", "none: built without the feature `cuda`".to_string());
    #[cfg(feature = "cuda")]
    gpus(&mut line);
    text
}

#[cfg(feature = "cuda")]
fn gpus(line: &mut dyn FnMut(&str, String)) {
    match cuda::devices() {
        Ok(devices) => {
            devices.iter().enumerate().for_each(|(i, facts)| line(&format!("GPU {i}"), device(facts)))
        }
        Err(why) => line("GPU", format!("none: {}", as_options(&why.to_string()))),
    }
    match cuda::kernels() {
        Ok(facts) => {
            let names: Vec<String> = facts.architectures.iter().map(|a| format!("sm_{a}")).collect();
            line(
                "kernels",
                format!("{} for {}, compiled by {}", facts.count, names.join(", "), facts.compiler),
            );
        }
        Err(why) => line("kernels", format!("none: {}", as_options(&why.to_string()))),
    }
}

#[cfg(feature = "cuda")]
fn device(facts: &DeviceFacts) -> String {
    let (major, minor) = facts.capability;
    let memory = indicatif::HumanBytes(facts.memory);
    format!(
        "{}, compute capability {major}.{minor}, {memory}, {} multiprocessors, driver for CUDA {}, kernels {}",
        facts.name, facts.multiprocessors, facts.driver, facts.kernels
    )
}

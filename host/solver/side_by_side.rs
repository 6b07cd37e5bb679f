//! Several runs at the same time, each on its own thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use crate::engine::{Progress, Stop};

/// How often interrupts are checked.
const TICK: Duration = Duration::from_millis(10);

/// Makes all runs end at once.
#[derive(Clone, Default)]
pub(super) struct Hurry(Arc<AtomicBool>);

impl Hurry {
    /// Ends all runs.
    pub(super) fn up(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns the same limits for one of the runs, with this interrupt.
    pub(super) fn stop(&self, stop: &Stop) -> Stop {
        Stop { interrupt: self.0.clone(), ..stop.clone() }
    }
}

/// Ends the other runs if one panics; the panic is reported once all are over.
struct EndsAll<'a>(&'a Hurry);

impl Drop for EndsAll<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.up();
        }
    }
}

/// Makes `count` runs, each given its number, and returns their results in that order. `hear` is given the progress of each of
/// them, and the number of the run that has just reported; `tick` is called about a hundred times a second. An interrupt of `stop`
/// is passed on.
///
/// # Panics
/// If a run does, once all are over.
pub(super) fn run<C: Copy + Send, R: Send>(
    count: u32,
    stop: &Stop,
    hurry: &Hurry,
    one: impl Fn(u32, &mut dyn FnMut(&Progress<C>)) -> R + Sync,
    mut hear: impl FnMut(&[Option<Progress<C>>], Progress<C>),
    tick: impl Fn(),
) -> Vec<R> {
    std::thread::scope(|scope| {
        let (told, progress) = mpsc::channel();
        let runs: Vec<_> = (0..count)
            .map(|number| {
                let (told, one) = (told.clone(), &one);
                scope.spawn(move || {
                    let _ends_all = EndsAll(hurry);
                    // The receiver outlives the runs.
                    one(number, &mut |progress: &Progress<C>| _ = told.send((number, *progress)))
                })
            })
            .collect();
        drop(told);
        let mut last: Vec<Option<Progress<C>>> = vec![None; runs.len()];
        loop {
            match progress.recv_timeout(TICK) {
                Ok((number, progress)) => {
                    last[number as usize] = Some(progress);
                    hear(&last, progress);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if stop.interrupt.load(Ordering::Relaxed) {
                hurry.up();
            }
            tick();
        }
        let ended: Vec<_> = runs.into_iter().map(|run| run.join()).collect();
        ended
            .into_iter()
            .map(|ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn at(iterations: u64) -> Progress {
        Progress {
            iterations,
            best_cost: 0,
            iteration_cost: 0,
            seconds: 0.0,
            tours: iterations,
            part: "kicks",
            restarts: 0,
            proof: None,
        }
    }

    #[test]
    fn what_runs_tell_is_heard_and_what_they_give_is_in_order() {
        let mut heard = 0;
        let one = |number: u32, observe: &mut dyn FnMut(&Progress)| {
            (0..=u64::from(number)).for_each(|i| observe(&at(i)));
            number
        };
        let hear = |last: &[Option<Progress>], progress: Progress| {
            assert!(last.iter().flatten().any(|p| p.iterations == progress.iterations));
            heard += 1;
        };
        let given = run(4, &Stop::never(), &Hurry::default(), one, hear, || ());
        assert_eq!((given, heard), (vec![0, 1, 2, 3], 1 + 2 + 3 + 4));
    }

    #[test]
    fn a_run_that_panics_ends_the_others_at_once() {
        let (begin, hurry) = (Instant::now(), Hurry::default());
        let own = hurry.stop(&Stop::never());
        let one = |number: u32, _: &mut dyn FnMut(&Progress)| {
            assert!(number != 1, "number one gives up");
            while !own.interrupt.load(Ordering::Relaxed) && begin.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(TICK);
            }
        };
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            run(3, &Stop::never(), &hurry, one, |_, _| (), || ())
        }));
        assert!(ended.is_err() && begin.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn an_interrupt_is_handed_on() {
        let (stop, hurry) = (Stop::never(), Hurry::default());
        let own = hurry.stop(&stop);
        let one = |number: u32, _: &mut dyn FnMut(&Progress)| {
            if number == 0 {
                stop.interrupt.store(true, Ordering::Relaxed);
            }
            while !own.interrupt.load(Ordering::Relaxed) {
                std::thread::sleep(TICK);
            }
            number
        };
        assert_eq!(run(2, &stop, &hurry, one, |_, _| (), || ()), [0, 1]);
    }
}

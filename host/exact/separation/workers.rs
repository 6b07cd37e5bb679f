//! Work on several threads.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use antwarp_instance::Watch;

/// The threads that separation may use, and when to stop.
#[derive(Clone, Copy)]
pub struct Workers<'a> {
    /// The number of threads, the calling one among them; the others are started for each piece of work.
    pub threads: usize,
    /// Asked between pieces of work.
    pub watch: &'a Watch<'a>,
}

impl<'a> Workers<'a> {
    /// Does two kinds of work at the same time, the first one on one thread, the second one with the others. With a single thread they
    /// come one after the other.
    pub(crate) fn both<A: Send, B>(
        self,
        first: impl Fn() -> A + Sync,
        second: impl FnOnce(Workers<'a>) -> B,
    ) -> (A, B) {
        if self.threads < 2 {
            return (first(), second(self));
        }
        std::thread::scope(|scope| {
            let beside = std::thread::Builder::new().name("cuts".into()).spawn_scoped(scope, &first);
            match beside {
                Ok(beside) => {
                    let done = second(Workers { threads: self.threads - 1, ..self });
                    let before = beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                    (before, done)
                }
                Err(_) => (first(), second(self)),
            }
        })
    }

    /// Calls `work` with each number below `count`. Returns the results in order; once the watch is over, some are left out, so that
    /// places do not tell the numbers.
    pub(crate) fn each<T: Send>(&self, count: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::with_capacity(count));
        let run = || {
            let mut own = Vec::new();
            while !self.watch.is_over() {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    break;
                }
                own.push((number, work(number)));
            }
            results.lock().unwrap_or_else(PoisonError::into_inner).append(&mut own);
        };
        std::thread::scope(|scope| {
            for _ in 1..self.threads.min(count) {
                // Without this thread the others do its work.
                if std::thread::Builder::new().name("cuts".into()).spawn_scoped(scope, run).is_err() {
                    break;
                }
            }
            run();
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|result| result.0);
        results.into_iter().map(|result| result.1).collect()
    }
}

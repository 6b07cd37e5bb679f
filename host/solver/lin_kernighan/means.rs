//! The computing resources for kicking and crossing tours.

use crate::backend::Backend;

/// Kicks per second of a CPU thread, and of a GPU, until measured.
const THREAD: f64 = 10_000.0;
const GPU: f64 = 1_200_000.0;
/// The fewest kicks per second of a CPU thread that a plan for later epochs assumes. An early epoch is short: on a busy processor a thread may
/// have waited for most of it.
pub const LEAST: f64 = THREAD / 4.0;
/// The most kicks per second from which a thread's speed at crossing follows: where kicks are faster than that, because tours are easy to
/// mend, crossing is not.
const MOST_CROSSING: f64 = 1.2 * THREAD;
/// Kicks in place that a thread is assumed to make in the time of one by a trial. For pr2392 it makes about 40,000 instead of 8,000 a
/// second.
pub const IN_PLACE: f64 = 4.0;

/// The resources that kick and cross tours: those of this process, or of several that share tours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Means {
    /// Kicks per second, until measured.
    pub kicks: f64,
    /// Kicks per second of a CPU thread by trials, until measured, as far as they tell how fast it crosses tours.
    pub thread: f64,
    /// CPU threads, which cross tours.
    pub threads: u32,
    /// Whether there are GPUs.
    pub on_gpus: bool,
    /// Whether CPU threads kick tours that are to be crossed [in place](crate::engine::lin_kernighan::Spec::in_place).
    pub in_place: bool,
}

impl Means {
    /// Returns the means of a backend, if threads get this share of their processors' time.
    pub fn of(backend: &Backend, share: f64) -> Means {
        let (threads, thread) = (rayon::current_num_threads() as u32, THREAD * share);
        let kicks = match backend.gpus() {
            0 => thread * f64::from(threads),
            gpus => GPU * gpus as f64,
        };
        Means { kicks, thread, threads, on_gpus: !backend.is_cpu(), in_place: false }
    }

    /// Returns these means, where a thread was measured to make this many kicks per second by trials. How fast a GPU kicks depends on the
    /// number of tours, and says nothing about the threads.
    pub fn measured(self, thread: f64) -> Means {
        if self.on_gpus {
            return self;
        }
        let each = if self.in_place { IN_PLACE * thread } else { thread };
        let crossing = if self.in_place { thread } else { thread.min(MOST_CROSSING) };
        Means { kicks: each * f64::from(self.threads), thread: crossing, ..self }
    }

    /// Returns these means of CPU threads, if they kick tours in place.
    pub fn in_place(self) -> Means {
        Means { kicks: IN_PLACE * self.kicks, in_place: true, ..self }
    }

    /// Returns the sum of both.
    pub fn with(self, other: Means) -> Means {
        Means {
            kicks: self.kicks + other.kicks,
            thread: self.thread.min(other.thread),
            threads: self.threads + other.threads,
            on_gpus: self.on_gpus || other.on_gpus,
            in_place: self.in_place && other.in_place,
        }
    }
}

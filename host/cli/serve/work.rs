//! Searches: as many at a time as there are pools of threads; as many more wait as the queue holds.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};
use tokio::sync::{Semaphore, oneshot};

use super::metrics::Metrics;
use super::refusal::{Kind, Refusal};

/// The threads of all searches.
pub struct Work {
    /// Those of a search each; a search takes one and puts it back.
    pools: Mutex<Vec<Arc<ThreadPool>>>,
    /// As many as there are pools.
    free: Semaphore,
    /// Most requests that are admitted at a time, whether they run or wait.
    most: usize,
    /// What stops each running search.
    running: Mutex<Vec<Arc<AtomicBool>>>,
    closing: AtomicBool,
    metrics: Arc<Metrics>,
}

/// The place of an admitted request, which is free again once this is dropped.
pub struct Place(Arc<Work>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.metrics.admitted.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Stops a search whose client no longer waits for it.
struct Client(Arc<AtomicBool>);

impl Drop for Client {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Work {
    /// Starts a pool of `threads` for each of as many searches as there are `jobs`; `queue` more requests may wait.
    ///
    /// # Errors
    /// If the system cannot start that many.
    pub fn start(
        (jobs, threads): (usize, usize),
        queue: usize,
        metrics: Arc<Metrics>,
    ) -> Result<Arc<Work>, rayon::ThreadPoolBuildError> {
        let pool = |_| ThreadPoolBuilder::new().num_threads(threads).build().map(Arc::new);
        let pools = (0..jobs).map(pool).collect::<Result<Vec<_>, _>>()?;
        Ok(Arc::new(Work {
            pools: Mutex::new(pools),
            free: Semaphore::new(jobs),
            most: jobs + queue,
            running: Mutex::default(),
            closing: AtomicBool::new(false),
            metrics,
        }))
    }

    /// Admits a request.
    ///
    /// # Errors
    /// [`Kind::Busy`] if as many as allowed run or wait, and [`Kind::Closing`] after [`Work::close`].
    pub fn admit(self: &Arc<Work>) -> Result<Place, Refusal> {
        if self.closing.load(Ordering::Acquire) {
            return Err(closing());
        }
        let more = |admitted: usize| (admitted < self.most).then_some(admitted + 1);
        self.metrics
            .admitted
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, more)
            .map_err(|_| Refusal::new(Kind::Busy, "too many requests are waiting: try again later"))?;
        Ok(Place(self.clone()))
    }

    /// Runs a search once a pool is free, on its threads. The flag that it gets is set when it should end: if the returned future is
    /// dropped, or the server closes.
    ///
    /// # Errors
    /// That of the search, [`Kind::Failed`] if it panics, and [`Kind::Closing`] if the server closes before there is a pool.
    pub async fn run<T: Send + 'static>(
        self: &Arc<Work>,
        place: Place,
        search: impl FnOnce(&Arc<AtomicBool>) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let Ok(permit) = self.free.acquire().await else { return Err(closing()) };
        let Some(pool) = lock(&self.pools).pop() else { return Err(bug()) };
        // The search itself gives it back, when its pool is free again.
        permit.forget();
        let interrupt = Arc::new(AtomicBool::new(false));
        lock(&self.running).push(interrupt.clone());
        if self.closing.load(Ordering::Acquire) {
            interrupt.store(true, Ordering::Relaxed);
        }
        self.metrics.running.fetch_add(1, Ordering::Relaxed);
        let _client = Client(interrupt.clone());
        let (tell, told) = oneshot::channel();
        let (work, own) = (self.clone(), pool.clone());
        pool.spawn(move || {
            let begin = Instant::now();
            // A panic outside would end the process.
            let ended = catch_unwind(AssertUnwindSafe(|| search(&interrupt))).unwrap_or_else(|_| Err(bug()));
            work.end(own, &interrupt, begin.elapsed());
            drop(place);
            // Nobody listens if the client is gone.
            let _ = tell.send(ended);
        });
        told.await.unwrap_or_else(|_| Err(bug()))
    }

    /// Makes room for the next search.
    fn end(&self, pool: Arc<ThreadPool>, interrupt: &Arc<AtomicBool>, time: Duration) {
        self.metrics.searched(time);
        lock(&self.running).retain(|other| !Arc::ptr_eq(other, interrupt));
        lock(&self.pools).push(pool);
        self.metrics.running.fetch_sub(1, Ordering::Relaxed);
        self.free.add_permits(1);
    }

    /// Stops running searches, which end with their best tours, and refuses all others.
    pub fn close(&self) {
        self.closing.store(true, Ordering::Release);
        self.free.close();
        lock(&self.running).iter().for_each(|interrupt| interrupt.store(true, Ordering::Relaxed));
    }
}

fn closing() -> Refusal {
    Refusal::new(Kind::Closing, "the server is shutting down")
}

fn bug() -> Refusal {
    Refusal::new(Kind::Failed, "the search failed: this is a bug in antwarp, please report it")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Fibers where `corosensei` has none: each is a thread of the operating system, and one of them runs at a time.

use std::io;
use std::marker::PhantomData;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Bytes of a fiber's stack.
const STACK: usize = 1 << 20;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Owner,
    Fiber,
    Ended,
}

/// Whose turn it is: the fiber's, or that of who resumes it.
#[derive(Clone)]
pub struct Turn(Arc<(Mutex<Whose>, Condvar)>);

impl Turn {
    /// Sets whose turn it is, and waits while it is that one's; returns whose it is then.
    fn pass(&self, to: Whose) -> Whose {
        self.set(to);
        self.wait_while(to)
    }

    fn set(&self, to: Whose) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = to;
        self.0.1.notify_all();
    }

    fn wait_while(&self, other: Whose) -> Whose {
        let whose = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        *self.0.1.wait_while(whose, |whose| *whose == other).unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns to who resumed the fiber, until it is resumed again.
    pub fn suspend(&self) {
        self.pass(Whose::Owner);
    }
}

/// A function that runs by turns; `'a` is what it borrows.
pub struct Fiber<'a> {
    turn: Turn,
    has_started: bool,
    has_ended: bool,
    thread: Option<JoinHandle<()>>,
    body: PhantomData<&'a ()>,
}

/// A value that goes to another thread.
struct Sent<T>(T);

// SAFETY: the threads of a fiber and of its owner take turns, and each turn happens after the one before.
unsafe impl<T> Send for Sent<T> {}

impl<T> Sent<T> {
    fn into(self) -> T {
        self.0
    }
}

impl<'a> Fiber<'a> {
    /// Makes a fiber, which runs when it is first resumed. Fails if the system has no thread left.
    pub fn new(body: impl FnOnce(&Turn) + 'a) -> io::Result<Fiber<'a>> {
        let turn = Turn(Arc::new((Mutex::new(Whose::Owner), Condvar::new())));
        let own = turn.clone();
        let body = Sent(body);
        let work = move || {
            // Dropped before its first turn, it has ended.
            if own.wait_while(Whose::Owner) == Whose::Fiber {
                body.into()(&own);
            }
            own.set(Whose::Ended);
        };
        // SAFETY: what the body borrows lives for 'a, and so as long as the fiber: dropping it waits for its end.
        let thread = unsafe { std::thread::Builder::new().stack_size(STACK).spawn_unchecked(work) }?;
        Ok(Fiber { turn, has_started: false, has_ended: false, thread: Some(thread), body: PhantomData })
    }

    /// Runs the fiber until it gives its turn back. Returns whether it has ended.
    pub fn resume(&mut self) -> bool {
        self.has_started = true;
        if !self.has_ended {
            self.has_ended = self.turn.pass(Whose::Fiber) == Whose::Ended;
        }
        self.has_ended
    }

    /// Runs the fiber to its end.
    pub fn finish(&mut self) {
        while !self.resume() {}
    }
}

impl Drop for Fiber<'_> {
    fn drop(&mut self) {
        match self.has_started {
            true => self.finish(),
            false => self.turn.set(Whose::Ended),
        }
        // The body of the engine catches what its threads panic with.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

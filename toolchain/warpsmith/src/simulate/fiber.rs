//! Fibers: what runs by turns on one thread of the operating system, each on a stack of its own.

use std::cell::RefCell;
use std::io;
use std::marker::PhantomData;
use std::vec::Vec;

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::overflow;

/// Bytes of a fiber's stack. Pages that it never touches take no memory.
const STACK: usize = 1 << 20;

/// How many stacks a host thread keeps for later launches: those of one large block.
const KEPT: usize = 1024;

thread_local! {
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// Where a fiber gives its turn back.
#[repr(transparent)]
pub struct Turn(Yielder<(), ()>);

impl Turn {
    /// Returns to who resumed the fiber, until it is resumed again.
    pub fn suspend(&self) {
        self.0.suspend(());
    }
}

/// A function that runs by turns; `'a` is what it borrows.
pub struct Fiber<'a> {
    /// None once its stack was taken back.
    coroutine: Option<Coroutine<(), (), ()>>,
    /// Addresses of the page below the stack, which nobody may touch.
    guard: (usize, usize),
    body: PhantomData<&'a ()>,
}

impl<'a> Fiber<'a> {
    /// Makes a fiber, which runs when it is first resumed. Fails if the system has no memory, or too many areas of memory, for its
    /// stack.
    pub fn new(body: impl FnOnce(&Turn) + 'a) -> io::Result<Fiber<'a>> {
        let kept = STACKS.with_borrow_mut(Vec::pop);
        let stack = kept.map_or_else(|| DefaultStack::new(STACK), Ok)?;
        let guard = overflow::guard_above(stack.limit().get());
        let body = move |turn: &Yielder<(), ()>, ()| {
            // SAFETY: `Turn` is a transparent wrapper.
            body(unsafe { &*std::ptr::from_ref(turn).cast::<Turn>() });
        };
        // SAFETY: what the body borrows lives for 'a, and so as long as the fiber: dropping it unwinds what still runs.
        let coroutine = unsafe { Coroutine::with_stack_unchecked(stack, body) };
        Ok(Fiber { coroutine: Some(coroutine), guard, body: PhantomData })
    }

    /// Runs the fiber until it gives its turn back. Returns whether it has ended.
    pub fn resume(&mut self) -> bool {
        let Some(coroutine) = self.coroutine.as_mut().filter(|coroutine| !coroutine.done()) else {
            return true;
        };
        let before = overflow::watch(self.guard);
        let result = coroutine.resume(());
        overflow::watch(before);
        matches!(result, CoroutineResult::Return(()))
    }

    /// Runs the fiber to its end.
    pub fn finish(&mut self) {
        while !self.resume() {}
    }
}

impl Drop for Fiber<'_> {
    fn drop(&mut self) {
        let Some(coroutine) = self.coroutine.take() else { return };
        if coroutine.done() {
            STACKS.with_borrow_mut(|stacks| {
                if stacks.len() < KEPT {
                    stacks.push(coroutine.into_stack());
                }
            });
        }
    }
}

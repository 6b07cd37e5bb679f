//! Fibers, of both kinds.

use core::cell::RefCell;
use std::vec::Vec;

use super::fiber as by_assembly;

#[path = "fiber_on_threads.rs"]
mod by_threads;

macro_rules! test_fibers {
    ($name:ident, $kind:ident) => {
        mod $name {
            use super::*;

            #[test]
            fn fibers_take_turns() {
                let said = RefCell::new(Vec::new());
                let body = |name: u32| {
                    let said = &said;
                    move |turn: &super::$kind::Turn| {
                        for step in 0..3 {
                            said.borrow_mut().push((name, step));
                            turn.suspend();
                        }
                    }
                };
                let mut fibers = [1, 2].map(|name| super::$kind::Fiber::new(body(name)).unwrap());
                for _ in 0..3 {
                    assert!(fibers.iter_mut().all(|fiber| !fiber.resume()));
                }
                // They have nothing left to say, and stay ended.
                assert!(fibers.iter_mut().all(|fiber| fiber.resume() && fiber.resume()));
                drop(fibers);
                assert_eq!(said.into_inner(), [(1, 0), (2, 0), (1, 1), (2, 1), (1, 2), (2, 2)]);
            }

            #[test]
            fn a_fiber_can_have_fibers_of_its_own() {
                let mut sum = 0;
                let mut outer = super::$kind::Fiber::new(|turn| {
                    let mut inner = super::$kind::Fiber::new(|turn| {
                        sum += 1;
                        turn.suspend();
                        sum += 10;
                    })
                    .unwrap();
                    inner.resume();
                    turn.suspend();
                    inner.finish();
                })
                .unwrap();
                outer.resume();
                outer.finish();
                drop(outer);
                assert_eq!(sum, 11);
            }

            #[test]
            fn a_fiber_that_never_ran_does_not_run_when_dropped() {
                let mut has_run = false;
                drop(super::$kind::Fiber::new(|_| has_run = true).unwrap());
                assert!(!has_run);
            }
        }
    };
}

test_fibers!(on_stacks, by_assembly);
test_fibers!(on_threads, by_threads);

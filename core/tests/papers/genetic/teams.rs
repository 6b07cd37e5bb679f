//! A generation does not depend on the order of its children, nor on the teams that make them.

use crate::common::memory::{Array, Number};
use crate::common::teams::{ORDERS, Order, Shareable, run};
use crate::papers::genetic::generation::METHODS;
use crate::papers::genetic::world::{Dice, Pool, World, breed_in_order, rules};
use antwarp_core::geometry::{Geometry, Places};
use antwarp_core::node::NodeId;
use antwarp_core::papers::genetic::{GenerationRules, breed, memory_bytes};
use antwarp_core::team::{Serial, Team};

/// A team makes children one after another in the same memory.
fn breed_on<I: NodeId + Number, G: Geometry>(
    (size, order): (u32, Order),
    places: Places<G>,
    rules: &GenerationRules,
    pool: &mut Pool<I>,
) {
    let mut memory = Array::<u8>::rubbish(memory_bytes::<I>(rules.n));
    let shared = Shareable::new((pool.tables(), places, memory.start()));
    run(size, order, |member| {
        let (tables, places, memory) = shared.get();
        for index in (0..rules.children()).rev() {
            // SAFETY: the pool is as large as the rules say and holds tours; the memory has the size asked for, and the
            // whole team is done with a child before the next.
            unsafe { breed(member, rules, tables, places, memory, index) };
            member.barrier();
        }
    });
}

/// Threads make children at the same time, each on its own.
fn breed_at_once<I: NodeId + Number, G: Geometry>(
    places: Places<G>,
    rules: &GenerationRules,
    pool: &mut Pool<I>,
) {
    let shared = Shareable::new((pool.tables(), places));
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let shared = &shared;
            scope.spawn(move || {
                let mut memory = Array::<u8>::rubbish(memory_bytes::<I>(rules.n));
                let (tables, places) = shared.get();
                for index in (thread..rules.children()).step_by(3) {
                    // SAFETY: as above; each index is one thread's.
                    unsafe { breed(Serial, rules, tables, places, memory.start(), index) };
                }
            });
        }
    });
}

fn check<I: NodeId + Number, G: Geometry>(places: Places<G>, rules: &GenerationRules, pool: &Pool<I>) {
    let made = |make: &dyn Fn(&mut Pool<I>)| {
        let mut pool = pool.copy();
        make(&mut pool);
        pool.state(rules.children())
    };
    let count = rules.children();
    let expected = made(&|pool| breed_in_order(places, rules, pool, 0..count));
    let context = format!("method {} among {} nodes", rules.method, rules.n);
    assert!(
        made(&|pool| breed_in_order(places, rules, pool, (0..count).rev())) == expected,
        "backwards, {context}"
    );
    let mixed = Dice::new(count.into()).shuffled(count);
    assert!(made(&|pool| breed_in_order(places, rules, pool, mixed.clone())) == expected, "mixed, {context}");
    assert!(made(&|pool| breed_at_once(places, rules, pool)) == expected, "three at once, {context}");
    for order in ORDERS {
        for size in [1, 2, 5] {
            let same = made(&|pool| breed_on((size, order), places, rules, pool)) == expected;
            assert!(same, "{size} threads, {order:?}, {context}");
        }
    }
}

fn check_everywhere<I: NodeId + Number>(world: &World, rules: &GenerationRules) {
    let pool = Pool::<I>::random(world, rules, 3);
    check(world.places(), rules, &pool);
    if let Some(places) = world.on_grid() {
        check(places, rules, &pool);
    }
}

#[test]
fn children_are_the_same_in_any_order_and_on_any_team() {
    for world in [World::points(4, 5, 2), World::points(37, 30, 1), World::directed(16, 50, 1)] {
        for method in METHODS {
            for (shuffled, mutation, unfinished) in [(0, 0, 1), (1, 1 << 31, 0), (1, u32::MAX, 0)] {
                let rules = rules(&world, (8, 2), method);
                let ring = unfinished ^ u32::from(mutation == u32::MAX);
                let rules = GenerationRules { shuffled, mutation, unfinished, ring, generation: 7, ..rules };
                check_everywhere::<u16>(&world, &rules);
                if rules.directed == 0 {
                    check_everywhere::<u32>(&world, &GenerationRules { window: world.n.isqrt(), ..rules });
                }
            }
        }
        let rules = GenerationRules { shuffled: 1, mutation: 1 << 31, ..rules(&world, (12, 1), METHODS[3]) };
        check_everywhere::<u32>(&world, &rules);
    }
}

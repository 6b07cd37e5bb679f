//! Ids of both widths.

use crate::common::memory::{Array, Number};
use antwarp_core::node::NodeId;

fn groups_come_in_order<I: NodeId + Number>() {
    let values: Vec<I> = (0..24).map(|i| I::new(65_535 - 2_731 * i)).collect();
    let ids = Array::of(&values);
    for group in 0..3 {
        // SAFETY: three groups at a 16-byte boundary.
        let loaded = unsafe { I::load_group(ids.as_ptr().add(8 * group)) };
        assert_eq!(loaded, std::array::from_fn(|k| 65_535 - 2_731 * (8 * group + k) as u32));
    }
}

#[test]
fn groups_of_ids_come_in_order() {
    groups_come_in_order::<u16>();
    groups_come_in_order::<u32>();
}

#[test]
fn ids_hold_their_nodes_and_the_sentinel() {
    for node in [0, 1, 255, 256, 65_534, 65_535] {
        assert_eq!((u16::new(node).get(), u32::new(node).get()), (node, node));
    }
    assert_eq!(u32::new(1 << 31).get(), 1 << 31);
    assert_eq!((u16::BYTES, u32::BYTES), (2, 4));
}

//! Clusters of a launch: blocks that are at hand together, and reach each other's shared memory.

use super::engine::{Dim, Engine};
use super::memory::Memory;

impl Engine<'_> {
    /// Returns the number of blocks of a cluster.
    pub fn cluster_size(&self) -> u32 {
        self.cluster.count() as u32
    }

    /// Returns the number of clusters of the launch, which the host has checked to be whole.
    pub(super) fn clusters(&self) -> u64 {
        self.blocks.count() / self.cluster.count()
    }

    /// Returns the positions of the blocks of a cluster, in their order in it.
    pub(super) fn blocks_of(&self, cluster: u64) -> impl Iterator<Item = Dim> {
        let (of, all) = (self.cluster, self.blocks);
        let first = Dim { x: all.x / of.x, y: all.y / of.y, z: all.z / of.z }.at(cluster);
        let position = move |rank| {
            let own = of.at(rank);
            Dim { x: first.x * of.x + own.x, y: first.y * of.y + own.y, z: first.z * of.z + own.z }
        };
        (0..of.count()).map(position)
    }

    /// Returns the number of a thread's block in its cluster. Clusters at hand are whole, one after the other.
    pub fn cluster_rank(&self, slot: u32) -> u32 {
        slot / self.block_size() % self.cluster_size()
    }

    /// Returns the address of the same shared memory in another block of the cluster.
    pub fn of_cluster(&self, slot: u32, p: *mut u8, rank: u32) -> *mut u8 {
        let mut state = self.state.borrow_mut();
        let own = (slot / self.block_size()) as usize;
        let other = own - self.cluster_rank(slot) as usize + rank as usize;
        let block = &state.blocks[own];
        if let Some(offset) = block.dynamic.offset_of(p) {
            return state.blocks[other].dynamic.start().wrapping_add(offset);
        }
        let mut sites = block.shared.iter();
        let found = sites.find_map(|(key, memory)| Some((*key, memory.align, memory.offset_of(p)?)));
        // An address outside of shared memory is the same everywhere.
        let Some((key, align, offset)) = found else { return p };
        let memory =
            state.blocks[other].shared.entry(key).or_insert_with(|| Memory::new(key.1, align, key.2));
        memory.start().wrapping_add(offset)
    }
}

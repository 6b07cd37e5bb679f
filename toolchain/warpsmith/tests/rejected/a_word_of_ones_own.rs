use warpsmith::prelude::*;
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy)]
pub struct Small(u8);
impl warpsmith::memory::Word for Small { //~ the trait bound `Small: memory::sealed::Sealed` is not satisfied
    fn from_word(word: u32) -> Self {
        Small(word as u8)
    }
}

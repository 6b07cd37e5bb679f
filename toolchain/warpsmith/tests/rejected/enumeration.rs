use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[derive(Clone, Copy, DeviceCopy)]
pub enum Colour { //~ only structs are `DeviceCopy`
    Red,
}

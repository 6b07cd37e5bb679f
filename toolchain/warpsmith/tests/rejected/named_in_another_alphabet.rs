use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub fn größe() {} //~ PTX knows only ASCII letters

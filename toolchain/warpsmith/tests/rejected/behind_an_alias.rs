use warpsmith::prelude::*;
warpsmith::module!(cpu);
type Names<'a> = &'a [&'static str];
#[kernel]
pub fn k(names: Names<'_>) { //~ `&[&'static str]` cannot be a parameter of a kernel
    let _ = names;
}

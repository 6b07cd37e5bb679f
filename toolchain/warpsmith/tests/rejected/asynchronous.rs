use warpsmith::prelude::*;
warpsmith::module!(cpu);
#[kernel]
pub async fn k() {} //~ a kernel cannot be async

use warpsmith::prelude::*;
warpsmith::module!(cpu);
pub fn k() {
    let i = thread::index();
    std::thread::spawn(move || i.get()); //~ cannot be sent between threads safely
}

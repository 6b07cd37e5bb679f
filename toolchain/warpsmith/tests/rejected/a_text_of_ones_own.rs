#[derive(Clone, Copy)]
pub struct Text(u64);
impl warpsmith::print::Printable for Text { //~ the trait bound `Text: warpsmith::print::sealed::Sealed` is not satisfied
    const KIND: u8 = b's';
    fn into_slot(self) -> u64 {
        self.0
    }
}

//! Panics of kernels, with their place in the source, which no payload has.

use std::any::Any;
use std::boxed::Box;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::string::{String, ToString};
use std::sync::Once;

use super::CURRENT;

/// File, line and column.
pub type SourcePlace = (String, u32, u32);

/// What a kernel panicked with, and where.
pub struct Panic {
    pub text: String,
    pub place: Option<SourcePlace>,
}

thread_local! {
    /// The last one of a kernel.
    static LAST: RefCell<Option<Panic>> = const { RefCell::new(None) };
}

/// Keeps panics of kernels for their launch, instead of printing them.
pub fn catch_places() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if CURRENT.with(|current| current.engine.get().is_null()) {
                return before(info);
            }
            let place = info.location().map(|place| (place.file().to_string(), place.line(), place.column()));
            LAST.set(Some(Panic { text: text(info.payload()), place }));
        }));
    });
}

/// Calls a kernel.
pub fn catch(body: &dyn Fn()) -> Result<(), Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(body))
}

/// Describes what [`catch`] has caught last.
pub fn describe(payload: &(dyn Any + Send)) -> Panic {
    LAST.take().unwrap_or_else(|| Panic { text: text(payload), place: None })
}

fn text(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        return text.to_string();
    }
    payload.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic without text".to_string())
}

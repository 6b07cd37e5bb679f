//! Requests that are refused: why, and how each interface says so.

use serde_json::{Value, json};

/// The interface of a request, which decides what an error looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// Our own.
    Own,
    /// That of VROOM.
    Vroom,
    /// The trip service of OSRM.
    Osrm,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The request cannot be read at all: its URL, or its body.
    Syntax,
    /// A value is out of its range, or contradicts another.
    Value,
    /// The request asks for something that antwarp does not do.
    Unsupported,
    /// No tour was found that fits the request, or none can.
    NoTour,
    /// There is nothing at this path.
    NotFound,
    /// The path does not have the method of the request.
    Method,
    /// The body did not arrive in time.
    Slow,
    /// The body or the instance is too large.
    TooLarge,
    /// The body is not announced as JSON.
    MediaType,
    /// The server is called by a name that is not its own.
    Host,
    /// As many requests as allowed run or wait.
    Busy,
    /// The server is shutting down.
    Closing,
    /// The search failed: a bug, or a lack of memory or threads.
    Failed,
}

/// A request that is refused.
#[derive(Debug)]
pub struct Refusal {
    /// Why.
    pub kind: Kind,
    /// What is wrong, and what to do.
    pub text: String,
}

impl Refusal {
    /// Creates a refusal.
    pub fn new(kind: Kind, text: impl Into<String>) -> Refusal {
        Refusal { kind, text: text.into() }
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> u16 {
        match self.kind {
            Kind::Syntax | Kind::Value | Kind::Unsupported => 400,
            Kind::NotFound => 404,
            Kind::Method => 405,
            Kind::Slow => 408,
            Kind::TooLarge => 413,
            Kind::MediaType => 415,
            Kind::Host => 421,
            Kind::NoTour => 422,
            Kind::Busy => 429,
            Kind::Failed => 500,
            Kind::Closing => 503,
        }
    }

    /// Returns the body of the answer, as the interface has it.
    pub fn body(&self, api: Api) -> Value {
        match api {
            Api::Own => json!({ "error": self.text }),
            Api::Vroom => json!({ "code": self.vroom_code(), "error": self.text }),
            Api::Osrm => json!({ "code": self.osrm_code(), "message": self.text }),
        }
    }

    /// VROOM's codes: 1 is an internal error, 2 one of the input; 4 is vroom-express's for too many locations.
    fn vroom_code(&self) -> u8 {
        match self.kind {
            Kind::Busy | Kind::Closing | Kind::Failed => 1,
            Kind::TooLarge => 4,
            _ => 2,
        }
    }

    fn osrm_code(&self) -> &'static str {
        match self.kind {
            Kind::Syntax | Kind::NotFound | Kind::Method | Kind::Host => "InvalidUrl",
            Kind::Unsupported => "NotImplemented",
            Kind::TooLarge => "TooBig",
            Kind::NoTour => "NoTrips",
            Kind::Busy => "TooManyRequests",
            Kind::Closing | Kind::Failed => "InternalError",
            Kind::Value | Kind::Slow | Kind::MediaType => "InvalidQuery",
        }
    }
}

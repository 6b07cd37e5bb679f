//! Which path does what, and what all answers have in common.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response};
use rayon::ThreadPoolBuildError;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::hosts::Hosts;
use super::metrics::Metrics;
use super::pages::{self, Page, Tiles};
use super::query::Query;
use super::refusal::{Api, Kind, Refusal};
use super::task::Limits;
use super::work::Work;
use super::{solve, trip, vroom};

/// How long a client may take for the body of a request.
const BODY: Duration = Duration::from_secs(30);
/// Seconds after which a client that was refused may try again.
const AGAIN: &str = "1";

/// What answers requests.
pub struct Server {
    work: Arc<Work>,
    metrics: Arc<Metrics>,
    limits: Limits,
    /// Most bytes of a body.
    most_body: usize,
    access: Access,
}

/// By which names clients come, and where their map tiles come from.
pub struct Access {
    /// The names.
    pub hosts: Hosts,
    /// The tiles, if any.
    pub tiles: Option<Tiles>,
}

impl Server {
    /// Starts the threads of searches: how many at a time, and on how many threads each. `queue` more requests may wait; a body has at
    /// most `most_body` bytes.
    ///
    /// # Errors
    /// If the system cannot start that many.
    pub fn start(
        threads: (usize, usize),
        queue: usize,
        (limits, most_body): (Limits, usize),
        access: Access,
    ) -> Result<Server, ThreadPoolBuildError> {
        let metrics = Arc::new(Metrics::default());
        let work = Work::start(threads, queue, metrics.clone())?;
        Ok(Server { work, metrics, limits, most_body, access })
    }

    /// Stops searches, and refuses requests that wait or arrive.
    pub fn close(&self) {
        self.work.close();
    }
}

/// A path of the server.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Solve,
    Trip,
    Health,
    Metrics,
    OpenApi,
    Map,
    Unknown,
}

impl Place {
    fn of(path: &str) -> Place {
        match path {
            "/" => Place::Root,
            "/solve" => Place::Solve,
            "/health" => Place::Health,
            "/metrics" => Place::Metrics,
            "/openapi.json" => Place::OpenApi,
            "/map" => Place::Map,
            path if path.starts_with(trip::PATH) => Place::Trip,
            _ => Place::Unknown,
        }
    }

    /// Returns its name in metrics.
    fn label(self) -> &'static str {
        match self {
            Place::Root => "/",
            Place::Solve => "/solve",
            Place::Trip => "/trip",
            Place::Health => "/health",
            Place::Metrics => "/metrics",
            Place::OpenApi => "/openapi.json",
            Place::Map => "/map",
            Place::Unknown => "other",
        }
    }

    /// Returns the methods that it has.
    fn methods(self) -> &'static str {
        match self {
            Place::Root => "GET, HEAD, POST",
            Place::Solve => "POST",
            _ => "GET, HEAD",
        }
    }

    /// Returns the interface of a request.
    fn api(self, method: &Method) -> Api {
        match self {
            Place::Root if method == Method::POST => Api::Vroom,
            Place::Trip => Api::Osrm,
            _ => Api::Own,
        }
    }
}

/// Counts a request as abandoned if it is dropped before it is answered.
struct Open<'a>(Option<&'a Metrics>);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.into_iter().for_each(Metrics::abandoned);
    }
}

/// Answers a request, and counts it. Refusals are answers, too.
pub async fn answer(
    server: Arc<Server>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let place = Place::of(request.uri().path());
    let api = place.api(request.method());
    let mut open = Open(Some(&server.metrics));
    let page = match server.page(place, request).await {
        Ok(page) => page,
        Err(refusal) => refused(&refusal, api, place),
    };
    open.0 = None;
    server.metrics.answered(place.label(), page.status);
    Ok(response(page))
}

fn refused(refusal: &Refusal, api: Api, place: Place) -> Page {
    let page = Page::json(refusal.body(api).to_string());
    let page = Page { status: refusal.status(), ..page };
    match refusal.kind {
        Kind::Busy | Kind::Closing => page.with("retry-after", AGAIN.to_owned()),
        Kind::Method => page.with("allow", place.methods().to_owned()),
        _ => page,
    }
}

fn response(page: Page) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(page.body)));
    *response.status_mut() = page.status.try_into().unwrap_or_default();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(page.media_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    for (name, value) in page.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    response
}

impl Server {
    async fn page(&self, place: Place, request: Request<Incoming>) -> Result<Page, Refusal> {
        if let Some(host) = self.access.hosts.refused(&request) {
            let text =
                format!("this server is not called `{host}`: start it with --host to give it that name");
            return Err(Refusal::new(Kind::Host, text));
        }
        let method = request.method();
        let is_read = method == Method::GET || method == Method::HEAD;
        let is_post = method == Method::POST;
        match place {
            Place::Unknown => Err(Refusal::new(
                Kind::NotFound,
                "there is nothing here: GET / lists the paths of this server",
            )),
            Place::Root if is_read => Ok(pages::index()),
            Place::Health if is_read => Ok(Page::json(json!({ "status": "ok" }).to_string())),
            Place::Metrics if is_read => Ok(Page::text(self.metrics.text())),
            Place::OpenApi if is_read => Ok(Page::json(pages::OPEN_API.to_owned())),
            Place::Map if is_read => Ok(pages::map(self.access.tiles.as_ref())),
            Place::Trip if is_read => self.trip(request).await,
            Place::Root | Place::Solve if is_post => self.posted(place, request).await,
            _ => Err(Refusal::new(
                Kind::Method,
                format!("{method} is not possible here: use {}", place.methods()),
            )),
        }
    }

    async fn trip(&self, request: Request<Incoming>) -> Result<Page, Refusal> {
        let admitted = self.work.admit()?;
        let (path, query) = (request.uri().path().to_owned(), query_of(&request));
        let limits = self.limits.clone();
        let search = move |interrupt: &Arc<AtomicBool>| trip::answer(&path, &query, &limits, interrupt);
        self.work.run(admitted, written(search)).await
    }

    async fn posted(&self, place: Place, request: Request<Incoming>) -> Result<Page, Refusal> {
        let media = request.headers().get(header::CONTENT_TYPE).and_then(|media| media.to_str().ok());
        let media = media.and_then(|media| media.split(';').next()).unwrap_or_default().trim();
        if !media.eq_ignore_ascii_case("application/json") {
            return Err(Refusal::new(
                Kind::MediaType,
                "send JSON with the header `Content-Type: application/json`",
            ));
        }
        let mut query = Query::read(&query_of(&request))?;
        let asked = match place {
            Place::Root => (query.number("time")?, query.number("seed")?),
            _ => (None, None),
        };
        query.end()?;
        // A place is for a whole request: clients that send theirs slowly take none. But there must be one now.
        drop(self.work.admit()?);
        let body = self.body(request.into_body()).await?;
        let admitted = self.work.admit()?;
        let limits = self.limits.clone();
        let search = move |interrupt: &Arc<AtomicBool>| match place {
            Place::Root => vroom::answer(&body, asked, &limits, interrupt),
            _ => solve::answer(&body, &limits, interrupt),
        };
        self.work.run(admitted, written(search)).await
    }

    /// Returns the whole body of a request.
    async fn body(&self, body: Incoming) -> Result<Bytes, Refusal> {
        let too_large = || {
            let text = format!("the body is longer than the {} bytes that this server takes", self.most_body);
            Refusal::new(Kind::TooLarge, text)
        };
        if hyper::body::Body::size_hint(&body).lower() > self.most_body as u64 {
            return Err(too_large());
        }
        match timeout(BODY, Limited::new(body, self.most_body).collect()).await {
            Ok(Ok(whole)) => Ok(whole.to_bytes()),
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(too_large()),
            Ok(Err(error)) => Err(Refusal::new(Kind::Syntax, format!("the body cannot be read: {error}"))),
            Err(_) => Err(Refusal::new(Kind::Slow, "the body did not arrive in time")),
        }
    }
}

fn query_of(request: &Request<Incoming>) -> String {
    request.uri().query().unwrap_or_default().to_owned()
}

/// Makes a page of a search's answer, on the threads of the search.
fn written(
    search: impl FnOnce(&Arc<AtomicBool>) -> Result<Value, Refusal>,
) -> impl FnOnce(&Arc<AtomicBool>) -> Result<Page, Refusal> {
    |interrupt| search(interrupt).map(|value| Page::json(value.to_string()))
}

//! `antwarp serve`: an HTTP server that finds tours, beside or in the place of VROOM and OSRM's trip service (docs/serve.md).
//!
//! One thread reads and writes; searches run on pools of threads (`work.rs`). hyper is used without a framework above it: there are
//! few paths, and it alone has limits for the time of a request's head.

mod hosts;
mod metrics;
mod pages;
mod query;
mod refusal;
mod routes;
mod solve;
mod stream;
mod task;
mod trip;
mod vroom;
mod work;

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

use super::{Error, Outcome, Result, options, output, signals};
use crate::memory::{self, spare};
use hosts::Hosts;
use pages::Tiles;
use routes::{Access, Server};
use task::Limits;

/// How long a client may take for the head of a request, or leave a connection unused.
const HEAD: Duration = Duration::from_secs(10);
/// Most connections at a time; more wait until one ends.
const CONNECTIONS: usize = 512;
/// How often the server looks for a signal.
const LOOK: Duration = Duration::from_millis(50);
/// How long running searches may take to end, and clients to read their answers, after a signal.
const FAREWELL: Duration = Duration::from_secs(10);

/// Arguments of `antwarp serve`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Address and port to listen at; port 0 chooses a free one
    ///
    /// Anyone who can reach the address can use the server: it has no passwords and no encryption
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:3000")]
    bind: SocketAddr,
    /// Answer if called by this name, too; may be repeated
    ///
    /// By default, a server that listens to its own machine is called by addresses or by localhost, and any other one by every name
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Most places of a request
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = options::whole::<u32>(1..=10_000_000))]
    max_nodes: u32,
    /// Most bytes of a request's body
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 20, value_parser = options::whole::<u32>(1..=1 << 30))]
    max_body: u32,
    /// The longest search that a request may ask for
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = options::duration)]
    max_time: Duration,
    /// The longest search for a request that does not say how long: it ends after a few kicks for each place anyway
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = options::duration)]
    time: Duration,
    /// Search for N requests at a time; if not given, one per core
    #[arg(long, value_name = "N", value_parser = options::whole::<u32>(1..=1024))]
    jobs: Option<u32>,
    /// Requests that may wait for others; more are refused with status 429
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = options::whole::<u32>(0..=100_000))]
    queue: u32,
    /// CPU threads of each search
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = options::whole::<u32>(1..=1024))]
    threads: u32,
    /// Kilometres per hour, to compute durations from great-circle distances
    #[arg(long, value_name = "KM/H", default_value_t = 50.0, value_parser = speed)]
    speed: f64,
    /// Show map tiles from here on the page /map, such as https://tile.openstreetmap.org/{z}/{x}/{y}.png; none if not given
    #[arg(long, value_name = "URL")]
    tiles: Option<Tiles>,
}

fn speed(text: &str) -> std::result::Result<f64, String> {
    let speed = text.parse().ok().filter(|&speed: &f64| (0.1..=1e5).contains(&speed));
    speed.ok_or_else(|| "give kilometres per hour, from 0.1 to 100000".to_owned())
}

/// Answers requests until a signal comes.
pub fn run(args: Args) -> Result<Outcome> {
    let stop = signals::watch("stopping: searches end with the tours that they have")?;
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    let (jobs, threads) = (args.jobs.unwrap_or(cores), args.threads);
    memory::check_threads(jobs.saturating_mul(threads)).map_err(|shortage| {
        Error::Usage(format!(
            "cannot start {jobs} x {threads} threads: {shortage}; use smaller --jobs or --threads"
        ))
    })?;
    spare::keep(jobs as usize * args.max_nodes as usize);
    let limits = Limits {
        nodes: args.max_nodes as usize,
        most_time: args.max_time,
        time: args.time.min(args.max_time),
        speed: args.speed / 3.6,
    };
    let body = args.max_body as usize;
    let access = Access { hosts: Hosts::new(args.bind, args.host), tiles: args.tiles };
    let server =
        Server::start((jobs as usize, threads as usize), args.queue as usize, (limits, body), access)
            .map_err(|error| {
                Error::Usage(format!("cannot start threads: {error}; use smaller --jobs or --threads"))
            })?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::NoThread)?;
    runtime.block_on(serve(args.bind, Arc::new(server), &stop))
}

async fn serve(bind: SocketAddr, server: Arc<Server>, stop: &AtomicBool) -> Result<Outcome> {
    let failed = |error: std::io::Error| {
        Error::Usage(format!("cannot listen at {bind}: {error}; choose another --bind"))
    };
    let listener = TcpListener::bind(bind).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    output::tell(&format!("antwarp: listening at http://{address}; Ctrl-C ends it"));
    let (close, closed) = watch::channel(false);
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    while !stop.load(Ordering::Relaxed) {
        let accepted = async {
            let Ok(permit) = connections.clone().acquire_owned().await else { return None };
            match listener.accept().await {
                Ok((stream, _)) => Some((stream, permit)),
                // Perhaps the process has as many files open as it may have: others have to end first.
                Err(_) => {
                    sleep(LOOK).await;
                    None
                }
            }
        };
        if let Ok(Some((stream, permit))) = timeout(LOOK, accepted).await {
            // No part of an answer should wait until the client has acknowledged another.
            let _ = stream.set_nodelay(true);
            tokio::spawn(converse(stream, server.clone(), closed.clone(), permit));
        }
    }
    drop(listener);
    server.close();
    // Only connections have receivers besides this one.
    drop(closed);
    let _ = close.send(true);
    let _ = timeout(FAREWELL, close.closed()).await;
    Ok(Outcome::Done)
}

/// Answers the requests of a connection, until the client or the server closes it.
async fn converse(
    stream: TcpStream,
    server: Arc<Server>,
    mut closed: watch::Receiver<bool>,
    _permit: OwnedSemaphorePermit,
) {
    let answer = service_fn(|request| routes::answer(server.clone(), request));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(TokioIo::new(stream::Stream::new(stream)), answer);
    let mut connection = pin!(connection);
    let mut is_closing = false;
    {
        let mut closing = pin!(closed.wait_for(|is_closed| *is_closed));
        // A client that leaves is no error of ours.
        let _ = poll_fn(|cx| {
            if !is_closing && closing.as_mut().poll(cx).is_ready() {
                is_closing = true;
                connection.as_mut().graceful_shutdown();
            }
            match connection.as_mut().poll(cx) {
                Poll::Ready(ended) => Poll::Ready(ended),
                Poll::Pending => Poll::Pending,
            }
        })
        .await;
    }
}

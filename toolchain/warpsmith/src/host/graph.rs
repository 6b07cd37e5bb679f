//! Work that is queued once and done often.

use core::fmt;
use std::vec::Vec;

use cudarc::driver::CudaGraph;

use super::buffer::Used;
use super::stream::{Work, do_work, in_order};
use super::{Error, Result, Stream, gpu};

/// What a stream captures.
#[derive(Default)]
pub(crate) struct Capture {
    pub uses: Vec<Used>,
    pub work: Vec<(Vec<Used>, Work)>,
}

/// Launches, fills and copies that were captured, to be done as one, often. It keeps the memory of its buffers.
pub struct Graph {
    stream: Stream,
    uses: Vec<Used>,
    work: Vec<(Vec<Used>, Work)>,
    graph: Option<CudaGraph>,
}

impl Graph {
    pub(crate) fn new(stream: Stream, capture: Capture, graph: Option<CudaGraph>) -> Self {
        Graph { stream, uses: in_order(&capture.uses), work: capture.work, graph }
    }

    /// Queues everything on the stream that captured it.
    ///
    /// # Errors
    /// If the driver fails, or a kernel on the CPU.
    pub fn launch(&mut self) -> Result {
        self.stream.forbid_in_capture("a graph cannot be launched while one is captured on its stream")?;
        if let Some(graph) = &self.graph {
            return self.stream.enqueue(&self.uses, "launching a graph", || graph.launch());
        }
        self.work.iter().try_for_each(|(uses, work)| do_work(uses, work))
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // The driver's graph must not go while it runs. An error here shows at the next call.
        if self.graph.is_some() {
            let _: core::result::Result<(), Error> = self
                .stream
                .cuda()
                .map_or(Ok(()), |stream| stream.synchronize().map_err(gpu::failed("waiting for a graph")));
        }
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").field("stream", &self.stream).field("buffers", &self.uses.len()).finish()
    }
}

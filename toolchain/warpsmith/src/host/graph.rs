//! Work that is queued once and done often.

use core::fmt;
use std::sync::Arc;
use std::vec::Vec;

use cudarc::driver::CudaGraph;

use super::buffer::Used;
use super::module::Loaded;
use super::stream::{Capture, Capturing, Work, do_work, in_order};
use super::{Result, Stream};

/// Launches, fills and copies that were captured, to be done as one, often. It keeps its kernels, and the memory of
/// its buffers.
pub struct Graph {
    stream: Stream,
    uses: Vec<Used>,
    work: Vec<(Vec<Used>, Work)>,
    graph: Option<CudaGraph>,
    /// They stay loaded as long as the driver's graph can launch them.
    _kernels: Vec<Arc<Loaded>>,
}

impl Graph {
    pub(crate) fn new(stream: Stream, capture: Capture, graph: Option<CudaGraph>) -> Self {
        let Capture { uses, kernels, work } = capture;
        Graph { stream, uses: in_order(&uses), work, graph, _kernels: kernels }
    }

    /// Queues everything on the stream that captured it.
    ///
    /// # Errors
    /// If a graph is captured on the stream now, or the driver fails, or a kernel on the CPU.
    pub fn launch(&mut self) -> Result {
        let turn =
            self.stream.outside_capture("a graph cannot be launched while one is captured on its stream")?;
        if let Some(graph) = &self.graph {
            return self.stream.queue(&turn, &self.uses, "launching a graph", || graph.launch());
        }
        drop(turn);
        self.work.iter().try_for_each(|(uses, work)| do_work(uses, work))
    }
}

impl Stream {
    /// Captures what `queue` queues on this stream into a graph, instead of doing it: launches, fills and copies on the device.
    ///
    /// Kernels must be loaded before: by a first launch, or by [`prepare`](super::Module::prepare).
    ///
    /// # Errors
    /// That of `queue`, or the driver's; if a graph is captured on this stream already; on a GPU, if a kernel is not loaded yet, if
    /// nothing was queued, or if the driver is older than CUDA 11.4.
    pub fn capture(&self, queue: impl FnOnce(&Stream) -> Result) -> Result<Graph> {
        let capturing = Capturing::begin(self)?;
        queue(self)?;
        let (capture, graph) = capturing.end()?;
        Ok(Graph::new(self.clone(), capture, graph))
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // The driver's graph must not go while it runs. An error here shows at the next call.
        if self.graph.is_some() {
            let _ = self.stream.cuda().map(|queue| queue.wait());
        }
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").field("stream", &self.stream).field("buffers", &self.uses.len()).finish()
    }
}

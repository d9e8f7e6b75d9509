//! One builder for every test that starts a process, the model server, and waiting for facts.
//!
//! A [`Bed`] is a scratch directory with a workspace, a home and a temporary directory of its own; processes get a cleared
//! environment that names only these. A [`Bed`] that goes kills what is left and a test that ended well says if anything was.

pub mod again;
pub mod agent;
pub mod bed;
pub mod facts;
pub mod job;
pub mod model_server;
pub mod program;
pub mod running;
pub mod terminal;

pub use bed::Bed;
pub use facts::{DEADLINE, soak, wait_until};
pub use running::{Done, Running};
pub use terminal::Terminal;

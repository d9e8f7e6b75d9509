//! All tests that start the built binaries, in one binary; each module is one area.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may fail by a panic and say on standard error why"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "tests read and write as anybody may"
)]
#![expect(unreachable_pub, reason = "everything here is one binary")]

mod support;

mod board;
mod chaos;
mod cli;
mod demo;
mod hooks;
mod job;
mod lead;
mod mailbox;
mod model;
mod performance;
mod policy;
mod process;
mod real;
mod request;
mod sandbox;
mod store;
mod teammate;
mod tool;
mod undo;
mod verify;
mod worktree;
mod worktree_dependencies;

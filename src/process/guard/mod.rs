//! A shell command beneath a guard that ends everything it leaves behind.
//!
//! The guard is our own binary, executed again under [`GUARD_NAME`]: a session and subreaper of its own with the command as
//! its only child. It holds three pipes of the agent:
//!
//! | descriptor | pipe | meaning |
//! | --- | --- | --- |
//! | 0 | life | one byte: end the command, politely first; end of file: the agent is gone, end everything at once |
//! | 1 | output | the command's standard output and error, in order |
//! | 2 | report | one line (`report`) when the command has ended and nothing of it is left |
//!
//! The command inherits only the output pipe. So whoever dies first, nothing stays: the agent's death closes the life pipe,
//! and what a killed guard leaves is adopted and ended by the agent, a subreaper too (Linux). macOS has no subreaper: what
//! left the command's process group there stays.

mod call;
mod command;
mod inside;
mod output;
mod report;
mod run;
#[cfg(target_os = "linux")]
mod stand_by;
mod watch;

pub use call::{End, GUARD_NAME, ShellCall, ShellResult, use_guard_binary};
pub use inside::guard_main;
pub use run::run_shell;

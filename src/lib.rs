//! Pitcrew: a team runtime for coding agents that lives in plain files.
//!
//! The map, from the top; each layer uses only those below it (`tests/architecture.rs` holds that):
//!
//! | layer | modules |
//! | --- | --- |
//! | 6 | [`cli`]: arguments, exit codes, the only writer to the terminal |
//! | 5 | [`lead`]: the session's loop; [`teammate`]: one worker's loop |
//! | 4 | [`timeline`]: what happened, in one order; [`findings`]: what is not in order, and how it is mended; above [`agent`]: one agent's thinking loop |
//! | 3 | [`tool`]: what models may do; [`config`]: settings and where each came from |
//! | 2 | [`board`], [`mailbox`], [`request`], [`lease`], [`team`], [`worktree`], [`policy`], [`model`] |
//! | 1 | [`conversation`], above [`store`] and [`process`]: know no domain |
//! | 0 | [`cancel`] and [`workspace`], above [`ids`] and [`clock`] |

#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        reason = "tests read and write as anybody may; what is built is held to it"
    )
)]

pub mod agent;
pub mod board;
pub mod cancel;
pub mod cli;
pub mod clock;
pub mod config;
pub mod conversation;
pub mod findings;
pub mod ids;
#[cfg(test)]
mod killed;
pub mod lead;
pub mod lease;
pub mod mailbox;
pub mod model;
pub mod policy;
pub mod process;
pub mod request;
pub mod store;
pub mod team;
pub mod teammate;
pub mod timeline;
pub mod tool;
pub mod workspace;
pub mod worktree;

//! The verbs that work on files only, one a file; a lead may run beside them or not.
//!
//! What only reads makes no file and needs no lead. Each list has `--json` in the shape of SPEC §14.

pub mod config;
pub mod doctor;
mod follow;
mod happened;
pub mod init;
pub mod log;
pub mod mail;
pub mod manual;
pub mod permission;
pub mod plan;
pub mod requests;
pub mod sessions;
pub mod status;
pub mod task;
pub mod task_change;
pub mod team;
mod team_end;
pub mod usage;
pub mod way_back;
pub mod worktree;

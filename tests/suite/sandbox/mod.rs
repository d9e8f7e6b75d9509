//! The area `sandbox`: what a command can do to what is not its own (SPEC §10.2), tried for real. Linux only.
#![cfg(target_os = "linux")]

mod canary;
mod cell;
mod committing;
mod corpus;
mod escapes;
mod git;
mod leftovers;
mod nobody_waits;
mod races;
mod settings;
mod user;
mod usual_work;
mod walls;

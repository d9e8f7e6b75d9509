//! Worktrees on real repositories.

mod create;
mod exclude;
mod list;
mod merge;
mod planted;
mod remove;
mod repo;
mod usable;
mod verbs;

//! Worktrees on real repositories.

mod create;
mod exclude;
mod merge;
mod repo;
mod usable;

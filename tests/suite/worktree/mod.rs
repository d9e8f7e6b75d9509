//! Worktrees on real repositories.

mod astray;
mod at_once;
mod brought;
mod create;
mod exclude;
mod first_call;
mod in_use;
mod leftovers;
mod list;
mod merge;
mod modes;
mod planted;
mod remove;
mod repo;
mod usable;
mod verbs;
mod whole;

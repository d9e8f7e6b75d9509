//! Isolated checkouts on branches `wt/<name>` (SPEC §7); the only caller of git.

pub mod create;
pub mod exclude;
pub mod git;
mod repository;
pub mod summary;
pub mod usable;

pub use create::{CreateError, Created, create};
pub use exclude::exclude_runtime_files;
pub use summary::summary;
pub use usable::usable;

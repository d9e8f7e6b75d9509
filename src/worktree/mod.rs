//! Isolated checkouts on branches `wt/<name>` (SPEC §7); the only caller of git.

pub mod apply;
mod changes;
mod checkout;
pub mod create;
pub mod exclude;
pub mod git;
mod merge;
mod repository;
pub mod snapshot;
pub mod summary;
pub mod usable;

pub use apply::{MergeError, Merged, merge};
pub use create::{CreateError, Created, create};
pub use exclude::exclude_runtime_files;
pub use summary::summary;
pub use usable::usable;

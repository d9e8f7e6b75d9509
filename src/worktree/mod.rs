//! Isolated checkouts on branches `wt/<name>` (SPEC §7); the only caller of git.

pub mod apply;
mod changes;
mod checkout;
pub mod create;
pub mod dependencies;
pub mod difference;
pub mod exclude;
mod found;
pub mod git;
mod head;
mod holdings;
mod index;
pub mod leftovers;
pub mod list;
mod merge;
pub mod remove;
mod repository;
pub mod snapshot;
pub mod summary;
pub mod usable;
pub mod view;
mod writable;

pub use apply::{MergeError, Merged, merge};
pub use create::{CreateError, Created, create};
pub use dependencies::{Branches, BringError, Standing, bring};
pub use difference::{Difference, difference};
pub use exclude::exclude_runtime_files;
pub use found::{GitFound, find_git};
pub use head::{Astray, Unusable};
pub use leftovers::{Committed, Leftovers, leftovers};
pub use list::{State, names, state};
pub use remove::{RemoveError, remove};
pub use summary::summary;
pub use usable::usable;
pub use writable::writable_parts;

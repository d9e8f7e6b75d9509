//! The repository as the agent of a worktree sees it in its sandbox (SPEC §10.2): a git directory of the agent's own, in
//! which all of git works, and from which only checked objects and the branch `wt/<name>` come into the repository.
//!
//! Kept in `.team/state/git/<name>/`:
//!
//! | path | what | who writes |
//! | --- | --- | --- |
//! | `view/` | mounted over the repository's git directory: its own references, logs and objects, the repository's objects as an alternate, copies of its configuration | the agent; the runtime through descriptors that follow no link |
//! | `info/` | copies of what the repository has in `info`; read-only to the agent | the runtime |
//! | `refs` | every reference as it was when both were last the same | the runtime |
//! | `received` | the objects that the repository has received | the runtime |
//! | `opened`, `settled` | how all looked at the last look, so that the next costs no more than one | the runtime |
//! | `lock` | held while one of these changes, never during a call | whoever changes it |
//!
//! The worktree's own git directory, with its index and `HEAD`, is the real one; the agent may write it but for the files
//! that say where it belongs, so nothing there is trusted (`usable`). No git of ours ever runs in `view/`.
//!
//! Who has moved the branch decides who follows: the one that has not moved. If both have, the one that has all of the
//! other wins; else nothing is taken over, the agent is told what to do, and both keep what they have (`step`).

mod held;
mod objects;
mod open;
mod place;
mod refresh;
mod refs;
mod settle;
mod stamp;
mod step;
#[cfg(test)]
mod tests;

pub(super) use held::{clear, forget, held};
pub use open::open;
pub(super) use refs::{is_id, lookup};
pub use settle::{settle, settle_all};

//! What may run without a question (SPEC §10.1): rules, a real shell parse, modes. For the person's comfort; the boundary is
//! the sandbox.

mod bash;
pub mod builtin;
mod command;
pub mod confinement;
pub mod decide;
mod files;
pub mod hooks;
mod meaning;
mod pattern;
mod plain_git;
mod question;
pub mod rule;
mod shell;
mod spot;

pub use confinement::{Confinement, Network, SandboxMode};
pub use decide::{Mode, Policy, Scope, Verdict};
pub use hooks::{HookEvent, Hooks};
pub use plain_git::is_plain_git;
pub use rule::{Rule, RuleError, RuleLists};

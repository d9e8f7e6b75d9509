//! What models may do (SPEC §11), one file a tool.
//!
//! The order for every call: look up → check the input against the schema → wrapping up and plan gate → the directory rule →
//! policy, which may ask → run. Tools run one after another on the agent's worker thread; whatever only the agent's loop
//! may do goes through [`Host`].

mod admit;
pub mod assignment;
pub(crate) mod bash;
mod bash_tool;
mod brake;
mod call;
mod catalog;
mod confined;
mod create_worktree;
pub mod desk;
mod diff;
pub mod directory;
mod edit_file;
mod edits;
mod errors;
mod exchange;
#[cfg(test)]
mod fixture;
mod glob;
mod grep;
pub mod hooks;
pub mod host;
mod input;
pub mod leases;
mod merge_worktree;
mod path;
mod place;
mod plans;
mod read_file;
mod schema;
mod search;
mod seen;
mod send_message;
mod tasks;
mod team;
#[cfg(test)]
mod tests;
mod todo;
pub mod toolbox;
mod walk;
mod window;
pub mod worktrees;
mod write_file;

pub use assignment::{assignment_again, assignment_for, assignment_text, open_board};
pub use confined::{missing as missing_walls, tidy as tidy_after_commands};
pub use desk::{Assignment, Desk, DeskState, Todo};
pub use directory::TeamDirectory;
pub use host::{
    Answer, Host, HostCall, PermissionAsk, Plan, ProposedMember, SpawnOrder, TeamProposal,
};
pub use toolbox::{AgentContext, Outcome, ToolBox};
pub use worktrees::{Worktree, remove_worktree, worktrees};

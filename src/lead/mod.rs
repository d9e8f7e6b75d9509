//! The lead's session: one loop that owns all state, the fleet of teammates, and the person's questions (SPEC §6).
//!
//! [`run`] is the whole session. The person's side comes in through an [`Inlet`] and goes out through a [`Ui`]; neither
//! knows a terminal. Pure decisions (`fleet`, `questions`, `answers`, `headless`, `proposals`, `slash`) stand beside the
//! files that carry them out.

mod agreed;
mod answers;
mod approvals;
mod branches;
mod care;
mod commands;
mod deferred;
mod ends;
mod fleet;
mod headless;
mod held;
mod history;
mod host;
pub mod inlet;
mod launch;
mod leaving;
mod limits;
mod listed;
mod log_end;
mod look_back;
mod mail;
mod mind;
mod models;
mod modes;
mod new_settings;
pub mod notify;
mod options;
mod owed;
mod owners;
mod person;
mod proposals;
mod questions;
mod recover;
mod revive;
pub mod session;
mod slash;
mod spawn;
mod stall;
mod standing;
mod start;
mod still;
mod submit;
mod supervisor;
mod talk;
pub mod ui;
mod unanswered;
mod way_back;

pub use approvals::NOBODY;
pub use ends::KILLED;
pub use inlet::{Inbound, Inlet, inlet};
pub use listed::{COMMANDS, Listed};
pub use models::known_models;
pub use options::{EndStatus, Resume, RunError, SessionOptions, SessionResult};
pub use session::run;
pub use ui::{
    Account, Answering, Lost, PromptFor, Seen, ShellEnd, Shown, TaskNews, TeammateNews, Ui, Used,
    View,
};

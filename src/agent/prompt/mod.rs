//! Everything that the runtime puts before a model: the system text, mail, assignments, and its own prompts.

pub mod system;
pub mod told;

pub use system::{SystemParts, system};
pub use told::{assignment, notice, older_mail, reminder, render_mail, restarted, wrap_up};

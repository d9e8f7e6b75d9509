//! Everything that the runtime puts before a model: the system text, mail, assignments, and its own prompts.

pub mod restored;
pub mod system;
pub mod told;

pub use restored::{SUM_UP, summed_up};
pub use system::{SystemParts, system};
pub use told::{
    assignment, lost_assignment, notice, older_mail, reminder, render_mail, restarted, wrap_up,
};

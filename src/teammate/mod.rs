//! The WORK/IDLE loop of one worker (SPEC §5): one thread owns all state and receives from one channel.
//!
//! `machine` decides and is pure; `mate` is the loop; `effects`, `work`, `words`, `look` and `asks` carry out, each for one concern.

mod asks;
mod card;
mod channel;
mod denied;
mod effects;
mod gate;
mod ground;
mod letters;
mod look;
pub mod machine;
mod mate;
mod neighbours;
pub mod options;
pub mod run;
mod setup;
mod timers;
mod words;
mod work;

pub use options::{CRASHED, End, Options, RunError, Say};
pub use run::run;

//! Children, process groups, the termination ladder, bounded capture, signals. Knows no domain.
//!
//! One reaper thread owns every wait of the process ([`child::spawn`] registers with it); shell commands run beneath a
//! guard, which is our own binary executed again, so that everything they leave behind ends with the call.

mod abandoned;
mod ancestors;
pub mod capture;
pub mod child;
pub mod foreground;
pub mod guard;
pub mod harden;
mod pipe;
mod raw;
mod reaper;
pub mod sandbox;
pub mod signals;
mod strays;

pub use abandoned::{abandoned, end_abandoned};
pub use ancestors::inherited;

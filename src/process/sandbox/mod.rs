//! What a shell command may see and change, held by the kernel and not by asking. Knows no domain.
//!
//! A [`Sandbox`] is plain data. It goes to a guard on its command line; the guard builds it around itself and lets the
//! command in last.

#[cfg(target_os = "linux")]
pub(super) mod linux;
mod plan;
mod probe;
#[cfg(any(test, target_os = "macos"))]
pub(super) mod seatbelt;
mod wire;

pub use plan::{Bind, Parts, Sandbox};
pub use probe::{Held, probe, unheld_by_landlock};

//! `lead status`: printed once, or followed on a screen that is drawn again whenever a file changes.
//!
//! [`overview`] reads the files; [`picture`] says in words what is shown, [`layout`] fits that into a window, both pure;
//! [`screen`] owns the terminal and [`watch`] the waiting.

mod layout;
mod once;
mod overview;
mod picture;
mod screen;
mod watch;

pub use once::run;
pub use watch::run as watch;

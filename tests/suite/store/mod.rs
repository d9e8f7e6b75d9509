//! The system says no, or the process dies, at every call: what was there before stays whole, nothing is reported done that
//! is not, the error names the path, and the next one goes on.

mod act;
mod actor;
mod errors;
mod kills;
mod scarce;
pub mod strace;

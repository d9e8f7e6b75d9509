//! Waiting for files to change through `notify`; an event is a hint to look again, never a fact.
//!
//! One watcher per process, on files; on a directory only while a watched file in it is missing. Where the system
//! refuses a watch it is said once (through the `say` callback) and the watched files' state is compared every 50 ms.
//! A slow check every 30 s backs it all up.

mod arm;
mod flood;
mod stamp;
mod watcher;

pub use stamp::Stamp;
pub use watcher::Watcher;

//! Who edits which file now, so that two agents do not write over each other's work (SPEC §10.3).
//!
//! [`Book`] decides: who may take a file, who waits for it, what is to be told. [`Leases`] keeps it in
//! `.team/state/leases/held.json`, changed under a lock. What is to be told is written down with the change it follows from
//! and crossed out once it is sent: a crash between sends it twice, never not at all.
//!
//! A lease is a note, not a lock: nobody waits in it, and that of a dead process is free. Who is alive is asked of whoever
//! calls.

mod book;
mod kept;
#[cfg(test)]
mod tests;

pub use book::{Book, Holder, Lease, Notice, Subject, Taken};
pub use kept::{LeaseError, Leases};

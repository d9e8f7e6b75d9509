//! Requests: the machine by itself, and as kept.

mod drawn;
mod kept;
mod machine;
mod sequences;

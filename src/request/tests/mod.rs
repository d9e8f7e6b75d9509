//! Requests: the machine by itself, and as kept.

mod kept;
mod machine;

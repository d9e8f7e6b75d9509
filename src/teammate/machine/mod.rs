//! What a teammate does next: pure. No clock, file, thread or channel; deadlines are timers that it sets and hears of.
//!
//! Rules: `working` is written before mail is taken in or a task claimed; a round's `result` goes out before `idle` is
//! written, the one idle notice after it; nothing new begins without a living lead; whatever the model does, a stop ends.

mod ending;
mod facts;
mod rest;
mod rounds;
mod starting;
mod terms;
mod waits;

pub use facts::Machine;
pub use terms::{
    Announcement, Config, Effect, Event, Final, Found, Outcome, Part, Reason, RoundEnd, Start,
    Stop, Timer, WaitEnd, WaitKind,
};

#[cfg(test)]
mod tests;

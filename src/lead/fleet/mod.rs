//! The teammates' processes as state machines: `unit` decides for one of them, [`Fleet`] holds them all. Pure; the effects
//! are carried out by `supervisor`.

mod unit;
mod units;

#[cfg(test)]
mod tests;

pub(super) use unit::{Effect, Ending, Happened, Phase, Tie, Unit, ending};
pub(super) use units::Fleet;

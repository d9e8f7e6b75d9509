//! The area `lead` as real processes see it.

mod brake;
mod caching;
mod elsewhere;
mod ending;
mod failing;
mod main_job;
mod moved;
mod new_settings;
mod person;
mod questions;
mod reviews;
pub(crate) mod scripts;
mod spending;
mod starting;
mod storm;
mod stuck;
mod supervising;
mod team_limits;
mod unresponsive;

//! Members, liveness, the session, usage. A held lock is what alive means, never a pid.

pub mod grants;
pub mod lead_presence;
pub mod member;
pub mod prices;
pub mod roster;
pub mod session;
pub mod usage;

pub use lead_presence::LeadPresence;
pub use member::{Member, MemberStatus, PlanGate};
pub use prices::{Price, Prices};
pub use roster::{Presence, Roster};
pub use session::Session;

#[cfg(test)]
mod tests;

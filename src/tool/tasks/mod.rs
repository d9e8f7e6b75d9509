//! The task tools.

pub(crate) mod claim;
pub(crate) mod complete;
pub(crate) mod create;
pub(crate) mod give_up;
pub(crate) mod notify;
pub(crate) mod show;
pub(crate) mod staged;
pub(crate) mod update;
mod verify;

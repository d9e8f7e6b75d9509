//! Tools as a model meets them: through [`super::ToolBox::run`].

mod admitting;
mod editing;
mod inputs;
mod leases;
mod racing;
mod reading;
mod strange;
mod tasks;
mod team;

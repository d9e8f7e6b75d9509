//! Settings in layers (SPEC §13), and the only reader of the environment.

mod confinement;
mod defaults;
pub mod env;
pub mod layers;
pub mod parse;
pub mod settings;
mod standing;
pub mod trust;

pub use env::Environment;
pub use layers::{Layer, Loaded, SettingsError, Sources, load, load_from};
pub use settings::{PlanReview, Settings};
pub use standing::{News, Standing};

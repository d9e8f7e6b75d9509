//! What a shell command may see and change, held by the kernel and not by asking. Knows no domain.

mod plan;

pub use plan::{Bind, Parts, Sandbox};

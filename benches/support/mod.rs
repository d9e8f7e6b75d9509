//! What the tests of the suite share: scratch places, processes, terminals, the model server. A bench needs a part of it.

#![expect(
    dead_code,
    unused_imports,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "what tests share, of which a bench needs a part"
)]

#[path = "../../tests/suite/support/mod.rs"]
mod suite;

pub(crate) use suite::*;

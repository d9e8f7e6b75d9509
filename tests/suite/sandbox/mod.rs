//! The area `sandbox`: what a command can do to what is not its own (SPEC §10.2), tried for real.

mod corpus;

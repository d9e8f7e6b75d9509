//! A real process is killed at every step of everything that changes files; whoever comes next finds nothing lost and
//! nothing twice, and goes on.
//!
//! The process is this test binary again, running only [`steps::victim`]. An act is first carried out whole, which tells
//! the points it passes, and then killed at each of them. A point of `store::fault` that no act passes fails the test.

mod answer;
mod changes;
mod leases;
mod mail;
mod start;
mod steps;
mod trees;
mod turn;

//! The board as real processes see it.

mod crowd;
mod files;

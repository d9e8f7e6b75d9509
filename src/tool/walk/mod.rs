//! Walking a directory: what git ignores and what belongs to git or the runtime is left out, and no link is followed.
//!
//! Each directory is entered from where the walk began, one step at a time and by descriptor, so that a directory that
//! somebody exchanges for a link meanwhile is not walked. What stands in the place of a `.gitignore` is read only if it is
//! a plain file: a FIFO there would be waited for.

mod rules;
#[cfg(test)]
mod tests;
mod visit;

pub(crate) use rules::Rules;
pub(crate) use visit::visit;

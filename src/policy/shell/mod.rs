//! Shell text as simple commands, through tree-sitter-bash.
//!
//! What is nested in a script (substitutions, subshells, functions, loops) is in its steps like everything else. Whatever
//! the parser is not sure of makes the script unclear, which is asked about; the steps found all the same are judged too.

mod reading;
mod script;
mod word;
mod words;

pub(super) use script::{Simple, Step, parse};
pub(super) use word::{Part, Word};

#[cfg(test)]
mod tests;

//! How a session is seen and spoken to: a line editor, a plain terminal, a pipe, or nobody at all.

pub mod above;
pub mod answering;
pub mod behind;
pub mod complete;
pub mod continued;
pub mod diff;
pub mod editor;
pub mod events;
pub mod flow;
pub mod headless;
pub mod keyboard;
pub mod keys;
pub mod menu;
pub mod open;
pub mod painted;
pub mod piped;
pub mod prompt;
pub mod prompt_line;
pub mod pull;
pub mod question;
pub mod raw;
pub mod render;
pub mod result;
pub mod said;
pub mod status;
pub mod typed;
pub mod view;
pub mod visual;

pub use open::{open, print_broken, print_result};

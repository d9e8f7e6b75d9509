//! What a session shows, as lines for people. Everything that comes from a model, a file or a message is made safe here.
//!
//! - [`renderer`]: each item as lines, and the text that is being streamed;
//! - [`board`], [`calls`], [`prose`], [`recovered`], [`requests`]: the items of each kind.

mod board;
mod calls;
mod prose;
mod recovered;
mod renderer;
mod requests;

pub use calls::tool_call;
pub use renderer::Renderer;

#[cfg(test)]
mod tests;

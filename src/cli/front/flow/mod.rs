//! A model's text as it streams: light markdown, broken into rows between words. Pure.
//!
//! - [`block`]: what a line is: a heading, an item, a quote, a fence, prose;
//! - [`inline`]: emphasis, code and links within a line;
//! - [`scan`]: the marks that those are made of;
//! - [`row`]: a line as rows of a window;
//! - [`text`]: the text that is being streamed: rows that are done with, and those that still change.

mod block;
mod inline;
mod row;
mod scan;
mod text;

pub use text::Flow;

#[cfg(test)]
mod tests;

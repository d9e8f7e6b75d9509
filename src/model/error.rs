//! Why a call brought no reply, by what the caller does next.

use std::time::Duration;

/// A failed call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Try the same again: overload, rate limit, broken connection or stream.
    #[error("{why}")]
    Retry {
        /// In plain words, with the server's request id where there is one.
        why: String,
        /// HTTP status, if there was an answer.
        status: Option<u16>,
        /// What the server asked for.
        after: Option<Duration>,
    },
    /// The same will fail again: bad key, unknown model, bad request, spent budget.
    #[error("{0}")]
    Refused(String),
    /// The conversation is too long for the model.
    #[error("{0}")]
    TooLong(String),
    /// While the call waited for its next try, a limit of the team was reached.
    #[error("a limit of the team was reached before the model could be asked")]
    Limit,
    /// Cancelled by us.
    #[error("cancelled")]
    Cancelled,
}

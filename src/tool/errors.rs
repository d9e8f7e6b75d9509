//! Errors of the layers below in words for a model: with their causes, since it cannot look behind them.

use std::error::Error;

use crate::board::BoardError;

/// `error` and its causes, once each.
pub(crate) fn words(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}

/// A refusal or failure of the board.
pub(crate) fn board_words(error: &BoardError) -> String {
    match error {
        BoardError::Unknown(id) => {
            format!("there is no task {id}; list_tasks shows the ids")
        }
        other => words(other),
    }
}

//! In what one server of this protocol differs from another, learned from its refusals. Pure.
//!
//! No output limit, sampling parameter or `tool_choice` is ever sent: every server has a default that works, and each
//! refuses another way of saying it.

use crate::model::address;
use crate::model::failure::Answer;

/// Whose server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Server {
    /// OpenAI itself: an assistant's missing text is null there, and reasoning is not sent back.
    OpenAi,
    /// Anybody else's.
    Other,
}

/// What is sent to a server besides the common part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dialect {
    /// Whose server it is.
    pub(super) server: Server,
    /// Whether usage is asked for.
    pub(super) stream_options: bool,
    /// `reasoning_effort: "none"`, without which some models take no tools.
    pub(super) no_reasoning: bool,
    /// Whether a reply with calls always shows its reasoning, even if it had none.
    pub(super) always_reasoning: bool,
}

impl Dialect {
    /// What is known of the server at `url` before it has said anything.
    pub(super) fn of(url: &str) -> Self {
        Self {
            server: match address::server(url) {
                "api.openai.com" => Server::OpenAi,
                _ => Server::Other,
            },
            stream_options: true,
            no_reasoning: false,
            always_reasoning: false,
        }
    }

    /// Learns from a refusal; whether trying again differs from what was refused.
    pub(super) fn mend(&mut self, answer: &Answer) -> bool {
        if !matches!(answer.status, 400 | 422) {
            return false;
        }
        let before = self.clone();
        let text = &answer.said.message;
        if text.contains("reasoning_effort") {
            self.no_reasoning = true;
        } else if text.contains("reasoning_content") {
            self.always_reasoning = true;
        } else if text.contains("stream_options") {
            self.stream_options = false;
        }
        *self != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::said::Said;

    fn refusal(status: u16, message: &str) -> Answer {
        Answer {
            status,
            said: Said {
                message: message.to_owned(),
                ..Said::default()
            },
            ..Answer::default()
        }
    }

    #[test]
    fn each_refusal_is_mended_once() {
        for message in [
            "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions.",
            "The `reasoning_content` in the thinking mode must be passed back to the API.",
            "Unrecognized request argument supplied: stream_options",
        ] {
            let mut dialect = Dialect::of("http://h/v1");
            assert!(!dialect.mend(&refusal(401, message)), "{message}");
            assert!(dialect.mend(&refusal(400, message)), "{message}");
            assert!(!dialect.mend(&refusal(400, message)), "{message}");
        }
        assert!(!Dialect::of("http://h/v1").mend(&refusal(400, "no")));
        let whose = |url: &str| Dialect::of(url).server;
        assert_eq!(
            whose("https://api.openai.com/v1/chat/completions"),
            Server::OpenAi
        );
        assert_eq!(whose("http://api.openai.com.example/v1"), Server::Other);
    }
}

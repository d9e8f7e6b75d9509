//! Who answers, as error texts name it. Texts of servers pass through here before anybody sees them: one line, bounded,
//! and without our credentials, which some servers echo.

use super::address;

/// Longest text of a server within an error, in characters.
const LONGEST: usize = 600;

/// A server and the model asked of it.
#[derive(Clone)]
pub(super) struct Peer {
    /// `provider:name`.
    model: String,
    /// The variable that holds the key, if there is one.
    key_variable: Option<&'static str>,
    /// What must never be shown.
    secrets: Vec<String>,
}

impl Peer {
    /// A server reached at `url`, with the key sent to it and the variable that holds that.
    pub(super) fn new(model: &str, url: &str, key: Option<(&'static str, String)>) -> Self {
        let (key_variable, secret) = key.unzip();
        let login = address::login(url).map(str::to_owned);
        Self {
            model: model.to_owned(),
            key_variable,
            secrets: secret.into_iter().chain(login).collect(),
        }
    }

    /// A script that plays a server.
    pub(super) fn script(model: &str) -> Self {
        Self::new(model, "", None)
    }

    /// `provider:name`.
    pub(super) fn model(&self) -> &str {
        &self.model
    }

    /// The variable that holds the key.
    pub(super) fn key_variable(&self) -> Option<&'static str> {
        self.key_variable
    }

    /// `text` fit to be shown.
    pub(super) fn shown(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in self.secrets.iter().filter(|secret| secret.len() >= 4) {
            text = text.replace(secret.as_str(), "[key]");
        }
        let clean: String = text
            .chars()
            .map(|ch| if ch.is_control() { ' ' } else { ch })
            .collect();
        let mut words = clean.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some((cut, _)) = words.char_indices().nth(LONGEST) {
            words.truncate(cut);
            words.push('…');
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_text_is_one_bounded_line_without_our_key() {
        let key = ("OPENAI_API_KEY", "sk-secret".to_owned());
        let peer = Peer::new("openai:x", "http://me:pass@h/", Some(key));
        assert_eq!(peer.shown("at me:pass@h"), "at [key]@h");
        assert_eq!(
            peer.shown("Incorrect key:\n\tsk-secret\x1b[31m."),
            "Incorrect key: [key] [31m."
        );
        let long = peer.shown(&"é".repeat(5000));
        assert_eq!(long.chars().count(), LONGEST + 1);
    }
}

//! Who answers, as error texts name it. Texts of servers pass through here before anybody sees them: one line, bounded,
//! and without our credentials, which some servers echo.

use super::address;

/// Longest text of a server within an error, in characters.
const LONGEST: usize = 600;

/// The setting that says where a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Setting {
    /// Its variable.
    pub(super) variable: &'static str,
    /// Whether a person set it; else the server is where the provider's always is.
    pub(super) is_set: bool,
}

/// A server and the model asked of it.
#[derive(Clone)]
pub(super) struct Peer {
    /// `provider:name`.
    model: String,
    /// The variable that holds the key, if there is one.
    key_variable: Option<&'static str>,
    /// What says where it is, if anything does.
    setting: Option<Setting>,
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
            setting: None,
            secrets: secret.into_iter().chain(login).collect(),
        }
    }

    /// The same, where `setting` says.
    pub(super) fn set_by(self, setting: Setting) -> Self {
        Self {
            setting: Some(setting),
            ..self
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

    /// What a person does about a server that cannot be reached.
    pub(super) fn way_to_it(&self) -> Option<String> {
        let Setting { variable, is_set } = self.setting?;
        Some(if is_set {
            format!("check that the server runs there, and {variable}, which says where it is")
        } else {
            format!("check the network, or set {variable} to where the server is")
        })
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

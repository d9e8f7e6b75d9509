//! A shell word: what it says, and what of it is only known when it runs.

/// A piece of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::policy) enum Part {
    /// Exactly this.
    Text(String),
    /// The value of a variable.
    Variable(String),
    /// What a command prints; the command's text.
    Printed(String),
    /// Anything else that is only known when it runs, as written.
    Unknown(String),
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::policy) struct Word {
    /// In order; two texts never stand side by side.
    pub(in crate::policy) parts: Vec<Part>,
    /// It begins with an unquoted `~`.
    pub(in crate::policy) tilde: bool,
    /// It holds an unquoted `*`, `?` or `[`.
    pub(in crate::policy) glob: bool,
}

impl Word {
    /// A word that says exactly `text`.
    pub(in crate::policy) fn exact(text: &str) -> Self {
        Self {
            parts: vec![Part::Text(text.into())],
            ..Self::default()
        }
    }

    /// A word of which nothing is known.
    pub(in crate::policy) fn unknown(written: &str) -> Self {
        Self {
            parts: vec![Part::Unknown(written.into())],
            ..Self::default()
        }
    }

    /// What it says, if that is known before it runs; a glob is known as written.
    pub(in crate::policy) fn known(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// What it says, with what is unknown as it was written.
    pub(in crate::policy) fn shown(&self) -> String {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Text(text) | Part::Unknown(text) => text.clone(),
                Part::Variable(name) => format!("${name}"),
                Part::Printed(command) => format!("$({command})"),
            })
            .collect()
    }

    /// The known text that it begins with.
    pub(in crate::policy) fn beginning(&self) -> &str {
        match self.parts.first() {
            Some(Part::Text(text)) => text,
            _ => "",
        }
    }

    /// The rest of it behind `prefix`, which must be known text.
    pub(in crate::policy) fn behind(&self, prefix: &str) -> Option<Self> {
        let rest = self.beginning().strip_prefix(prefix)?;
        let mut word = self.clone();
        word.tilde = rest.starts_with('~');
        word.parts[0] = Part::Text(rest.into());
        Some(word)
    }

    /// The same with every `from` in its known text replaced.
    pub(in crate::policy) fn replaced(&self, from: &str, to: &str) -> Self {
        let mut word = self.clone();
        for part in &mut word.parts {
            if let Part::Text(text) = part {
                *text = text.replace(from, to);
            }
        }
        word
    }
}

//! Lines that go on: a backslash at the end of one has Enter begin another.

use reedline::{ValidationResult, Validator};

/// Whether Enter sends the text.
pub struct Continued;

impl Validator for Continued {
    fn validate(&self, line: &str) -> ValidationResult {
        if line.ends_with('\\') {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Complete
        }
    }
}

/// The text as meant: without the backslashes at the ends of lines. A command of the person's own is a shell's to read.
pub fn joined(text: String) -> String {
    if text.trim_start().starts_with('!') {
        text
    } else {
        text.replace("\\\n", "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_goes_on_and_is_not_said() {
        let goes_on = |line| matches!(Continued.validate(line), ValidationResult::Incomplete);
        assert!(goes_on("one\\") && goes_on("one\\\ntwo\\"));
        assert!(!goes_on("one\\\ntwo") && !goes_on("") && !goes_on("a \\ b"));
        assert_eq!(joined("one\\\ntwo".to_owned()), "one\ntwo");
        assert_eq!(joined("!ls \\\n-l".to_owned()), "!ls \\\n-l");
    }
}

//! How a conversation began, read from the first lines of its transcript only.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::Record;
use crate::clock::Timestamp;
use crate::store::StoreError;
use crate::store::read::{ReadError, open_plain};

/// How much of a file is looked at, in bytes.
const HEAD: u64 = 256 * 1024;

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// When it began.
    pub at: Timestamp,
    /// The first words of a person in it, if there are any among its first lines.
    pub words: Option<String>,
}

/// How the conversation at `path` began; `None` if it is no transcript.
pub fn opening(path: &Path) -> Result<Option<Opening>, StoreError> {
    let file = match open_plain(path) {
        Ok(Some(file)) => file,
        Ok(None) | Err(ReadError::NotPlain { .. } | ReadError::TooLarge { .. }) => return Ok(None),
        Err(ReadError::Store(error)) => return Err(error),
    };
    let lines: Vec<Vec<u8>> = BufReader::new(file.take(HEAD))
        .split(b'\n')
        .collect::<Result<_, _>>()
        .map_err(StoreError::of("read", path))?;
    let records = lines
        .iter()
        .filter_map(|line| serde_json::from_slice(line).ok());
    Ok(of(records))
}

fn of(records: impl Iterator<Item = Record>) -> Option<Opening> {
    let mut opening = None;
    for record in records {
        match (record, &mut opening) {
            (Record::Start { at, .. }, None) => opening = Some(Opening { at, words: None }),
            (Record::User { text, mail, by, .. }, Some(opening))
                if opening.words.is_none()
                    && (by.is_some() || mail.is_empty() && of_a_person(&text)) =>
            {
                opening.words = Some(text);
            }
            _ => {}
        }
    }
    opening
}

/// Of a transcript that does not say whose words they are: what the runtime says begins with a mark.
fn of_a_person(text: &str) -> bool {
    !text.trim().is_empty() && !text.starts_with('[')
}

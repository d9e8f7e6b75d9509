//! What a conversation's replies left with the models that gave them, for a model that is opened again: each gets its own.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::Record;
use crate::clock::Timestamp;

/// The owner's note under which a conversation goes over to another model.
const KEY: &str = "model";

/// The notes of replies, by the model that gave them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelNotes {
    /// From before the conversation first went over to another model, which names them.
    unnamed: Vec<Value>,
    named: HashMap<String, Vec<Value>>,
    /// The model it went over to last.
    speaks: Option<String>,
}

impl ModelNotes {
    /// The record that says that the conversation goes over.
    pub fn going_over(from: &str, to: &str) -> Record {
        Record::Note {
            key: KEY.to_owned(),
            value: json!({ "from": from, "to": to }),
            at: Timestamp::now(),
        }
    }

    /// The notes of `model`, in order.
    pub fn of(&self, model: &str) -> Vec<Value> {
        let named = self.named.get(model).into_iter().flatten();
        named.chain(&self.unnamed).cloned().collect()
    }

    /// The model that the conversation went over to last, if it ever has.
    pub fn speaks(&self) -> Option<&str> {
        self.speaks.as_deref()
    }

    /// A reply's note.
    pub fn add(&mut self, note: Option<Value>) {
        let notes = match &self.speaks {
            Some(model) => self.named.entry(model.clone()).or_default(),
            None => &mut self.unnamed,
        };
        notes.extend(note);
    }

    /// A record that may say that the conversation goes over.
    pub fn take(&mut self, record: &Record) {
        let Record::Note { key, value, .. } = record else {
            return;
        };
        let name = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let (KEY, Some(from), Some(to)) = (key.as_str(), name("from"), name("to")) else {
            return;
        };
        let before = std::mem::take(&mut self.unnamed);
        self.named.entry(from).or_default().extend(before);
        self.speaks = Some(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_model_gets_its_own_notes_back() {
        let mut notes = ModelNotes::default();
        notes.add(Some(json!(1)));
        assert_eq!(notes.of("script:any"), [json!(1)]);
        notes.take(&ModelNotes::going_over("script:a", "script:b"));
        notes.add(Some(json!(2)));
        notes.add(None);
        notes.take(&ModelNotes::going_over("script:b", "script:a"));
        notes.add(Some(json!(3)));
        assert_eq!(notes.of("script:a"), [json!(1), json!(3)]);
        assert_eq!(notes.of("script:b"), [json!(2)]);
        assert!(notes.of("script:c").is_empty());
        assert_eq!(notes.speaks(), Some("script:a"));
    }
}

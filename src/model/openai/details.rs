//! `reasoning_details` from their pieces (OpenRouter): parts that go back as they came, the signature and the encrypted ones
//! too. Pure.

use serde_json::{Map, Value};

use super::request::DETAILS;

/// Fields of a part that come in pieces.
const IN_PIECES: [&str; 4] = ["text", "summary", "data", "signature"];

/// The parts so far, in the order of their first pieces.
#[derive(Debug, Default)]
pub(super) struct Details(Vec<Map<String, Value>>);

impl Details {
    /// Takes the value of one delta; what is no list is passed over.
    pub(super) fn push(&mut self, pieces: &Value) {
        for piece in pieces.as_array().into_iter().flatten() {
            let Value::Object(piece) = piece else {
                continue;
            };
            let index = piece.get("index").filter(|index| !index.is_null());
            let begun = self.0.iter_mut().find(|part| {
                index.is_some()
                    && part.get("index") == index
                    && part.get("type") == piece.get("type")
            });
            match begun {
                Some(part) => go_on(part, piece),
                None => self.0.push(piece.clone()),
            }
        }
    }

    /// The field to be sent back, if there is anything.
    pub(super) fn into_field(self) -> Option<(String, Value)> {
        let parts: Vec<Value> = self.0.into_iter().map(Value::Object).collect();
        (!parts.is_empty()).then(|| (DETAILS.to_owned(), parts.into()))
    }
}

fn go_on(part: &mut Map<String, Value>, piece: &Map<String, Value>) {
    for (key, value) in piece.iter().filter(|(_, value)| !value.is_null()) {
        match (part.get_mut(key), value) {
            (Some(Value::String(text)), Value::String(more))
                if IN_PIECES.contains(&key.as_str()) =>
            {
                text.push_str(more);
            }
            _ => drop(part.insert(key.clone(), value.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces_of_one_part_are_joined_and_parts_stay_apart() {
        let mut details = Details::default();
        for pieces in [
            json!([{"type": "reasoning.text", "index": 0, "text": "h", "signature": null}]),
            json!([{"type": "reasoning.text", "index": 0, "text": "m"}]),
            json!(null),
            json!("odd"),
            json!([
                {"type": "reasoning.text", "index": 0, "signature": "s"},
                {"type": "reasoning.encrypted", "index": 1, "data": "ab", "id": "rs_1"},
            ]),
            json!([{"type": "reasoning.encrypted", "index": 1, "data": "cd", "id": "rs_1"}]),
            json!([{"type": "reasoning.summary", "summary": "no index"}]),
        ] {
            details.push(&pieces);
        }
        let parts = json!([
            {"type": "reasoning.text", "index": 0, "text": "hm", "signature": "s"},
            {"type": "reasoning.encrypted", "index": 1, "data": "abcd", "id": "rs_1"},
            {"type": "reasoning.summary", "summary": "no index"},
        ]);
        assert_eq!(details.into_field(), Some((DETAILS.to_owned(), parts)));
        assert_eq!(Details::default().into_field(), None);
    }
}

//! Tool calls from their deltas, as the many servers send them. Pure.
//!
//! Seen in the wild: no index, the same index for every call, the name in every delta, arguments as an object, arguments
//! of parallel calls run together, no id.

use serde_json::Value;

use crate::conversation::ToolCall;
use crate::model::calls;

#[derive(Debug, Default)]
struct Slot {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

/// The calls of one reply.
#[derive(Debug, Default)]
pub(super) struct Slots(Vec<Slot>);

impl Slots {
    /// Whether nothing was called.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes one element of `delta.tool_calls`.
    pub(super) fn push(&mut self, delta: &Value) {
        let index = delta["index"].as_u64();
        let id = delta["id"].as_str().unwrap_or_default();
        let name = delta["function"]["name"].as_str().unwrap_or_default();
        let slot = self.slot(index, id, name);
        if slot.id.is_empty() {
            id.clone_into(&mut slot.id);
        }
        let function = &delta["function"];
        if slot.name.is_empty() {
            name.clone_into(&mut slot.name);
        }
        match &function["arguments"] {
            Value::String(more) => slot.arguments.push_str(more),
            whole @ Value::Object(_) => slot.arguments = whole.to_string(),
            _ => {}
        }
    }

    /// The calls. `cut`: the reply ended at a limit.
    pub(super) fn into_calls(self, cut: bool) -> Vec<ToolCall> {
        let last = self.0.len().saturating_sub(1);
        let mut all: Vec<ToolCall> = Vec::new();
        for (at, slot) in self.0.into_iter().enumerate() {
            if slot.name.is_empty() && slot.arguments.trim().is_empty() {
                continue;
            }
            match run_together(&slot.arguments) {
                Some(several) => all.extend(
                    several
                        .iter()
                        .map(|input| calls::call(slot.id.clone(), slot.name.clone(), input, false)),
                ),
                None => all.push(calls::call(
                    slot.id,
                    slot.name,
                    &slot.arguments,
                    cut && at == last,
                )),
            }
        }
        calls::with_ids(&mut all);
        all
    }

    /// The call that a delta goes on with, or a new one: another id is another call, and so is another name where the
    /// arguments have begun.
    fn slot(&mut self, index: Option<u64>, id: &str, name: &str) -> &mut Slot {
        let open = match index {
            Some(_) => self.0.iter().rposition(|slot| slot.index == index),
            None if id.is_empty() => self.0.len().checked_sub(1),
            None => self.0.iter().rposition(|slot| slot.id == id),
        };
        let same = open.filter(|&at| {
            let own = &self.0[at];
            let begun = !own.name.is_empty() && !own.arguments.is_empty();
            (id.is_empty() || own.id.is_empty() || own.id == id)
                && (name.is_empty() || own.name == name || !begun)
        });
        let at = same.unwrap_or_else(|| {
            self.0.push(Slot {
                index,
                ..Slot::default()
            });
            self.0.len() - 1
        });
        &mut self.0[at]
    }
}

/// `{…}{…}`: the arguments of several calls without a mark between them.
fn run_together(arguments: &str) -> Option<Vec<String>> {
    let objects: Vec<Value> = serde_json::Deserializer::from_str(arguments)
        .into_iter::<Value>()
        .collect::<Result<_, _>>()
        .ok()?;
    (objects.len() > 1 && objects.iter().all(Value::is_object))
        .then(|| objects.iter().map(Value::to_string).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn collected(deltas: &[Value]) -> Vec<(String, String)> {
        let mut slots = Slots::default();
        for delta in deltas {
            slots.push(delta);
        }
        slots
            .into_calls(false)
            .into_iter()
            .map(|call| (call.name, call.input.to_string()))
            .collect()
    }

    fn expected(calls: &[(&str, &str)]) -> Vec<(String, String)> {
        calls
            .iter()
            .map(|&(name, input)| (name.to_owned(), input.to_owned()))
            .collect()
    }

    fn delta(index: Option<u64>, id: Option<&str>, name: Option<&str>, arguments: Value) -> Value {
        let mut delta = json!({"function": {}});
        delta["function"]["arguments"] = arguments;
        if let Some(index) = index {
            delta["index"] = index.into();
        }
        if let Some(id) = id {
            delta["id"] = id.into();
        }
        if let Some(name) = name {
            delta["function"]["name"] = name.into();
        }
        delta
    }

    #[test]
    fn pieces_go_to_the_call_they_belong_to() {
        let two = [("a", r#"{"x":1}"#), ("b", r#"{"y":2}"#)];
        let by_the_book = [
            delta(Some(0), Some("i"), Some("a"), json!("")),
            delta(Some(0), None, None, json!(r#"{"x""#)),
            delta(Some(1), Some("j"), Some("b"), json!(r#"{"y""#)),
            delta(Some(0), None, None, json!(":1}")),
            delta(Some(1), None, None, json!(":2}")),
        ];
        let one_index_for_all = [
            delta(Some(0), Some("i"), Some("a"), json!(r#"{"x":1}"#)),
            delta(Some(0), Some("j"), Some("b"), json!(r#"{"y":"#)),
            delta(Some(0), None, None, json!("2}")),
        ];
        let no_index = [
            delta(None, Some("i"), Some("a"), json!(r#"{"x":"#)),
            delta(None, None, None, json!("1}")),
            delta(None, Some("j"), Some("b"), json!({"y": 2})),
        ];
        let named_every_time = [
            delta(Some(0), Some("i"), Some("a"), json!(r#"{"x":"#)),
            delta(Some(0), Some("i"), Some("a"), json!("1}")),
            delta(Some(1), None, Some("b"), json!({"y": 2})),
            delta(Some(1), None, None, json!(null)),
        ];
        let neither_index_nor_id = [
            delta(None, None, Some("a"), json!(r#"{"x":"#)),
            delta(None, None, Some("a"), json!("1}")),
            delta(None, None, Some("b"), json!({"y": 2})),
        ];
        for deltas in [
            by_the_book.as_slice(),
            &neither_index_nor_id,
            &one_index_for_all,
            &no_index,
            &named_every_time,
        ] {
            assert_eq!(collected(deltas), expected(&two), "{deltas:?}");
        }
    }

    #[test]
    fn odd_calls_are_mended_or_marked() {
        let together = [delta(
            Some(0),
            Some("i"),
            Some("a"),
            json!(r#"{"x":1} {"x":2}"#),
        )];
        assert_eq!(
            collected(&together),
            expected(&[("a", r#"{"x":1}"#), ("a", r#"{"x":2}"#)])
        );
        assert_eq!(collected(&[json!({}), json!(null)]), []);
        let mut slots = Slots::default();
        slots.push(&delta(Some(0), None, Some("a"), json!("{")));
        let calls = slots.into_calls(true);
        assert!(
            calls[0]
                .cut
                .as_ref()
                .is_some_and(|why| why.contains("limit"))
        );
        assert!(!calls[0].id.is_empty());
    }
}

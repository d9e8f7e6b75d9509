//! From what a stream said of a tool call to a call that may run, or one that must not. Pure.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::conversation::ToolCall;
use crate::ids;

/// A call whose arguments came as `arguments`, JSON text. `cut`: the reply ended at a limit within this call.
pub(super) fn call(id: String, name: String, arguments: &str, cut: bool) -> ToolCall {
    let refused = |why: String| ToolCall {
        id: id.clone(),
        name: name.clone(),
        input: json!({}),
        cut: Some(why),
    };
    let arguments = arguments.trim();
    let parsed = if arguments.is_empty() && !cut {
        Ok(json!({}))
    } else {
        serde_json::from_str::<Value>(arguments)
    };
    match parsed {
        Ok(input @ Value::Object(_)) => ToolCall {
            id,
            name,
            input,
            cut: None,
        },
        Ok(Value::Null) => ToolCall {
            id,
            name,
            input: json!({}),
            cut: None,
        },
        Ok(_) => refused("not run: the input is no JSON object; send it again as one".to_owned()),
        Err(_) if cut => refused(
            "not run: the reply reached its output limit within this call; do the same in smaller calls"
                .to_owned(),
        ),
        Err(error) => refused(format!(
            "not run: the input is no valid JSON ({error}); send it again"
        )),
    }
}

/// Gives an id to each call that has none of its own within the reply.
pub(super) fn with_ids<'a>(calls: impl IntoIterator<Item = &'a mut ToolCall>) {
    let mut taken = HashSet::new();
    for call in calls {
        if call.id.is_empty() || !taken.insert(call.id.clone()) {
            call.id = format!("call_{}", ids::random_hex(16));
            taken.insert(call.id.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_objects_run() {
        for (arguments, cut, input) in [
            ("{\"a\":1}", false, Some(json!({"a": 1}))),
            ("{\"a\":1}", true, Some(json!({"a": 1}))),
            ("", false, Some(json!({}))),
            (" ", false, Some(json!({}))),
            ("null", false, Some(json!({}))),
            ("", true, None),
            ("{\"a\":", false, None),
            ("{\"a\":", true, None),
            ("[1]", false, None),
            ("\"{}\"", false, None),
            ("{}{}", false, None),
        ] {
            let call = call("i".to_owned(), "n".to_owned(), arguments, cut);
            assert_eq!(call.cut.is_none(), input.is_some(), "{arguments} {cut}");
            assert_eq!(call.input, input.unwrap_or(json!({})), "{arguments} {cut}");
        }
    }

    #[test]
    fn every_call_of_a_reply_has_an_id_of_its_own() {
        let mut calls: Vec<ToolCall> = ["a", "", "a", "b"]
            .map(|id| call(id.to_owned(), "n".to_owned(), "{}", false))
            .into();
        with_ids(&mut calls);
        let ids: HashSet<&str> = calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids.len(), 4);
        assert_eq!((calls[0].id.as_str(), calls[3].id.as_str()), ("a", "b"));
        assert!(!ids.contains(""));
    }
}

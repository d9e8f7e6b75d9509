//! Whether a call's input fits its schema. Knows what our schemas are made of, and names the field that is wrong.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::ids;

/// `Err` names the first field that does not fit.
pub(crate) fn check(input: &Value, schema: &Value) -> Result<(), String> {
    check_at("", input, schema)
}

/// `input` with whole numbers written as such: to a schema `5.0` is an integer, and some models write it so.
pub(crate) fn with_integers(input: &Value) -> Cow<'_, Value> {
    if !has_whole_float(input) {
        return Cow::Borrowed(input);
    }
    Cow::Owned(match input {
        Value::Array(items) => items
            .iter()
            .map(|item| with_integers(item).into_owned())
            .collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields =
                fields.map(|(name, value)| (name.clone(), with_integers(value).into_owned()));
            Value::Object(fields.collect())
        }
        other => other
            .as_f64()
            .and_then(integer)
            .map_or_else(|| other.clone(), Value::from),
    })
}

fn has_whole_float(input: &Value) -> bool {
    match input {
        Value::Array(items) => items.iter().any(has_whole_float),
        Value::Object(fields) => fields.values().any(has_whole_float),
        Value::Number(number) => number.is_f64() && number.as_f64().and_then(integer).is_some(),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// Beyond 2^53 a float does not say which integer it is.
fn integer(float: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "whole and small enough")]
    (float.fract() == 0.0 && float.abs() <= EXACT).then_some(float as i64)
}

fn check_at(at: &str, value: &Value, schema: &Value) -> Result<(), String> {
    if let Some(wanted) = schema.get("type").and_then(Value::as_str)
        && !is_of(value, wanted)
    {
        return Err(format!(
            "{} must be {}, not {}",
            named(at),
            article(wanted),
            match value {
                Value::Number(number) if wanted == "integer" => number.to_string(),
                other => article(kind(other)),
            }
        ));
    }
    if let Some(choices) = schema.get("enum").and_then(Value::as_array)
        && !choices.contains(value)
    {
        let choices: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
        return Err(format!(
            "{} must be one of {}, not {value}",
            named(at),
            choices.join(", ")
        ));
    }
    if let Some(least) = schema.get("minimum").and_then(Value::as_f64)
        && value.as_f64().is_some_and(|given| given < least)
    {
        return Err(format!("{} must be at least {least}", named(at)));
    }
    match value {
        Value::Object(fields) => check_fields(at, fields, schema),
        Value::Array(items) => match schema.get("items") {
            None => Ok(()),
            Some(each) => items
                .iter()
                .enumerate()
                .try_for_each(|(index, item)| check_at(&format!("{at}[{index}]"), item, each)),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn check_fields(at: &str, fields: &Map<String, Value>, schema: &Value) -> Result<(), String> {
    let Some(known) = schema.get("properties").and_then(Value::as_object) else {
        return Ok(());
    };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let below = |name: &str| {
        if at.is_empty() {
            name.to_owned()
        } else {
            format!("{at}.{name}")
        }
    };
    for (name, value) in fields {
        match known.get(name) {
            Some(_) if value.is_null() && !required.contains(&name.as_str()) => {}
            Some(schema) => check_at(&below(name), value, schema)?,
            None => return Err(unknown(&below(name), name, known)),
        }
    }
    match required.iter().find(|name| !fields.contains_key(**name)) {
        Some(missing) => Err(format!("`{}` is missing; it is required", below(missing))),
        None => Ok(()),
    }
}

fn unknown(at: &str, name: &str, known: &Map<String, Value>) -> String {
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    match ids::nearest(name, names.iter().copied()) {
        Some(near) => format!("`{at}` is not an argument; did you mean `{near}`?"),
        None if names.is_empty() => format!("`{at}` is not an argument; there are none"),
        None => format!("`{at}` is not an argument; there are: {}", names.join(", ")),
    }
}

fn named(at: &str) -> String {
    if at.is_empty() {
        "the input".to_owned()
    } else {
        format!("`{at}`")
    }
}

fn is_of(value: &Value, wanted: &str) -> bool {
    match wanted {
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => kind(value) == other,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn article(kind: &str) -> String {
    match kind {
        "null" => kind.to_owned(),
        "integer" | "array" | "object" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_does_not_fit_is_named() {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "limit": {"type": "integer", "minimum": 0},
                "kind": {"type": "string", "enum": ["a", "b"]},
                "items": {"type": "array", "items": {
                    "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
                }},
            },
            "required": ["path"],
        });
        let table = [
            (
                json!({"path": "x", "limit": 3, "kind": "a", "items": [{"text": ""}]}),
                None,
            ),
            (json!({"path": "x", "limit": null}), None),
            (json!({}), Some("`path` is missing")),
            (
                json!({"path": null}),
                Some("`path` must be a string, not null"),
            ),
            (
                json!({"path": 3}),
                Some("`path` must be a string, not a number"),
            ),
            (
                json!({"path": "x", "limit": "3"}),
                Some("`limit` must be an integer, not a string"),
            ),
            (
                json!({"path": "x", "limit": 1.5}),
                Some("`limit` must be an integer"),
            ),
            (
                json!({"path": "x", "limit": -1}),
                Some("`limit` must be at least 0"),
            ),
            (
                json!({"path": "x", "kind": "c"}),
                Some("`kind` must be one of a, b, not \"c\""),
            ),
            (
                json!({"path": "x", "pth": 1}),
                Some("`pth` is not an argument; did you mean `path`?"),
            ),
            (
                json!({"path": "x", "zzz": 1}),
                Some("there are: path, limit, kind, items"),
            ),
            (
                json!({"path": "x", "items": {}}),
                Some("`items` must be an array, not an object"),
            ),
            (
                json!({"path": "x", "items": [{"text": ""}, {}]}),
                Some("`items[1].text` is missing"),
            ),
            (
                json!({"path": "x", "items": ["a"]}),
                Some("`items[0]` must be an object"),
            ),
            (
                json!("x"),
                Some("the input must be an object, not a string"),
            ),
            (json!(null), Some("the input must be an object, not null")),
        ];
        for (input, wanted) in table {
            match (check(&input, &schema), wanted) {
                (Ok(()), None) => {}
                (Err(said), Some(part)) => assert!(said.contains(part), "{input}: {said}"),
                other => panic!("{input}: {other:?}"),
            }
        }
    }
}

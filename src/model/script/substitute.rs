//! `${name}` in texts and in the strings of a call's input. Pure.

use serde_json::Value;

/// Whether `text` may stand between `${` and `}`. Anything else there (`${x:-y}` of a shell) is no matter of ours.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_')
        && text
            .chars()
            .all(|ch| ch.is_ascii_alphanumeric() || ch == '_' || ch == '-')
}

/// `text` with every `${name}` replaced by what `lookup` says; its error is the whole's.
pub(super) fn text(
    text: &str,
    lookup: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<String, String> {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        done.push_str(before);
        match after.split_once('}') {
            Some((name, after)) if is_name(name) => {
                done.push_str(&lookup(name)?);
                rest = after;
            }
            _ => {
                done.push_str("${");
                rest = after;
            }
        }
    }
    done.push_str(rest);
    Ok(done)
}

/// The same for every string within `value`.
pub(super) fn value(
    value: &Value,
    lookup: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Value, String> {
    Ok(match value {
        Value::String(string) => Value::String(text(string, lookup)?),
        Value::Array(items) => Value::Array(
            items
                .iter()
                .map(|item| self::value(item, lookup))
                .collect::<Result<_, _>>()?,
        ),
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .map(|(key, field)| Ok((key.clone(), self::value(field, lookup)?)))
                .collect::<Result<_, String>>()?,
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    })
}

/// The first `task_` or `req_` id in a tool's answer.
pub(super) fn first_id(output: &str) -> Option<&str> {
    let digit = |ch: char| matches!(ch, '0'..='9' | 'a'..='f');
    let word = |ch: char| ch.is_ascii_alphanumeric() || ch == '_';
    output.match_indices('_').find_map(|(at, _)| {
        let prefix = ["task", "req"]
            .into_iter()
            .find(|prefix| output[..at].ends_with(prefix))?;
        let start = at - prefix.len();
        let digits = output[at + 1..].split(|ch| !digit(ch)).next()?;
        let end = at + 1 + digits.len();
        let whole = digits.len() == 8
            && !output[..start].ends_with(word)
            && !output[end..].starts_with(word);
        whole.then(|| &output[start..end])
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn known(name: &str) -> Result<String, String> {
        match name {
            "config" => Ok("task_0000000a".to_owned()),
            "odd" => Ok("${config}".to_owned()),
            _ => Err(format!("no {name}")),
        }
    }

    #[test]
    fn names_are_replaced_once_and_shell_is_left_alone() {
        for (given, expected) in [
            ("", Ok("")),
            ("plain $config {config}", Ok("plain $config {config}")),
            ("${config}", Ok("task_0000000a")),
            ("a ${config}b${config}", Ok("a task_0000000ab")),
            ("${odd}", Ok("${config}")),
            ("é${config}é", Ok("étask_0000000aé")),
            ("${config", Ok("${config")),
            ("${x:-y} ${} ${#a} ${1}", Ok("${x:-y} ${} ${#a} ${1}")),
            ("${${config}}", Ok("${task_0000000a}")),
            ("${other}", Err("no other")),
        ] {
            let expected = match expected {
                Ok("a task_0000000ab") => Ok("a task_0000000abtask_0000000a".to_owned()),
                Ok(text) => Ok(text.to_owned()),
                Err(why) => Err(why.to_owned()),
            };
            assert_eq!(text(given, &mut known), expected, "{given}");
        }
    }

    #[test]
    fn nested_strings_are_replaced_and_nothing_else() {
        let given =
            json!({"${config}": ["${config}", {"b": "x${config}", "n": 1, "t": true, "z": null}]});
        let expected = json!({"${config}": ["task_0000000a", {"b": "xtask_0000000a", "n": 1, "t": true, "z": null}]});
        assert_eq!(value(&given, &mut known), Ok(expected));
        assert!(value(&json!([["${gone}"]]), &mut known).is_err());
    }

    #[test]
    fn the_first_whole_id_counts() {
        for (output, id) in [
            (
                "created task_1a2b3c4d and task_00000000",
                Some("task_1a2b3c4d"),
            ),
            ("(req_0a1b2c3d)", Some("req_0a1b2c3d")),
            ("{\"id\":\"task_1a2b3c4d\"}", Some("task_1a2b3c4d")),
            ("task_1a2b3c4de task_1a2b3c", None),
            ("subtask_1a2b3c4d _task_1a2b3c4d", None),
            ("task_1A2B3C4D", None),
            ("msg_1a2b3c4d task_1a2b3c4d.json", Some("task_1a2b3c4d")),
            ("é_task_", None),
            ("", None),
        ] {
            assert_eq!(first_id(output), id, "{output}");
        }
    }
}

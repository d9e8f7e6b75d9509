//! The script file: its form, and its mistakes found at start, each with file, agent and position.

use std::fmt;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::substitute::is_name;
use crate::ids::AgentName;
use crate::model::OpenError;
use crate::store::read::read_followed;

/// Largest script, in bytes.
const MAX_SCRIPT: u64 = 64 * 1024 * 1024;

/// One scripted reply.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scripted {
    /// Holds back the reply until the newest user message contains this.
    #[serde(default)]
    pub(super) when: Option<String>,
    /// What is said.
    #[serde(default)]
    pub(super) text: Option<String>,
    /// What is asked for.
    #[serde(default)]
    pub(super) tools: Vec<ScriptedCall>,
    /// How long the reply takes, in milliseconds.
    #[serde(default)]
    pub(super) delay_ms: Option<u64>,
    /// The call fails like this instead.
    #[serde(default)]
    pub(super) error: Option<ScriptedError>,
}

/// One scripted tool call.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptedCall {
    /// The tool.
    pub(super) name: String,
    /// Its arguments.
    #[serde(default)]
    pub(super) input: Map<String, Value>,
    /// The name for the id in the tool's answer.
    #[serde(default, rename = "as")]
    pub(super) bind: Option<String>,
}

/// A scripted failure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptedError {
    /// HTTP status.
    pub(super) status: u16,
    /// What the server says.
    #[serde(default)]
    pub(super) message: Option<String>,
    /// What the server asks for, in seconds.
    #[serde(default)]
    pub(super) retry_after: Option<f64>,
}

/// Reads the replies of `agent` from the script at `path`; all of the file is checked.
pub(super) fn load(path: &Path, agent: &str) -> Result<Vec<Scripted>, OpenError> {
    let unreadable = |why: &str| mistake(path, format_args!("cannot be read: {why}; name a file"));
    let bytes = read_followed(path, MAX_SCRIPT).map_err(|error| unreadable(&error.why()))?;
    let bytes = bytes.ok_or_else(|| unreadable("there is no such file"))?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8"))?;
    let mut lists = parse(path, &text)?;
    let own = lists
        .iter()
        .position(|(name, _)| name.eq_ignore_ascii_case(agent))
        .or_else(|| lists.iter().position(|(name, _)| name == "*"));
    Ok(own.map(|own| lists.swap_remove(own).1).unwrap_or_default())
}

type Lists = Vec<(String, Vec<Scripted>)>;

fn parse(path: &Path, text: &str) -> Result<Lists, OpenError> {
    let root: Value = serde_json::from_str(text)
        .map_err(|error| mistake(path, format_args!("is no JSON: {error}")))?;
    let root = root
        .as_object()
        .filter(|root| root.keys().all(|key| key == "agents"))
        .and_then(|root| root.get("agents")?.as_object())
        .ok_or_else(|| {
            mistake(
                path,
                "must be {\"agents\": {NAME: [reply, …]}} and nothing else",
            )
        })?;
    let mut lists: Lists = Vec::new();
    for (name, replies) in root {
        let at = format!("agent {name:?}");
        if name != "*" {
            AgentName::parse(name).map_err(|error| mistake(path, format_args!("{at}: {error}")))?;
        }
        if lists
            .iter()
            .any(|(other, _)| other.eq_ignore_ascii_case(name))
        {
            let twice = format_args!("{at}: stands there twice; names are equal but for case");
            return Err(mistake(path, twice));
        }
        let replies = replies
            .as_array()
            .ok_or_else(|| mistake(path, format_args!("{at}: must be a list of replies")))?;
        let replies = replies
            .iter()
            .enumerate()
            .map(|(index, value)| {
                reply(value)
                    .map_err(|why| mistake(path, format_args!("{at}, reply {}: {why}", index + 1)))
            })
            .collect::<Result<_, _>>()?;
        lists.push((name.clone(), replies));
    }
    Ok(lists)
}

fn reply(value: &Value) -> Result<Scripted, String> {
    let tools = value.get("tools").and_then(Value::as_array);
    for (index, tool) in tools.into_iter().flatten().enumerate() {
        call(tool).map_err(|why| format!("tool {}: {why}", index + 1))?;
    }
    let reply = Scripted::deserialize(value).map_err(|error| error.to_string())?;
    if reply.text.is_none()
        && reply.tools.is_empty()
        && reply.delay_ms.is_none()
        && reply.error.is_none()
    {
        return Err("has neither text, tools, delay_ms nor error".to_owned());
    }
    if let Some(error) = &reply.error
        && !(400..=599).contains(&error.status)
    {
        return Err(format!("error: {} is no status of a failure", error.status));
    }
    Ok(reply)
}

fn call(value: &Value) -> Result<(), String> {
    let call = ScriptedCall::deserialize(value).map_err(|error| error.to_string())?;
    if call.name.is_empty() {
        return Err("the name is empty".to_owned());
    }
    match call.bind.as_deref() {
        Some("task") => Err("as: \"task\" is the agent's own assignment".to_owned()),
        Some(name) if !is_name(name) => Err(format!(
            "as: {name:?} is no name; allowed are letters, digits, _ and -"
        )),
        _ => Ok(()),
    }
}

fn mistake(path: &Path, what: impl fmt::Display) -> OpenError {
    OpenError::Script(format!("script {}: {what}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        parse(Path::new("s.json"), text).unwrap_err().to_string()
    }

    #[test]
    fn mistakes_are_told_with_file_agent_and_position() {
        for (text, parts) in [
            ("{", vec!["s.json", "is no JSON", "line 1"]),
            ("[]", vec!["s.json", "agents"]),
            (r#"{"agents":{},"agent":{}}"#, vec!["nothing else"]),
            (r#"{"agents":[]}"#, vec!["agents"]),
            (r#"{"agents":{"a":{}}}"#, vec!["agent \"a\"", "list"]),
            (r#"{"agents":{"a b":[]}}"#, vec!["agent \"a b\"", "a-b"]),
            (
                r#"{"agents":{"a":[],"A":[]}}"#,
                vec!["agent \"A\"", "twice"],
            ),
            (
                r#"{"agents":{"a":[{"text":"x"},{"txt":"y"}]}}"#,
                vec!["agent \"a\", reply 2", "txt"],
            ),
            (
                r#"{"agents":{"a":[{"when":"x"}]}}"#,
                vec!["reply 1", "neither"],
            ),
            (r#"{"agents":{"a":["x"]}}"#, vec!["reply 1"]),
            (
                r#"{"agents":{"a":[{"tools":[{"name":"x"},{"input":{}}]}]}}"#,
                vec!["reply 1: tool 2", "name"],
            ),
            (
                r#"{"agents":{"a":[{"tools":[{"name":"x","input":[]}]}]}}"#,
                vec!["tool 1", "map"],
            ),
            (
                r#"{"agents":{"a":[{"tools":[{"name":"x","as":"a b"}]}]}}"#,
                vec!["tool 1", "a b"],
            ),
            (
                r#"{"agents":{"a":[{"tools":[{"name":"x","as":"task"}]}]}}"#,
                vec!["tool 1", "assignment"],
            ),
            (
                r#"{"agents":{"a":[{"error":{"status":200}}]}}"#,
                vec!["reply 1", "200"],
            ),
        ] {
            let fault = fault(text);
            for part in parts {
                assert!(fault.contains(part), "{text}: {fault} lacks {part:?}");
            }
        }
    }

    #[test]
    fn an_agent_without_a_list_of_its_own_takes_the_stars() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("s.json");
        let text =
            "\u{feff}{\"agents\":{\"Alice\":[{\"text\":\"mine\"}],\"*\":[{\"text\":\"any\"}]}}";
        std::fs::File::create(&path)
            .and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()))
            .unwrap();
        let text = |agent: &str| load(&path, agent).unwrap()[0].text.clone().unwrap();
        assert_eq!(text("alice"), "mine");
        assert_eq!(text("bob"), "any");
        let missing = load(&scratch.path().join("none.json"), "bob").unwrap_err();
        assert!(missing.to_string().contains("none.json"));
    }
}

//! One settings file as text: what it sets, what in it is unknown, and where a mistake stands.

use std::path::Path;

use super::layers::SettingsError;
use super::settings::Settings;
use crate::ids;

/// What one file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parsed {
    /// The keys that it sets.
    pub settings: Settings,
    /// One line for each key that has no effect.
    pub warnings: Vec<String>,
}

/// Keys that have an effect, by the path of the object they stand in.
const KNOWN: [(&str, &[&str]); 6] = [
    (
        "",
        &[
            "model",
            "teammateModel",
            "maxTeammates",
            "maxAttempts",
            "verify",
            "permissions",
            "teamAllowedPaths",
            "members",
            "planReview",
            "mergeBy",
            "sandbox",
            "network",
            "cacheDirs",
            "sandboxSockets",
            "env",
            "hooks",
            "notify",
            "durability",
            "limits",
            "prices",
            "leadGraceSecs",
            "shutdownSecs",
            "stallSecs",
            "permissionWaitSecs",
        ],
    ),
    ("permissions", &["deny", "ask", "allow", "mode"]),
    (
        "members.*",
        &["role", "model", "allowedPaths", "cannotEdit", "requirePlan"],
    ),
    ("env", &["pass"]),
    (
        "hooks",
        &[
            "UserPromptSubmit",
            "PreToolUse",
            "PostToolUse",
            "Stop",
            "TeammateIdle",
            "TaskCompleted",
        ],
    ),
    ("limits", &["tokens", "turns", "seconds", "cost"]),
];

/// Reads `text` as settings; `path` is named in errors and warnings.
pub fn parse(text: &str, path: &Path) -> Result<Parsed, SettingsError> {
    refuse_lists(text, path)?;
    let mut unknown = Vec::new();
    let mut track = serde_path_to_error::Track::new();
    let mut json = serde_json::Deserializer::from_str(text);
    let tracked = serde_path_to_error::Deserializer::new(&mut json, &mut track);
    let read: Result<Settings, _> =
        serde_ignored::deserialize(tracked, |key| unknown.push(key.to_string()));
    let settings = read
        .and_then(|settings| json.end().map(|()| settings))
        .map_err(|error| mistake(path, &track.path().to_string(), &error))?;
    let warnings = unknown
        .iter()
        .filter(|key| *key != "$schema")
        .map(|key| unknown_key(&place_of(text, path, key), key))
        .collect();
    Ok(Parsed { settings, warnings })
}

/// serde takes a list for a struct, by position; people never mean that.
fn refuse_lists(text: &str, path: &Path) -> Result<(), SettingsError> {
    let Ok(json) = serde_json::from_str::<serde_json::Value>(text) else {
        return Ok(());
    };
    let objects = ["permissions", "env", "hooks", "limits", "prices", "members"]
        .map(|key| (key, json.get(key)));
    let members = json.get("members").and_then(serde_json::Value::as_object);
    let members = members
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.as_str(), Some(value)));
    let all = [("", Some(&json))]
        .into_iter()
        .chain(objects)
        .chain(members);
    for (key, value) in all {
        if value.is_some_and(serde_json::Value::is_array) {
            let line = line_of(text, key);
            let at = if key.is_empty() {
                String::new()
            } else {
                format!("{key}: ")
            };
            return Err(wrong(
                path,
                line,
                &format!("{at}invalid type: a list, expected an object"),
            ));
        }
    }
    Ok(())
}

/// The file and line where a key of this path stands.
fn place_of(text: &str, path: &Path, key: &str) -> String {
    format!("{}:{}", path.display(), line_of(text, key))
}

/// The line of the key with this path, such as `limits.tokens`: each part is looked for behind the one before it.
fn line_of(text: &str, path: &str) -> usize {
    let mut at = 0;
    for part in path.split('.') {
        let named = format!("\"{part}\"");
        let found = text[at..].match_indices(&named).find(|(found, _)| {
            let rest = &text[at + found + named.len()..];
            rest.trim_start().starts_with(':')
        });
        at += found.map_or(0, |(found, _)| found);
    }
    1 + text[..at].matches('\n').count()
}

fn wrong(path: &Path, line: usize, what: &str) -> SettingsError {
    SettingsError(format!(
        "{}:{line}: {what}; settings must be right before anything starts; correct the file",
        path.display()
    ))
}

fn mistake(path: &Path, key: &str, error: &serde_json::Error) -> SettingsError {
    let text = error.to_string();
    let what = text
        .rsplit_once(" at line ")
        .map_or(text.as_str(), |(what, _)| what)
        .replace("expected usize", "expected a whole number")
        .replace("expected u64", "expected a whole number")
        .replace("expected u32", "expected a whole number")
        .replace("a map", "an object")
        .replace("a sequence", "a list");
    let what = without_type_names(&what);
    let at = if error.is_data() && key != "." {
        format!("{key}: ")
    } else {
        String::new()
    };
    wrong(path, error.line(), &format!("{at}{what}"))
}

fn without_type_names(what: &str) -> String {
    match what.split_once("expected struct ") {
        Some((before, _)) => format!("{before}expected an object"),
        None => what.to_owned(),
    }
}

fn unknown_key(place: &str, key: &str) -> String {
    let (parent, name) = key.rsplit_once('.').unwrap_or(("", key));
    let parent = if parent.starts_with("members.") {
        "members.*"
    } else {
        parent
    };
    let hint = ids::nearest(name, keys(parent).iter().copied())
        .map(|near| format!("; did you mean {near:?}?"))
        .unwrap_or_default();
    format!("{place}: unknown key {key:?} is ignored{hint}")
}

fn keys(parent: &str) -> &'static [&'static str] {
    KNOWN
        .iter()
        .find(|(path, _)| *path == parent)
        .map_or(&[], |(_, keys)| keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Parsed, String> {
        parse(text, Path::new("t.json")).map_err(|error| error.0)
    }

    #[test]
    fn known_keys_are_those_of_the_structs() {
        let everything = Settings {
            members: [(
                "a".to_owned(),
                crate::config::settings::MemberSettings::default(),
            )]
            .into(),
            ..Settings::default()
        };
        let json = serde_json::to_value(everything).unwrap();
        for (parent, known) in KNOWN {
            let pointer = match parent {
                "" => String::new(),
                "members.*" => "/members/a".to_owned(),
                other => format!("/{other}"),
            };
            let there: Vec<&String> = json
                .pointer(&pointer)
                .unwrap()
                .as_object()
                .unwrap()
                .keys()
                .collect();
            let mut known: Vec<&str> = known.to_vec();
            let mut there: Vec<&str> = there.iter().map(|key| key.as_str()).collect();
            known.sort_unstable();
            there.sort_unstable();
            assert_eq!(known, there, "{parent:?}");
        }
    }

    #[test]
    fn unknown_keys_are_named_with_the_nearest() {
        let text = r#"{"maxTeamates": 3, "model": "token: x",
            "limits": {"token": 1, "cost": 2}, "notfy": "x",
            "hooks": {
                "PreTooluse": []}, "$schema": "x",
            "members": {"bob": {"role": "y",
                "rol": "x"}}}"#;
        let parsed = read(text).unwrap();
        assert_eq!(
            parsed.warnings,
            [
                "t.json:1: unknown key \"maxTeamates\" is ignored; did you mean \"maxTeammates\"?",
                "t.json:2: unknown key \"limits.token\" is ignored; did you mean \"tokens\"?",
                "t.json:2: unknown key \"notfy\" is ignored; did you mean \"notify\"?",
                "t.json:4: unknown key \"hooks.PreTooluse\" is ignored; did you mean \"PreToolUse\"?",
                "t.json:6: unknown key \"members.bob.rol\" is ignored; did you mean \"role\"?",
            ]
        );
    }

    #[test]
    fn mistakes_name_line_and_path() {
        for (text, wanted) in [
            (
                "{\n\"maxTeammates\": \"x\"}",
                "t.json:2: maxTeammates: invalid type: string \"x\", expected a whole number;",
            ),
            (
                "{\n\n\"permissions\": {\"deny\": \"x\"}}",
                "t.json:3: permissions.deny: invalid type: string \"x\", expected a list;",
            ),
            ("{\"permissions\": []}", "t.json:1: permissions: invalid"),
            (
                "{\"planReview\": \"boss\"}",
                "t.json:1: planReview: unknown variant `boss`",
            ),
            ("{\"a\": 1,\n}", "t.json:2: trailing comma;"),
            ("", "t.json:1: EOF while parsing a value;"),
            ("{} x", "t.json:1: trailing characters;"),
            ("[]", "t.json:1: invalid type: a list"),
            (
                "{\n\"limits\": [100]}",
                "t.json:2: limits: invalid type: a list",
            ),
            (
                "{\n\"members\": {\n\"bob\": [\"x\"]}}",
                "t.json:3: bob: invalid type: a list",
            ),
            ("3", "t.json:1: invalid type: integer"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(wanted), "{text}: {error}");
            assert!(!error.contains("struct"), "{error}");
        }
    }

    #[test]
    fn a_rule_that_cannot_be_parsed_is_found_where_it_stands() {
        let error = read("{\"permissions\": {\"ask\": [\n\"bash(rm *)\",\n\"no such tool(\"]}}")
            .unwrap_err();
        assert!(
            error.starts_with("t.json:3: permissions.ask[1]: "),
            "{error}"
        );
    }
}

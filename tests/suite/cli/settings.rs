//! Settings files, trust, and the environment.

use serde_json::{Value, json};

use crate::support::Bed;

fn value(config: &serde_json::Value, key: &str) -> serde_json::Value {
    config["settings"].pointer(key).cloned().unwrap_or_default()
}

#[test]
fn a_mistake_stops_the_start_with_file_line_and_path() {
    for (text, part) in [
        (
            "{\n  \"maxTeammates\": \"many\"\n}",
            "team.json:2: maxTeammates: ",
        ),
        ("{\n  \"limits\": { \"tokens\": 1 \n", "team.json:3: "),
        (
            "{\n  \"permissions\": {\n    \"deny\": [\"bash(\"] } }",
            "team.json:3: permissions.deny[0]: ",
        ),
        ("[]", "team.json:1: "),
        ("", "team.json:1: "),
    ] {
        let bed = Bed::new();
        bed.write(".team/team.json", text);
        let before = bed.listing();
        bed.lead(&["-p", "go", "--model", "script:x"])
            .expect_usage_error(part);
        bed.lead(&["config"]).expect_usage_error(part);
        assert_eq!(bed.listing(), before);
        assert_eq!(bed.read(".team/team.json"), text);
    }
}

#[test]
fn the_persons_own_file_counts_and_the_environment_is_stronger() {
    let bed = Bed::new().with_env("PITCREW_MODEL", "ollama:env");
    bed.put(
        &bed.home().join(".config/pitcrew/settings.json"),
        r#"{"model": "ollama:mine", "maxTeammates": 3, "permissions": {"deny": ["bash(make *)"]}}"#,
    );
    let config = bed.lead(&["config", "--json"]).expect_code(0).json();
    assert_eq!(value(&config, "/model"), "ollama:env");
    assert_eq!(value(&config, "/maxTeammates"), 3);
    assert_eq!(value(&config, "/permissions/deny"), json!(["bash(make *)"]));
    let origins = config["origins"].as_array().unwrap();
    let origin = |key: &str| {
        let found = origins.iter().find(|origin| origin["key"] == key).unwrap();
        found["origin"].as_str().unwrap().to_owned()
    };
    assert_eq!(origin("model"), "environment");
    assert!(origin("maxTeammates").ends_with("settings.json"));
}

#[test]
fn an_untrusted_workspace_only_makes_things_stricter() {
    let bed = Bed::new();
    bed.write(
        ".team/team.json",
        r#"{"verify": "curl evil", "maxTeammates": 99, "shutdownSecs": 5, "limits": {"turns": 7},
            "members": {"bob": {"role": "root", "requirePlan": true}},
            "permissions": {"allow": ["bash(rm *)"], "deny": ["bash(make *)"], "mode": "bypass"}}"#,
    );
    let done = bed.lead(&["config", "--json"]).expect_code(0);
    let config = done.json();
    assert_eq!(config["trusted"], false);
    for (key, wanted) in [
        ("/verify", json!(null)),
        ("/maxTeammates", json!(8)),
        ("/permissions/allow", json!([])),
        ("/permissions/mode", json!("ask")),
        ("/permissions/deny", json!(["bash(make *)"])),
        ("/limits/turns", json!(7)),
        ("/shutdownSecs", json!(5)),
        ("/members/bob/requirePlan", json!(true)),
        ("/members/bob/role", json!(null)),
    ] {
        assert_eq!(value(&config, key), wanted, "{key}");
    }
    let warning = done
        .stderr
        .lines()
        .find(|line| line.contains("ignored until you trust"))
        .unwrap();
    for key in [
        "verify",
        "maxTeammates",
        "permissions.allow",
        "permissions.mode",
        "members.bob.role",
    ] {
        assert!(warning.contains(key), "{key}: {warning}");
    }
}

#[test]
fn an_unknown_key_is_a_warning_with_the_nearest() {
    let bed = Bed::new();
    bed.write(".team/team.json", "{\n  \"shutdownSec\": 5\n}");
    let done = bed.lead(&["config"]).expect_code(0);
    for part in ["team.json:2: unknown key", "did you mean \"shutdownSecs\"?"] {
        assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
    }
}

/// What a command's caches are made in must be there: a mistyped home is told of, not made.
#[test]
fn a_home_that_is_missing_is_not_made_and_is_told_of() {
    let bed = Bed::new();
    let home = bed.outside("nowhere");
    let bed = bed.with_env("HOME", home.display().to_string());
    let call = json!({ "name": "bash", "input": { "command": "true" } });
    let replies = json!({"agents": {"lead": [{ "tools": [call] }, { "text": "Done." }]}});
    let model = bed.script(&replies);
    let done = bed.lead(&["-p", "go", "--model", &model]).expect_code(0);
    let told = format!("HOME is {}, which is no directory;", home.display());
    assert!(done.stderr.contains(&told), "{}", done.stderr);
    assert_eq!(done.stdout, "Done.\n");
    let checks = bed.lead(&["doctor"]).expect_code(0).stdout;
    assert!(
        checks.contains(&format!("note  home          {told}")),
        "{checks}"
    );
    assert!(!home.exists());
}

#[test]
fn odd_places_for_settings_are_said_in_one_line() {
    let bed = Bed::new().with_env("PITCREW_MAX_TEAMMATES", "-3");
    bed.lead(&["config"])
        .expect_usage_error("PITCREW_MAX_TEAMMATES");
    let bed = Bed::new();
    std::fs::create_dir_all(bed.home().join(".config/pitcrew/settings.json")).unwrap();
    bed.lead(&["config"]).expect_usage_error("settings.json");
    let bed = Bed::new();
    std::fs::create_dir_all(bed.root().join(".team/team.json")).unwrap();
    bed.lead(&["config"]).expect_usage_error("team.json");
    let bed = Bed::new().with_env("HOME", "");
    drop(bed.lead(&["config"]).expect_code(0));
}

#[test]
fn the_schema_is_json_and_names_every_key() {
    let schema = Bed::new().lead(&["config", "schema"]).expect_code(0).json();
    for key in [
        "model",
        "permissions",
        "members",
        "limits",
        "durability",
        "stallSecs",
    ] {
        assert!(schema["properties"][key].is_object(), "{key}");
    }
}

#[test]
fn every_key_is_shown_with_its_value_and_where_it_came_from() {
    let bed = Bed::new();
    let schema = bed.lead(&["config", "schema"]).expect_code(0).json();
    let config = bed.lead(&["config", "--json"]).expect_code(0).json();
    let plain = bed.lead(&["config"]).expect_code(0).stdout;
    let origins = config["origins"].as_array().unwrap();
    for key in schema["properties"].as_object().unwrap().keys() {
        let below = format!("{key}.");
        let of_key = |shown: &str| shown == key || shown.starts_with(&below);
        let shown = origins
            .iter()
            .find(|origin| of_key(origin["key"].as_str().unwrap()))
            .unwrap_or_else(|| panic!("{key} in {origins:?}"));
        assert_eq!(shown["origin"], "default", "{key}");
        assert!(
            plain.lines().any(|line| line.starts_with(key)),
            "{key} in {plain}"
        );
    }
    for (key, value) in [
        ("/maxTeammates", json!(8)),
        ("/maxAttempts", json!(3)),
        ("/planReview", json!("user")),
        ("/mergeBy", json!("user")),
        ("/durability", json!("power")),
        ("/leadGraceSecs", json!(60)),
        ("/shutdownSecs", json!(120)),
        ("/stallSecs", json!(600)),
        ("/permissions/mode", json!("ask")),
        ("/permissionWaitSecs", json!(null)),
    ] {
        assert_eq!(config["settings"].pointer(key), Some(&value), "{key}");
    }
}

/// Every key with a value, and whether it holds though nobody has trusted the workspace.
fn foreign() -> Vec<(&'static str, Value, bool)> {
    let commands = json!(["true"]);
    vec![
        ("model", json!("ollama:x"), false),
        ("teammateModel", json!("ollama:x"), false),
        ("maxTeammates", json!(2), false),
        ("maxAttempts", json!(2), false),
        ("verify", json!("true"), false),
        ("permissions/deny", json!(["bash(make *)"]), true),
        ("permissions/ask", json!(["bash(ls *)"]), true),
        ("permissions/allow", json!(["bash(rm *)"]), false),
        ("permissions/mode", json!("bypass"), false),
        ("teamAllowedPaths", json!([{"path": "/x/**"}]), false),
        ("members/bob/role", json!("root"), false),
        ("members/bob/model", json!("ollama:x"), false),
        ("members/bob/allowedPaths", json!(["src/**"]), false),
        ("members/bob/cannotEdit", json!(["docs/**"]), true),
        ("members/bob/requirePlan", json!(true), true),
        ("planReview", json!("lead"), false),
        ("mergeBy", json!("lead"), false),
        ("sandbox", json!("off"), false),
        ("network", json!("deny"), true),
        ("cacheDirs", json!(["/x"]), false),
        ("sandboxSockets", json!(["/x"]), false),
        ("env/pass", json!(["TOKEN"]), false),
        ("hooks/UserPromptSubmit", commands.clone(), false),
        ("hooks/PreToolUse", commands.clone(), false),
        ("hooks/PostToolUse", commands.clone(), false),
        ("hooks/Stop", commands.clone(), false),
        ("hooks/TeammateIdle", commands.clone(), false),
        ("hooks/TaskCompleted", commands, false),
        ("notify", json!("touch asked"), false),
        ("durability", json!("process"), false),
        ("limits/tokens", json!(9), true),
        ("limits/turns", json!(9), true),
        ("limits/seconds", json!(9), true),
        ("limits/cost", json!(1.5), true),
        ("prices", json!({"x": {"input": 1, "output": 1}}), false),
        ("leadGraceSecs", json!(7), true),
        ("shutdownSecs", json!(7), true),
        ("stallSecs", json!(7), true),
        ("permissionWaitSecs", json!(7), true),
    ]
}

/// Paths of all values, an empty object being one.
fn paths(value: &Value, path: &str, into: &mut Vec<String>) {
    match value.as_object().filter(|map| !map.is_empty()) {
        Some(map) => {
            for (key, value) in map {
                paths(value, &format!("{path}/{key}"), into);
            }
        }
        None => into.push(path.trim_start_matches('/').to_owned()),
    }
}

#[test]
fn it_is_said_of_every_key_what_a_stranger_may_do_with_it() {
    let table = foreign();
    let mut given = json!({});
    for (path, sample, _) in &table {
        let at = path.split('/').fold(&mut given, |at, key| &mut at[key]);
        at.clone_from(sample);
    }
    let bed = Bed::new();
    bed.write(".team/team.json", &given.to_string());
    let done = bed.lead(&["config", "--json"]).expect_code(0);
    let config = done.json();
    let mut there = Vec::new();
    paths(&config["settings"], "", &mut there);
    let mut listed: Vec<&str> = table.iter().map(|(path, _, _)| *path).collect();
    there.sort_unstable();
    listed.sort_unstable();
    assert_eq!(there, listed, "every key has its line in the table");
    for (path, sample, holds) in table {
        let is = value(&config, &format!("/{path}"));
        assert_eq!(is == sample, holds, "{path}: {is}");
        let named = done.stderr.contains(&path.replace('/', "."));
        assert!(holds || named, "{path} in {}", done.stderr);
    }
}

#[test]
fn a_strangers_limit_on_cost_stops_no_start_and_ones_own_does() {
    let bed = Bed::new();
    bed.write(".team/team.json", r#"{"limits": {"cost": 1.5}}"#);
    let model = bed.script(&json!({"agents": {"lead": [{"text": "Hello."}]}}));
    let args = ["-p", "go", "--model", &model];
    let done = bed.lead(&args).expect_code(0);
    let warned = |line: &str| line.contains("team.json: limits.cost is ignored");
    assert!(done.stderr.lines().any(warned), "{}", done.stderr);
    let own = bed.home().join(".config/pitcrew/settings.json");
    bed.put(&own, r#"{"limits": {"cost": 2}}"#);
    bed.lead(&args).expect_usage_error("has no price");
}

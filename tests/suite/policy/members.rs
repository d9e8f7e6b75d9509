//! What binds single members.

use pitcrew::config::Settings;
use pitcrew::policy::Mode;
use serde_json::json;

use super::{plain, policy, scope, word};

#[test]
fn a_member_is_bound_to_its_paths() {
    let bound = |allow: &[&str], mode| {
        policy(&[], &[], allow, mode)
            .bound_to(&["src/**".into()], &["src/secret.rs".into()])
            .unwrap()
    };
    let grant = ["edit_file(src/secret.rs)".to_owned()];
    for (mode, path, allow, grants, expected) in [
        (Mode::Ask, "src/a.rs", &[][..], &[][..], "allow"),
        (Mode::Ask, "docs/a.md", &[], &[], "ask"),
        (
            Mode::Ask,
            "docs/a.md",
            &["edit_file(docs/**)"],
            &[],
            "allow",
        ),
        (Mode::Bypass, "docs/a.md", &[], &[], "allow"),
        (Mode::Ask, "src/secret.rs", &["edit_file"], &[], "ask"),
        (Mode::Bypass, "src/secret.rs", &["edit_file"], &[], "ask"),
        (Mode::Deny, "src/secret.rs", &["edit_file"], &[], "deny"),
        (Mode::Ask, "src/secret.rs", &[], &grant, "allow"),
        (Mode::Bypass, ".git/config", &[], &grant, "deny"),
    ] {
        let input = json!({ "path": path });
        let verdict = bound(allow, mode).judge("edit_file", &input, &scope(), grants);
        assert_eq!(word(&verdict), expected, "{mode:?} {path} {allow:?}");
    }
    assert!(plain().bound_to(&["[".into()], &[]).is_err());
}

#[test]
fn what_binds_one_member_binds_nobody_else() {
    let settings: Settings = serde_json::from_value(json!({
        "members": {"lead": {"cannotEdit": ["**"]}, "bob": {"allowedPaths": ["docs"]}},
    }))
    .unwrap();
    let input = json!({"path": "src/a.rs"});
    for (agent, expected) in [("lead", "ask"), ("bob", "ask"), ("alice", "allow")] {
        let policy = settings.policy(&agent.parse().unwrap()).unwrap();
        for tool in ["edit_file", "write_file"] {
            let verdict = policy.judge(tool, &input, &scope(), &[]);
            assert_eq!(word(&verdict), expected, "{agent} {tool}");
        }
    }
}

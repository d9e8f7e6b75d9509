//! What the settings of the sandbox do to a lead's bash, and what is said where it does not hold.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::cell::has;
use crate::support::{Bed, Done, Running};

const RUN: Duration = Duration::from_mins(1);

/// Calls of tools by a lead, under whatever mode asks for nothing.
fn calls(bed: &Bed, calls: &[(&str, Value)]) -> Command {
    let tools: Vec<Value> = calls
        .iter()
        .map(|(name, input)| json!({"name": name, "input": input}))
        .collect();
    let model = bed.script(&json!({"agents": {"lead": [{"tools": tools}, {"text": "Done."}]}}));
    bed.lead_command(&[
        "-p",
        "go",
        "--permissions",
        "bypass",
        "--output-format",
        "stream-json",
        "--model",
        &model,
    ])
}

fn bash(command: &str) -> (&'static str, Value) {
    ("bash", json!({"command": command}))
}

/// What the tools answered, in order, and whether each succeeded.
fn answers(done: &Done) -> Vec<(bool, String)> {
    done.stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|event| event["event"] == "tool_result")
        .map(|event| {
            let output = event["output"].as_str().unwrap_or_default();
            (event["ok"] == true, output.to_owned())
        })
        .collect()
}

fn run(bed: &Bed, tools: &[(&str, Value)]) -> Vec<(bool, String)> {
    answers(
        &Running::start(&mut calls(bed, tools))
            .wait(RUN)
            .expect_code(0),
    )
}

fn own_settings(bed: &Bed, settings: &Value) {
    let path = bed.home().join(".config/pitcrew/settings.json");
    bed.put(&path, &settings.to_string());
}

#[test]
fn the_agents_own_directory_is_tmp_to_its_commands_and_to_its_file_tools() {
    let bed = Bed::new();
    let said = run(
        &bed,
        &[
            (
                "write_file",
                json!({"path": "/tmp/note", "content": "from a tool\n"}),
            ),
            bash("cat /tmp/note; echo from a command > $TMPDIR/more"),
            ("read_file", json!({"path": "/tmp/more"})),
            bash("head -c 200000 /dev/zero | tr '\\0' x"),
            ("read_file", json!({"path": "/tmp/out_1.txt", "limit": 1})),
        ],
    );
    let ok: Vec<bool> = said.iter().map(|(ok, _)| *ok).collect();
    assert_eq!(ok[..4], [true; 4], "{said:?}");
    assert_eq!(said[1].1, "from a tool\n");
    assert!(said[2].1.contains("from a command"));
    assert!(
        said[3].1.contains("the whole output is in /tmp/out_1.txt"),
        "{}",
        said[3].1
    );
    assert!(said[4].1.contains("xxx"), "{}", said[4].1);
    assert!(!bed.root().join(".team/state/tmp/lead").exists());
}

/// Beneath what commands have their own of: the main checkout, its git directory, and the objects that it reads of another.
#[test]
fn a_repository_that_is_kept_elsewhere_is_read_and_not_written() {
    let bed = Bed::new();
    let outside = |name: &str| bed.outside(name).display().to_string();
    let (lender, main, kept) = (outside("lender"), outside("main"), outside("kept.git"));
    bed.run_git(&["init", "-q", "-b", "main", &lender]);
    bed.put(&bed.outside("lender/file"), "lent\n");
    bed.run_git(&["-C", &lender, "add", "-A"]);
    bed.run_git(&["-C", &lender, "commit", "-q", "-m", "lent"]);
    bed.run_git(&[
        "clone",
        "-q",
        "--shared",
        "--separate-git-dir",
        &kept,
        &lender,
        &main,
    ]);
    let root = bed.root().display().to_string();
    bed.run_git(&["-C", &main, "worktree", "add", "-q", &root]);
    let said = run(
        &bed,
        &[
            bash("git show HEAD:file && git status --porcelain"),
            bash(&format!("touch '{kept}/x' '{lender}/.git/objects/x'")),
            bash(&format!("ls '{lender}'")),
        ],
    );
    assert_eq!(said[0], (true, "lent\n".to_owned()), "{said:?}");
    assert_eq!(said[1].1.matches("Read-only file system").count(), 2);
    assert!(!said[2].1.contains("file"), "{said:?}");
}

#[test]
fn the_teams_own_files_are_made_and_kept_from_the_first_command_on() {
    let bed = Bed::new();
    let said = run(
        &bed,
        &[bash(
            "for d in $(ls -A | grep '^[.]'); do mkdir $d/x; touch $d; done; echo x > f",
        )],
    );
    assert_eq!(
        said[0].1.matches("Read-only file system").count(),
        10,
        "{said:?}"
    );
    assert_eq!(bed.read("f"), "x\n");
}

#[test]
fn caches_are_the_package_managers_unless_the_person_names_others() {
    let bed = Bed::new();
    let look = "touch ~/.npm/x; touch ~/.cargo/registry/x; touch ~/mine/x; touch ~/x";
    let refused = |name: &str, said: &str| {
        let path = bed.home().join(name);
        said.contains(&path.display().to_string())
    };
    let usual = run(&bed, &[bash(look)])[0].1.clone();
    own_settings(&bed, &json!({"cacheDirs": ["~/mine"]}));
    let own = run(&bed, &[bash(look)])[0].1.clone();
    for (name, is_usual, is_own) in [
        (".npm/x", true, false),
        (".cargo/registry/x", true, false),
        ("mine/x", false, true),
        ("x", false, false),
    ] {
        assert_eq!(refused(name, &usual), !is_usual, "{name}: {usual}");
        assert_eq!(refused(name, &own), !is_own, "{name}: {own}");
    }
}

#[test]
fn a_workspace_makes_the_sandbox_only_stricter_and_names_no_places() {
    let bed = Bed::new();
    bed.write(".team/team.json", r#"{"sandbox": "off", "network": "deny", "cacheDirs": ["~/"], "sandboxSockets": ["/run/x"]}"#);
    let config = bed.lead(&["config"]).expect_code(0);
    let all = format!("{}{}", config.stdout, config.stderr);
    assert!(
        all.contains("ignored until you trust this workspace: sandbox"),
        "{all}"
    );
    assert!(
        all.contains("cacheDirs has no effect in a workspace"),
        "{all}"
    );
    assert!(
        all.contains("sandboxSockets has no effect in a workspace"),
        "{all}"
    );
    let said = run(&bed, &[bash("touch ~/x; cat /proc/net/dev | grep -c :")]);
    assert!(said[0].1.contains("Read-only file system"), "{said:?}");
    assert!(
        said[0].1.contains("\n1"),
        "only the loopback device: {said:?}"
    );
}

#[test]
fn the_switch_is_found_in_every_layer() {
    let outside = |bed: &Bed| bed.outside("victim");
    let touch = |bed: &Bed| [bash(&format!("touch {}", outside(bed).display()))];
    let bed = Bed::new();
    own_settings(&bed, &json!({"sandbox": "off"}));
    assert!(run(&bed, &touch(&bed))[0].0);
    assert!(outside(&bed).exists());
    let bed = bed.with_env("PITCREW_SANDBOX", "required");
    std::fs::remove_file(outside(&bed)).unwrap();
    drop(run(&bed, &touch(&bed)));
    assert!(!outside(&bed).exists());
    let mut lead = calls(&bed, &touch(&bed));
    lead.args(["--sandbox", "off"]);
    drop(Running::start(&mut lead).wait(RUN).expect_code(0));
    assert!(outside(&bed).exists());
    let bed = bed.with_env("PITCREW_SANDBOX", "hard");
    bed.lead(&["config"])
        .expect_usage_error("it can be required, preferred, off");
}

/// The same lead where no mount namespace may be made.
fn without_namespaces(lead: &Command) -> Command {
    let mut command = Command::new("unshare");
    command
        .args([
            "-Ur",
            "sh",
            "-c",
            "echo 0 > /proc/sys/user/max_mnt_namespaces && exec \"$0\" \"$@\"",
        ])
        .arg(lead.get_program())
        .args(lead.get_args())
        .current_dir(lead.get_current_dir().unwrap())
        .env_clear()
        .envs(
            lead.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
    command
}

#[test]
fn where_a_wall_does_not_hold_required_refuses_and_preferred_goes_on() {
    if !has(&["unshare"]) {
        return;
    }
    let bed = Bed::new();
    let outside: PathBuf = bed.outside("victim");
    let tools = [bash(&format!(
        "touch {}; echo here > here",
        outside.display()
    ))];
    let start = |sandbox: &str| {
        let mut lead = calls(&bed, &tools);
        lead.args(["--sandbox", sandbox]);
        let done = Running::start(&mut without_namespaces(&lead)).wait(RUN);
        (answers(&done), done.stderr)
    };
    let (said, warned) = start("required");
    if said.is_empty() && warned.contains("unshare") {
        eprintln!("left out: no user namespace can be made here: {warned}");
        return;
    }
    assert!(
        !said[0].0
            && said[0]
                .1
                .contains("the sandbox does not hold here (namespaces: "),
        "{said:?}"
    );
    assert!(
        warned.contains("the sandbox does not hold here"),
        "{warned}"
    );
    assert!(!bed.root().join("here").exists());
    let (said, warned) = start("preferred");
    assert!(said[0].1.contains("Permission denied"), "{said:?}");
    assert!(warned.contains("the sandbox is not whole"), "{warned}");
    assert_eq!(bed.read("here"), "here\n");
    assert!(!outside.exists());
    let (said, _) = start("off");
    assert!(said[0].0 && outside.exists(), "{said:?}");
    let mut doctor = without_namespaces(&bed.lead_command(&["doctor", "--json"]));
    let done = Running::start(&mut doctor).wait(RUN).expect_code(0);
    let check = done.json()["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["name"] == "sandbox")
        .cloned()
        .unwrap();
    assert_eq!(check["ok"], false);
    assert!(
        check["detail"]
            .as_str()
            .unwrap()
            .contains("no command runs; namespaces"),
        "{check}"
    );
}

#[test]
fn the_doctor_says_what_holds_and_counts_second_names() {
    let bed = Bed::new();
    bed.write("one", "");
    std::fs::hard_link(bed.root().join("one"), bed.outside("two")).unwrap();
    let checks = bed.lead(&["doctor", "--json"]).expect_code(0).json();
    let detail = |name: &str| {
        let all = checks["checks"].as_array().unwrap();
        let check = all.iter().find(|check| check["name"] == name).unwrap();
        check["detail"].as_str().unwrap().to_owned()
    };
    assert!(
        detail("sandbox").contains("namespaces and Landlock hold"),
        "{checks:#}"
    );
    assert!(detail("hard links").starts_with("1 file"), "{checks:#}");
}

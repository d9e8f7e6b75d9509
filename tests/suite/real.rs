//! The script of `examples/real-project` over the modules that it changes, with a stand-in for cargo: three worktrees,
//! three commits on branches, merged. Shows as well that the example still fits the sources.

use std::path::Path;

use crate::support::{Bed, Done};

/// Each worktree and the module that is changed in it.
const CHANGES: [(&str, &str); 3] = [
    ("clock", "src/clock.rs"),
    ("message", "src/conversation/message.rs"),
    ("usage", "src/team/usage.rs"),
];

/// This repository as far as the script looks at it.
fn project(cargo: &str) -> Bed {
    let bed = Bed::git();
    for (_, module) in CHANGES {
        let text = std::fs::read_to_string(ours().join(module)).unwrap();
        bed.write(module, &text);
    }
    bed.run_git(&["add", "-A"]);
    bed.run_git(&["commit", "-q", "-m", "modules"]);
    bed.program("cargo", cargo);
    bed
}

fn ours() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn run(bed: &Bed) -> Done {
    let script = ours().join("examples/real-project/script.json");
    let model = format!("script:{}", script.display());
    let args = [
        "-p",
        "go",
        "--yes",
        "--output-format",
        "json",
        "--model",
        &model,
    ];
    bed.lead(&args)
}

#[test]
fn three_teammates_change_three_modules_in_worktrees() {
    let bed = project("#!/bin/sh\ntest \"$*\" = 'check --offline' && echo Finished\n");
    let before = bed.run_git(&["rev-parse", "HEAD"]);
    let result = run(&bed).expect_code(0).json();
    assert_eq!(result["status"], "completed", "{result:#}");
    assert_eq!(result["tasks"].as_array().unwrap().len(), 3);
    for task in result["tasks"].as_array().unwrap() {
        assert_eq!(
            (task["status"].as_str(), task["attempts"].as_u64()),
            (Some("completed"), Some(1)),
            "{task:#}"
        );
    }
    assert_eq!(bed.run_git(&["rev-parse", "HEAD"]), before);
    assert_eq!(bed.run_git(&["status", "--porcelain"]), "");
    for (name, module) in CHANGES {
        let branch = format!("wt/{name}");
        let range = format!("HEAD..{branch}");
        assert_eq!(bed.run_git(&["rev-list", "--count", &range]), "1\n");
        assert_eq!(
            bed.run_git(&["diff", "--name-only", &format!("HEAD...{branch}")]),
            format!("{module}\n")
        );
        bed.run_git(&["merge", "-q", "--no-edit", &branch]);
    }
    let changed = bed.run_git(&["diff", "--name-only", before.trim(), "HEAD"]);
    assert_eq!(
        changed.lines().collect::<Vec<_>>(),
        CHANGES.map(|(_, module)| module)
    );
    bed.assert_no_process_left();
}

/// What does not compile is committed by nobody, and the run does not pretend that it was done.
#[test]
fn a_check_that_fails_leaves_the_tasks_open() {
    let bed = project("#!/bin/sh\necho 'error: could not compile' >&2\nexit 101\n");
    let before = bed.run_git(&["rev-parse", "HEAD"]);
    let result = run(&bed).expect_code(1).json();
    assert_eq!(result["status"], "incomplete", "{result:#}");
    for task in result["tasks"].as_array().unwrap() {
        assert_eq!(task["status"], "pending", "{task:#}");
        assert!(task["owner"].is_null(), "{task:#}");
    }
    for (name, _) in CHANGES {
        let tip = bed.run_git(&["rev-parse", &format!("wt/{name}")]);
        assert_eq!(tip, before);
    }
    bed.assert_no_process_left();
}

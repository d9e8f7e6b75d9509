//! The README's commands are run as they stand there.

use serde_json::json;

use crate::support::{Bed, Running};

/// Command lines of the README's `sh` blocks.
fn commands() -> Vec<String> {
    let readme = include_str!("../../../README.md");
    let mut inside = false;
    let mut commands = Vec::new();
    for line in readme.lines() {
        match line {
            "```sh" => inside = true,
            "```" => inside = false,
            line if inside && !line.is_empty() && !line.starts_with('#') => {
                commands.push(line.split("  #").next().unwrap_or(line).trim().to_owned());
            }
            _ => {}
        }
    }
    commands
}

#[test]
fn the_two_set_up_commands_are_there() {
    let commands = commands();
    for wanted in ["cargo run --release --bin lead -- demo", "cargo test"] {
        assert!(
            commands.iter().any(|command| command == wanted),
            "{wanted}: {commands:?}"
        );
    }
}

#[test]
fn every_command_of_the_readme_is_understood() {
    let bed = Bed::git()
        .with_env("ANTHROPIC_API_KEY", "k")
        .with_env("OPENAI_API_KEY", "k");
    let model = bed.script(&json!({ "agents": { "lead": [{ "text": "Done." }] } }));
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_lead"))
        .parent()
        .unwrap()
        .display()
        .to_string();
    let mut run = 0;
    for command in commands() {
        // Models are replaced: a test has no network. What builds is run by whoever runs this test.
        let Some(call) = command.strip_prefix("lead") else {
            assert!(command.starts_with("cargo "), "{command} is not run");
            continue;
        };
        let call = with_model(call, &model);
        let mut shell = bed.command("sh");
        shell.args(["-c", &format!("PATH={bin}:$PATH; lead{call}")]);
        let done = Running::start(&mut shell).wait(crate::support::DEADLINE);
        // The model only talks: the task that an earlier one has added stays open, and no file is changed.
        let in_vain = ["lead -p ", "lead diff"];
        let in_vain = in_vain.iter().any(|start| command.starts_with(start));
        let wanted = i32::from(in_vain);
        assert_eq!(done.code, Some(wanted), "{command}: {}", done.stderr);
        run += 1;
    }
    assert!(run >= 10, "only {run} commands");
}

/// The call with every `--model X` and `--teammate-model X` replaced, and one added where none is given.
fn with_model(call: &str, model: &str) -> String {
    let mut words: Vec<&str> = call.split(' ').collect();
    let mut named = false;
    for index in 1..words.len() {
        if matches!(words[index - 1], "--model" | "--teammate-model") {
            words[index] = model;
            named |= words[index - 1] == "--model";
        }
    }
    let session = call.is_empty() || call.starts_with(" -");
    if session && !named {
        words.extend(["--model", model]);
    }
    words.join(" ")
}

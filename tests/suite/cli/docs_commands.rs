//! Every command in the pages of `docs/` is run as it stands there, against a model server of our own.

use std::path::Path;

use crate::support::model_server::{Answer, ModelServer};
use crate::support::{Bed, DEADLINE, Running};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Pages with the lines of each of their `sh` blocks.
fn blocks() -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    for page in std::fs::read_dir(Path::new(ROOT).join("docs")).unwrap() {
        let page = page.unwrap().path();
        let text = std::fs::read_to_string(&page).unwrap();
        let name = page.file_name().unwrap().to_string_lossy().into_owned();
        for rest in text.split("```sh\n").skip(1) {
            let block = rest.split("```").next().unwrap();
            blocks.push((name.clone(), block.to_owned()));
        }
    }
    blocks
}

#[test]
fn every_command_of_the_docs_works() {
    let server = ModelServer::start(|_| Answer::say("It is about pits and crews."));
    let lead = Path::new(env!("CARGO_BIN_EXE_lead"));
    let bin = lead.parent().unwrap().display();
    let blocks = blocks();
    assert!(blocks.len() >= 5, "{blocks:?}");
    for (page, block) in blocks {
        let bed = Bed::git().with_env("OLLAMA_HOST", server.ollama_host());
        bed.write("old.txt", "old words\n");
        let script = format!("{ROOT}/examples/first-session/script.json");
        let block = block
            .replace("127.0.0.1:11434", &server.ollama_host())
            .replace("http://127.0.0.1:8000/v1", &server.openai_base())
            .replace("FIRST_SESSION", &script)
            .replace("PITCREW/", &format!("{ROOT}/"));
        for nr in 0..block.lines().count() {
            // What a line sets up holds for those after it.
            let lines: Vec<&str> = block.lines().take(nr + 1).collect();
            let (last, before) = lines.split_last().unwrap();
            let before = before.iter().filter(|line| line.starts_with("export "));
            let setting: Vec<&str> = before.copied().collect();
            let mut shell = bed.command("sh");
            let line = format!("PATH={bin}:$PATH\n{}\n{last}", setting.join("\n"));
            shell.args(["-c", &line]);
            let done = Running::start(&mut shell).wait(DEADLINE);
            // The board of the example stays open: the model only talks.
            let open = page == "local-models.md" && last.contains("on the board");
            let wanted = i32::from(open);
            assert_eq!(done.code, Some(wanted), "{page}: {last}\n{}", done.stderr);
            // A script of its own says something else.
            let answered = last.contains("-p ") && !last.contains("json");
            if answered && page != "scripts.md" {
                assert_eq!(
                    done.stdout, "It is about pits and crews.\n",
                    "{page}: {last}"
                );
            }
        }
    }
    server.assert_valid();
}

//! The main job as a model server plays it: the lead plans and starts the team, each teammate writes one file a task.

use serde_json::{Value, json};

use super::model_server::{Answer, Ask, ModelServer};
use super::{Bed, Done};

/// What the scripted lead wants done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job {
    pub(crate) tasks: usize,
    pub(crate) teammates: usize,
}

impl Job {
    /// The reply of whoever asks: the lead plans and starts the team, teammates write one file for each task.
    pub(crate) fn answer(self, ask: &Ask) -> Answer {
        if ask.agent == "lead" {
            self.lead(ask)
        } else {
            teammate(ask)
        }
    }

    fn lead(self, ask: &Ask) -> Answer {
        match ask.step() {
            0 => {
                let members: Vec<Value> = (1..=self.teammates)
                    .map(|n| json!({"name": format!("worker{n}"), "role": "writer"}))
                    .collect();
                let proposal =
                    json!({"members": members, "rationale": "the tasks do not touch each other"});
                (1..=self.tasks)
                    .fold(Answer::say("A plan."), |answer, n| {
                        answer.and("create_task", json!({"subject": format!("write file {n}"), "description": format!("out/{n}.txt")}))
                    })
                    .and("propose_team", proposal)
            }
            1 => (1..=self.teammates).fold(Answer::say(""), |answer, n| {
                let prompt = "Take tasks from the board until none is left.";
                answer.and(
                    "spawn_teammate",
                    json!({"name": format!("worker{n}"), "role": "writer", "prompt": prompt}),
                )
            }),
            _ => Answer::say("Noted."),
        }
    }

    /// Everything that must hold at the end, whatever happened on the way.
    #[track_caller]
    pub(crate) fn assert_done(self, bed: &Bed, done: Done, server: &ModelServer) -> Value {
        let result = done.expect_code(0).json();
        assert_eq!(result["status"], "completed", "{result:#}");
        let tasks = bed.tasks();
        assert_eq!(tasks.len(), self.tasks);
        for task in &tasks {
            assert_eq!(task["status"], "completed", "{task:#}");
        }
        for n in 1..=self.tasks {
            assert_eq!(bed.read(&format!("out/{n}.txt")), format!("file {n}\n"));
        }
        let completions = bed
            .read(".tasks/.journal.jsonl")
            .matches("\"new\":\"completed\"")
            .count();
        assert_eq!(completions, self.tasks, "each task is completed once");
        server.assert_valid();
        bed.assert_no_process_left();
        result
    }
}

/// Writes the file that the assignment asks for, completes it, says so.
fn teammate(ask: &Ask) -> Answer {
    let newest = ask.newest();
    if let Some((_, rest)) = newest.rsplit_once(": write file ") {
        let number: usize = rest.lines().next().unwrap().trim().parse().unwrap();
        return Answer::call(
            "write_file",
            json!({"path": format!("out/{number}.txt"), "content": format!("file {number}\n")}),
        );
    }
    let results = ask.results();
    match (results.first(), ask.assigned_task()) {
        (Some((text, false)), Some(id)) if text.contains(".txt") => {
            Answer::call("complete_task", json!({"task_id": id, "result": "written"}))
        }
        _ => Answer::say("Done."),
    }
}

/// Runs the job headless to its end.
pub(crate) fn run(bed: &Bed, model: &str) -> Done {
    let args = [
        "-p",
        "go",
        "--yes",
        "--output-format",
        "json",
        "--model",
        model,
        "--max-teammates",
        "16",
    ];
    bed.lead(&args)
}

pub(crate) fn bed_for(server: &ModelServer) -> Bed {
    Bed::git()
        .with_env("ANTHROPIC_API_KEY", "canary-key-1")
        .with_env("ANTHROPIC_BASE_URL", server.anthropic_base())
        .with_env("OPENAI_API_KEY", "canary-key-2")
        .with_env("OPENAI_BASE_URL", server.openai_base())
}

//! What a person waits for: from a teammate's question to the prompt, and until a healthy team of eight has stopped.
//!
//! `cargo bench --bench protocol`; the bars are 200 ms while the lead is idle, and 2 s with a model that answers at once.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

mod support;

use std::time::Duration;

use serde_json::{Value, json};
use support::facts::now;
use support::{Bed, DEADLINE, Running, Terminal, wait_until};

const QUESTIONS: usize = 30;
const TEAMS: usize = 5;
const TEAM: usize = 8;

fn main() {
    report("question to prompt, lead idle", questions(), "200 ms");
    let asked = (0..TEAMS).map(|_| stopped(Stop::Each)).collect();
    report("eight asked to stop, each with its wrap-up", asked, "2 s");
    let left = (0..TEAMS).map(|_| stopped(Stop::Leaving)).collect();
    report("eight stopped by a lead that leaves", left, "2 s");
}

fn report(what: &str, mut took: Vec<Duration>, bar: &str) {
    took.sort();
    println!(
        "{what}: median {:?}, worst {:?} of {}; bar {bar}",
        took[took.len() / 2],
        took[took.len() - 1],
        took.len()
    );
}

fn tool(name: &str, input: &Value) -> Value {
    json!({"name": name, "input": input})
}

fn names(count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("w{number}")).collect()
}

/// A lead that starts a team of that size.
fn lead_of(count: usize) -> Vec<Value> {
    let members: Vec<Value> = names(count)
        .iter()
        .map(|name| json!({"name": name, "role": "coder"}))
        .collect();
    let proposal = json!({"members": members, "rationale": "many hands"});
    let starts: Vec<Value> = names(count)
        .iter()
        .map(|name| {
            let start = json!({"name": name, "role": "coder", "prompt": "Be there."});
            tool("spawn_teammate", &start)
        })
        .collect();
    vec![
        json!({"tools": [tool("propose_team", &proposal)]}),
        json!({ "tools": starts }),
        json!({"text": "They are there."}),
    ]
}

fn requests(bed: &Bed, kind: &str, status: &str) -> usize {
    let Ok(dir) = std::fs::read_dir(bed.root().join(".team/state/requests")) else {
        return 0;
    };
    dir.flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            bed.json(&format!(".team/state/requests/{name}"))
        })
        .filter(|record| record["type"] == kind && record["status"] == status)
        .count()
}

/// One teammate asks again and again; half a line is typed all the while.
fn questions() -> Vec<Duration> {
    let bed = Bed::git();
    let asks: Vec<Value> = (0..QUESTIONS)
        .map(|number| {
            tool(
                "bash",
                &json!({"command": format!("rm -f question-{number}.txt")}),
            )
        })
        .collect();
    let task = tool("create_task", &json!({"subject": "Ask", "assignee": "w1"}));
    let mut lead = lead_of(1);
    lead.insert(0, json!({ "tools": [task] }));
    let script = json!({"agents": {"lead": lead, "*": [
        {"when": "[Assignment]", "tools": asks},
        {"when": "Be there", "text": "I am."},
    ]}});
    let model = bed.script(&script);
    let mut terminal = Terminal::start(bed.lead_command(&["--model", &model, "--yes"]));
    terminal.wait_for("lead> ", DEADLINE);
    terminal.line("go");
    let mut took = Vec::new();
    for number in 0..QUESTIONS {
        wait_until("the question is made", DEADLINE, || {
            (requests(&bed, "permission", "pending") == 1).then_some(())
        });
        let made = now();
        terminal.wait_for(&format!("question-{number}.txt"), DEADLINE);
        took.push(made.elapsed());
        terminal.wait_for("llow once", DEADLINE);
        terminal.line("a");
    }
    // The first may have come while the lead was still starting the team.
    took.remove(0);
    took
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    Each,
    Leaving,
}

/// From the person's word to the last farewell of a team that is idle.
fn stopped(how: Stop) -> Duration {
    let bed = Bed::git();
    let script = json!({"agents": {"lead": lead_of(TEAM), "*": [{"text": "I am."}]}});
    let model = bed.script(&script);
    let mut lead = bed.start_lead(&["--model", &model, "--yes"]);
    lead.line("go");
    wait_until("all are idle", DEADLINE, || {
        let idle = names(TEAM).iter().all(|name| {
            bed.json(&format!(".team/state/members/{name}.json"))
                .is_some_and(|member| member["status"] == "idle")
        });
        let rests = bed.json(".team/state/session.json")?["status"] == "idle";
        (idle && rests).then_some(())
    });
    let begun = now();
    tell(&mut lead, how);
    wait_until("the last farewell", DEADLINE, || {
        (requests(&bed, "shutdown", "completed") == TEAM).then_some(())
    });
    let took = begun.elapsed();
    if how == Stop::Each {
        lead.line("/exit");
    }
    drop(lead.wait(DEADLINE).expect_code(0));
    took
}

fn tell(lead: &mut Running, how: Stop) {
    match how {
        Stop::Each => names(TEAM)
            .iter()
            .for_each(|name| lead.line(&format!("/team stop {name}"))),
        Stop::Leaving => lead.line("/exit"),
    }
}

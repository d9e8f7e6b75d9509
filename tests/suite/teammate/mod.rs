//! The area `teammate` as real processes see it: the test plays the lead.

mod authority;
mod bounds;
mod ending;
mod held;
mod leads;
mod played;
mod room;
mod waits;
mod wakes;
mod words;
mod working;

use serde_json::{Value, json};

fn tool(name: &str, input: &Value) -> Value {
    json!({"name": name, "input": input})
}

fn turn(tools: &[Value]) -> Value {
    json!({ "tools": tools })
}

fn bash(command: &str) -> Value {
    turn(&[tool("bash", &json!({ "command": command }))])
}

/// Completes the present assignment.
fn complete() -> Value {
    turn(&[tool(
        "complete_task",
        &json!({"task_id": "${task}", "result": "made"}),
    )])
}

fn says(text: &str) -> Value {
    json!({ "text": text })
}

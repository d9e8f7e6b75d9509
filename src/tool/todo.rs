//! `todo_write`: the agent's own list, replaced whole.

use schemars::JsonSchema;
use serde::Deserialize;

use super::call::{Call, Class, Said, Tool};
use super::desk::Todo;

/// Most lines of a list.
const MAX_ITEMS: usize = 200;

pub(crate) struct TodoWrite;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TodoWriteInput {
    /// The whole list, in order; it replaces the one before.
    items: Vec<TodoItem>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoItem {
    /// What is to be done.
    text: String,
    /// Where it stands.
    status: TodoStatus,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TodoStatus {
    Pending,
    InProgress,
    Completed,
}

impl TodoStatus {
    fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
        }
    }
}

impl Tool for TodoWrite {
    type Input = TodoWriteInput;
    const NAME: &'static str = "todo_write";
    const DESCRIPTION: &'static str =
        "Keeps your own list of steps; it is not the board, and nobody else works from it.";
    const CLASS: Class = Class::Always;

    fn run(call: &Call<'_>, input: TodoWriteInput) -> Result<Said, String> {
        if input.items.len() > MAX_ITEMS {
            return Err(format!(
                "`items` has {} lines; at most {MAX_ITEMS} are kept",
                input.items.len()
            ));
        }
        if let Some(index) = input
            .items
            .iter()
            .position(|item| item.text.trim().is_empty())
        {
            return Err(format!("`items[{index}].text` is empty"));
        }
        let todos: Vec<Todo> = input
            .items
            .into_iter()
            .map(|item| Todo {
                text: item.text,
                status: item.status.word().to_owned(),
            })
            .collect();
        let text = told(&todos);
        call.context.desk.state().todos = todos;
        Ok(text.into())
    }
}

fn told(todos: &[Todo]) -> String {
    if todos.is_empty() {
        return "the list is empty".to_owned();
    }
    let lines: Vec<String> = todos
        .iter()
        .map(|todo| {
            let mark = match todo.status.as_str() {
                "completed" => 'x',
                "in_progress" => '>',
                _ => ' ',
            };
            format!("[{mark}] {}", todo.text)
        })
        .collect();
    lines.join("\n")
}

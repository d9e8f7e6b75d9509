//! Calls that were denied: the same one in the same task is not asked about again (SPEC §8.4). Pure.

use serde_json::Value;

use crate::ids::TaskId;
use crate::tool::PermissionAsk;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Denied {
    calls: Vec<(Option<TaskId>, String, Value, String)>,
}

impl Denied {
    /// Remembers a denial with what the model was told.
    pub(super) fn remember(&mut self, task: Option<TaskId>, ask: &PermissionAsk, told: String) {
        self.calls
            .push((task, ask.tool.clone(), ask.input.clone(), told));
    }

    /// What the model was told when the same call was denied in the same task.
    pub(super) fn recall(&self, task: Option<&TaskId>, ask: &PermissionAsk) -> Option<&str> {
        self.calls
            .iter()
            .find(|(of, tool, input, _)| {
                of.as_ref() == task && *tool == ask.tool && *input == ask.input
            })
            .map(|(_, _, _, told)| told.as_str())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_same_call_in_the_same_task_is_remembered() {
        let ask = |command: &str| PermissionAsk {
            tool: "bash".into(),
            input: json!({ "command": command }),
            diff: None,
            because: String::new(),
            always: None,
            dir: String::new(),
        };
        let task = |text: &str| TaskId::parse(text).unwrap();
        let mut denied = Denied::default();
        denied.remember(Some(task("task_00000001")), &ask("rm x"), "no".into());
        let recall = |of: Option<&TaskId>, command: &str| denied.recall(of, &ask(command));
        assert_eq!(recall(Some(&task("task_00000001")), "rm x"), Some("no"));
        assert_eq!(recall(Some(&task("task_00000001")), "rm y"), None);
        assert_eq!(recall(Some(&task("task_00000002")), "rm x"), None);
        assert_eq!(recall(None, "rm x"), None);
    }
}

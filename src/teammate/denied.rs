//! Calls that were denied: the same one in the same task is not asked about again (SPEC §8.4). Pure.

use serde_json::Value;

use crate::ids::TaskId;
use crate::tool::PermissionAsk;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Denied {
    calls: Vec<(Option<TaskId>, String, Value, String)>,
    /// Rules that were denied "always".
    rules: Vec<String>,
}

impl Denied {
    /// With the rules that the person has denied before.
    pub(super) fn new(rules: Vec<String>) -> Self {
        Self {
            rules,
            ..Self::default()
        }
    }

    /// Remembers that whatever `rule` would allow is denied.
    pub(super) fn remember_rule(&mut self, rule: &str) {
        self.rules.push(rule.to_owned());
    }

    /// Remembers a denial with what the model was told.
    pub(super) fn remember(&mut self, task: Option<TaskId>, ask: &PermissionAsk, told: String) {
        self.calls
            .push((task, ask.tool.clone(), ask.input.clone(), told));
    }

    /// What the model is told of a call that was denied in the same task, or by a rule that was denied for always.
    pub(super) fn recall(&self, task: Option<&TaskId>, ask: &PermissionAsk) -> Option<String> {
        let rule = ask.always.as_ref().filter(|rule| self.rules.contains(rule));
        if let Some(rule) = rule {
            return Some(format!(
                "the person denied {rule} for always; do not try it again"
            ));
        }
        self.calls
            .iter()
            .find(|(of, tool, input, _)| {
                of.as_ref() == task && *tool == ask.tool && *input == ask.input
            })
            .map(|(_, _, _, told)| told.clone())
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
        assert_eq!(
            recall(Some(&task("task_00000001")), "rm x").as_deref(),
            Some("no")
        );
        assert_eq!(recall(Some(&task("task_00000001")), "rm y"), None);
        assert_eq!(recall(Some(&task("task_00000002")), "rm x"), None);
        assert_eq!(recall(None, "rm x"), None);
    }

    #[test]
    fn what_was_denied_for_always_is_denied_by_its_rule_in_every_task() {
        let ask = |rule: Option<&str>| PermissionAsk {
            tool: "bash".into(),
            input: json!({ "command": "rm y" }),
            diff: None,
            because: String::new(),
            always: rule.map(Into::into),
            dir: String::new(),
        };
        let mut denied = Denied::new(vec!["bash(mv *)".into()]);
        denied.remember_rule("bash(rm *)");
        for (rule, is_denied) in [
            (Some("bash(rm *)"), true),
            (Some("bash(mv *)"), true),
            (Some("bash(cp *)"), false),
            (None, false),
        ] {
            assert_eq!(
                denied.recall(None, &ask(rule)).is_some(),
                is_denied,
                "{rule:?}"
            );
        }
    }
}

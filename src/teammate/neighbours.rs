//! Whose paths these are: members are told of a granted edit inside of what they alone were meant to edit (SPEC §8.4).

use std::path::Path;

use super::letters;
use super::mate::Mate;
use crate::ids::AgentName;
use crate::policy::{Policy, Scope};
use crate::tool::PermissionAsk;

impl Mate {
    /// Tells each member whose paths hold what this one was allowed to edit. That one cannot be told is no failure.
    pub(super) fn tell_neighbours(&self, ask: &PermissionAsk) {
        if !matches!(ask.tool.as_str(), "write_file" | "edit_file") {
            return;
        }
        let Some(path) = ask.input.get("path").and_then(serde_json::Value::as_str) else {
            return;
        };
        let scope = Scope {
            dir: ask.dir.clone().into(),
            tmp: self.workspace.agent_tmp(&self.me),
            root: self.workspace.root().to_path_buf(),
            home: self.context.home.clone(),
        };
        let whole = Policy::normal(&scope.dir, Path::new(path));
        for (name, member) in &self.settings.members {
            let Ok(name) = AgentName::parse_teammate(name) else {
                continue;
            };
            if name == self.me || !Policy::are_allowed(&member.allowed_paths, &whole, &scope) {
                continue;
            }
            let mut letter = letters::trespass(&self.me, &name, path);
            let sent = self
                .context
                .post
                .send(&mut letter, self.context.directory.as_ref());
            if let Err(error) = sent {
                tracing::info!(%error, "a member was not told of an edit of its paths");
            }
        }
    }
}

//! `merge_worktree`: the lead's model brings a worktree's branch into the workspace's, where the settings let it.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Deserialize;

use super::call::{Call, Class, Said, Tool};
use super::tasks::staged;
use crate::ids::WorktreeName;
use crate::worktree;

pub(crate) struct MergeWorktree;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MergeWorktreeInput {
    /// The worktree; its branch is wt/<name>.
    name: String,
}

impl Tool for MergeWorktree {
    type Input = MergeWorktreeInput;
    const NAME: &'static str = "merge_worktree";
    const DESCRIPTION: &'static str = "Merges a worktree's branch into the workspace's branch. It is tried first: if it conflicts, or changes files \
        that have uncommitted changes in the workspace, nothing is changed and the files are named.";
    const CLASS: Class = Class::NewWork;
    const CHANGES: bool = true;

    fn run(call: &Call<'_>, input: MergeWorktreeInput) -> Result<Said, String> {
        let name =
            WorktreeName::parse(input.name.trim()).map_err(|error| format!("`name`: {error}"))?;
        let merged =
            worktree::merge(&call.context.workspace, &name).map_err(|error| error.to_string())?;
        let mut text = merged.told(&name);
        // Tasks that work in the workspace may have waited for it.
        let woken = staged::lock_and(call.context, |board| {
            board.wake();
            Ok(())
        });
        if let Err(why) = woken {
            let _ = write!(text, "\nwho waited for it was not woken: {why}");
        }
        Ok(text.into())
    }
}

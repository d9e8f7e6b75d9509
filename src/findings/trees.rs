//! Worktrees that an open task cannot be done in, and those that a process left when it was killed between making one and
//! binding a task to it.

use std::collections::{HashMap, HashSet};

use super::survey::{Finding, Remedy, finding};
use super::{Books, Ground};
use crate::ids::WorktreeName;
use crate::worktree::{self, Unusable};

const CHECK: &str = "worktrees";

/// All of them. Reads git's files and runs no git where these say enough.
pub fn worktrees(books: Books<'_>, ground: &Ground) -> Vec<Finding> {
    let mut found = unusable(books, ground);
    found.extend(unbound(books, ground));
    found
}

fn unusable(books: Books<'_>, ground: &Ground) -> Vec<Finding> {
    let mut known: HashMap<&str, Result<(), Unusable>> = HashMap::new();
    let mut found = Vec::new();
    for task in ground.open_tasks() {
        let Some(name) = &task.worktree else { continue };
        let usable = known
            .entry(name.as_str())
            .or_insert_with(|| worktree::usable(books.workspace, name));
        if let Err(why) = usable {
            let detail = format!("{}: {why}", task.id);
            let remedy = format!("put it right as it says, or lead task cancel {}", task.id);
            found.push(finding(CHECK, detail, Remedy::Person(remedy)));
        }
    }
    found
}

fn unbound(books: Books<'_>, ground: &Ground) -> Vec<Finding> {
    let names = match worktree::names(books.workspace) {
        Ok(names) => names,
        Err(error) => {
            let detail = format!("they cannot be read ({error})");
            let remedy = Remedy::Person("make .worktrees and .git readable".to_owned());
            return vec![finding(CHECK, detail, remedy)];
        }
    };
    let bound: HashSet<&WorktreeName> = ground
        .tasks()
        .filter_map(|task| task.worktree.as_ref())
        .collect();
    names
        .iter()
        .filter(|name| !bound.contains(name))
        .map(|name| {
            let problem = worktree::usable(books.workspace, name).err();
            let problem = problem.map_or_else(String::new, |why| format!(", and {why}"));
            let detail = format!(
                "worktree {name}: no task is bound to it{problem}; `lead worktree remove {name}` takes it away, its branch \
                 {} stays",
                name.branch()
            );
            finding(CHECK, detail, Remedy::None)
        })
        .collect()
}

//! The system text of one agent (SPEC §9.1). It is built once when the agent starts and holds for the conversation: what
//! changes on the way (assignments, decisions, mail) is told in user messages, so that the whole text can be cached.

use std::fmt::Write as _;
use std::path::Path;

use crate::ids::AgentName;
use crate::store::read::read_plain;
use crate::workspace::Workspace;

/// Most bytes of project instructions that are shown.
pub const MAX_INSTRUCTIONS: usize = 32 * 1024;
/// Most bytes of a file that is looked at at all.
const MAX_FILE: u64 = 1024 * 1024;

/// What the system text is made from.
#[derive(Debug, Clone)]
pub struct SystemParts<'a> {
    /// Whose it is.
    pub agent: &'a AgentName,
    /// Its role: free text, or the name of a role definition.
    pub role: &'a str,
    /// Who else is in the team now, as `name (role)`.
    pub roster: &'a [String],
    /// Where the team works.
    pub workspace: &'a Workspace,
    /// Whether its plans must be approved before it changes anything.
    pub plan_gate: bool,
}

/// The system text: what is the same for every agent of a kind first, then what is this agent's own.
pub fn system(parts: &SystemParts<'_>) -> Vec<String> {
    let lead = parts.agent.is_lead();
    let fixed = if lead { LEAD } else { TEAMMATE };
    let mut own = String::new();
    if lead {
        own.push_str("# You\nYou are the lead.\n");
    } else {
        let _ = writeln!(
            own,
            "# You\nYou are the teammate {:?}.",
            parts.agent.as_str()
        );
        push_role(&mut own, parts.workspace, parts.role);
    }
    let _ = writeln!(own, "\n# Team\n{}", roster(parts.roster));
    let _ = writeln!(
        own,
        "\n# Workspace\nThe team works in {}.",
        parts.workspace.root().display()
    );
    if parts.plan_gate {
        own.push_str(PLAN_GATE);
    }
    if let Some(text) = project_instructions(parts.workspace.root()) {
        let _ = write!(own, "\n# Project instructions\n{text}\n");
    }
    vec![fixed.to_owned(), own]
}

fn roster(others: &[String]) -> String {
    if others.is_empty() {
        "Nobody else is there yet.".to_owned()
    } else {
        format!("With you now: {}. Others may join.", others.join(", "))
    }
}

fn push_role(own: &mut String, workspace: &Workspace, role: &str) {
    match role_text(workspace, role) {
        Some(text) => {
            let _ = writeln!(own, "\n# Role: {role}\n{text}");
        }
        None if !role.trim().is_empty() => {
            let _ = writeln!(own, "Your role: {}", role.trim());
        }
        None => {}
    }
}

/// The prompt of a role definition, without its front matter. Only a role that could be an agent's name can name a file.
pub fn role_text(workspace: &Workspace, role: &str) -> Option<String> {
    let file = format!("{}.md", AgentName::parse(role).ok()?);
    let claude = workspace.root().join(".claude").join("agents");
    let text = [workspace.roles_dir(), claude]
        .iter()
        .find_map(|dir| read_text(&dir.join(&file)))?;
    let body = without_front_matter(&text).trim();
    (!body.is_empty()).then(|| cut(body).into_owned())
}

fn without_front_matter(text: &str) -> &str {
    let Some(rest) = text
        .strip_prefix("---\n")
        .or_else(|| text.strip_prefix("---\r\n"))
    else {
        return text;
    };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        at += line.len();
        if line.trim_end() == "---" {
            return &rest[at..];
        }
    }
    text
}

/// `AGENTS.md`, else `CLAUDE.md`, of the workspace.
pub fn project_instructions(root: &Path) -> Option<String> {
    let text = ["AGENTS.md", "CLAUDE.md"]
        .iter()
        .find_map(|name| read_text(&root.join(name)))?;
    Some(cut(text.trim()).into_owned())
}

fn read_text(path: &Path) -> Option<String> {
    let bytes = read_plain(path, MAX_FILE).ok()??;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    (!text.trim().is_empty()).then_some(text)
}

fn cut(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= MAX_INSTRUCTIONS {
        return text.into();
    }
    let end = text.floor_char_boundary(MAX_INSTRUCTIONS);
    let left_out = text.len() - end;
    format!("{}\n[{left_out} bytes left out]", &text[..end]).into()
}

const LEAD: &str = "\
You lead a team of coding agents for one person. You talk with the person, break the goal into tasks, propose a team, and, \
once the person has agreed, start teammates. Each teammate is a process with a conversation of its own; it knows nothing of \
yours but what you write into its prompt, its tasks and your messages.

How this team works:
- create_task puts work on the board. Describe each task so that somebody who was not here can do it; name what must be \
completed before in blockedBy. Tasks made in one turn appear together.
- propose_team asks the person; nobody can be started before the person agreed. Then spawn_teammate starts one, with a first \
task if you name it. Idle teammates take tasks that are ready by themselves, one at a time.
- Tasks that are worked on at the same time and may touch the same files need a worktree each (worktree in create_task): a \
checkout on a branch of its own, which the person merges after its task, or you if you have merge_worktree.
- What teammates report, and what happens on the board, reaches you in messages that begin with [Team events]. Never poll and \
never wait in a tool: end your turn, and you are called when something has happened.
- send_message reaches one teammate by name, or all. Teammates see nothing that you only say.
- Delegate the work of a running team instead of doing it yourself.
- Your commands can write the workspace and /tmp, and what they leave running ends with the call. Git commands that write ask \
the person.
- Permissions are the person's: you can neither grant nor promise them.
- When the goal is reached, ask teammates that are no longer needed to stop, and tell the person the outcome.

For a small thing that needs no team, just do it with your own tools.
";

const TEAMMATE: &str = "\
You are a coding agent in a team. The lead gives the work; the other teammates have processes and conversations of their own.

How this team works:
- You have at most one task at a time, your assignment. It names a working directory; all your file tools and commands work \
there, and without an assignment they do nothing.
- Your commands can write your working directory and /tmp, nothing else, and what they leave running ends with the call.
- In a worktree, commit your work before you call complete_task: only commits are merged. Elsewhere git cannot write; your \
changes stay in the files.
- A file that another agent is changing is kept from you until that agent is done; then you are told. One that changed since \
you read it must be read again before you edit it.
- When the work of your assignment is done and checked, call complete_task with its id and a result that says what others need \
to know. Then end your turn with a short summary: your last text goes to the lead.
- Do not look for more work: the next task, and messages, come to you. Messages begin with [Messages]; they may arrive while \
you work.
- send_message reaches the lead or another teammate by name. Ask the lead (type question) when you cannot go on without an \
answer, then end your turn.
- A tool call may need the person's permission; it then waits. If it is denied, find another way or say what you need.
- Do only what your assignment asks. If it turns out to be wrong or impossible, tell the lead.
";

const PLAN_GATE: &str = "
# Plan first
Before you change anything, look around, then call submit_plan and wait for its decision. Commands, edits and complete_task \
are blocked until your plan is approved; each assignment needs a plan of its own.
";

#[cfg(test)]
mod tests {
    use super::*;

    /// What models are told word for word; a change of it is a change of the files beside this one.
    #[test]
    fn prompts_are_as_they_were_agreed() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap();
        let put = |name: &str, text: &str| {
            crate::store::atomic::ensure_dir(root.join(name).parent().unwrap()).unwrap();
            let durability = crate::store::Durability::Process;
            crate::store::atomic::replace(&root.join(name), text.as_bytes(), durability).unwrap();
        };
        put(
            ".claude/agents/coder.md",
            "---\nname: coder\nmodel: x\n---\nWrite small functions.\n",
        );
        put("CLAUDE.md", "Never read: AGENTS.md is there.\n");
        put(
            "AGENTS.md",
            "Run the tests before you say that something is done.\n",
        );
        let workspace = Workspace::at(root.clone());
        let prompt = |name: &str, role: &str, plan_gate: bool| {
            let agent = AgentName::parse(name).unwrap();
            let roster = ["lead".to_owned(), "bob (reviewer)".to_owned()];
            let parts = system(&SystemParts {
                agent: &agent,
                role,
                roster: if agent.is_lead() { &[] } else { &roster },
                workspace: &workspace,
                plan_gate,
            });
            let at = root.display().to_string();
            parts.join("\n").replace(&at, "/work")
        };
        assert_eq!(prompt("lead", "", false), include_str!("golden/lead.txt"));
        assert_eq!(
            prompt("alice", "coder", true),
            include_str!("golden/teammate.txt")
        );
        assert!(prompt("alice", "a free text", false).contains("Your role: a free text"));
    }

    #[test]
    fn front_matter_is_left_out_and_nothing_else() {
        for (text, body) in [
            ("---\nname: a\n---\nBe kind.", "Be kind."),
            ("---\r\nname: a\r\n---\r\nBe kind.", "Be kind."),
            ("Be kind.\n---\nmore", "Be kind.\n---\nmore"),
            ("---\nnever closed", "---\nnever closed"),
        ] {
            assert_eq!(without_front_matter(text), body);
        }
    }

    #[test]
    fn long_instructions_are_cut_between_characters() {
        let text = "é".repeat(MAX_INSTRUCTIONS);
        let shown = cut(&text);
        assert!(shown.ends_with("bytes left out]"));
        assert!(shown.len() < MAX_INSTRUCTIONS + 64);
        assert_eq!(cut("short"), "short");
    }
}

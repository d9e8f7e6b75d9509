//! What the demo ends with: the board, the team, the diff, the suite, how it ended, and what to do next.

use std::path::Path;

use super::ending::Ending;
use super::project::{Project, output, succeeded};
use super::say;
use crate::agent::joined::open_board;
use crate::cli::exit::Failure;
use crate::cli::place::Place;
use crate::cli::safe::safe;
use crate::cli::shell;
use crate::cli::verbs::{task, team};
use crate::lead::SessionResult;
use crate::store::Durability;
use crate::workspace::Workspace;

/// The person's part after the session: take over what the team made.
const MERGE: [&str; 2] = [
    "git add -A && git commit -q -m 'sum, mean and max repaired by the team'",
    "git merge -q --no-edit wt/docs",
];

/// Prints it all; merges the worktree's branch if there is one.
pub(super) fn print(
    place: &Place,
    project: &Project,
    ended: &SessionResult,
    ending: &Ending,
) -> Result<(), Failure> {
    let style = place.style;
    let heading = |text: &str| shell::out_line(&format!("\n{}", style.bold(text)));
    let workspace = Workspace::at(project.root().to_path_buf());
    let board = open_board(&workspace, Durability::default(), None)?;
    heading("Tasks");
    print_lines(&task::view_lines(&board.views()?));
    let members = ended.teammates.iter();
    let members: Vec<team::Living> = members
        .map(|member| team::Living {
            member: member.clone(),
            alive: false,
            lost: None,
            stalled: None,
        })
        .collect();
    if !members.is_empty() {
        heading("Teammates");
        print_lines(&team::lines(&members));
    }
    if !members.is_empty() && succeeded(&project.sh("git rev-parse -q --verify wt/docs")?) {
        heading("What you would do now: take over what the team made");
        for command in MERGE {
            step(place, project, command)?;
        }
    }
    if ending.had_team() {
        heading("The team's diff");
        step(
            place,
            project,
            "git diff --stat before && git diff before -- lib README.md",
        )?;
        heading("The suite");
        step(place, project, "./test.sh")?;
    }
    if let Some(words) = ending.words() {
        shell::out_line("");
        say(&style.bold(&words));
    }
    what_next(place, project.root());
    Ok(())
}

fn what_next(place: &Place, root: &Path) {
    let lead = called_as();
    let root = root.display();
    shell::out_line("");
    say(&format!(
        "All of it is in {}: look at .tasks, .mailboxes and .team there, or ask with",
        place.style.bold(&root.to_string())
    ));
    shell::out_line(&format!("  {lead} status --root {root}"));
    shell::out_line(&format!("  {lead} log --root {root}"));
    say(&format!(
        "For work of your own start `{lead}` in a project; `{lead} doctor` there says which model it finds."
    ));
}

/// The name by which a person can start this program again: as it was started, if that was by a path.
fn called_as() -> String {
    let name = std::env::args_os().next().unwrap_or_default();
    let by_path = name.as_encoded_bytes().contains(&b'/');
    if by_path {
        name.display().to_string()
    } else {
        "lead".to_owned()
    }
}

fn step(place: &Place, project: &Project, command: &str) -> Result<(), Failure> {
    let style = place.style;
    shell::out_line(&style.dim(&format!("$ {command}")));
    let done = project.sh(command)?;
    let text = safe(&output(&done));
    if !text.trim().is_empty() {
        shell::out_line(text.trim_end());
    }
    if !succeeded(&done) {
        shell::out_line(&style.bad("(that failed)"));
    }
    Ok(())
}

fn print_lines(lines: &[String]) {
    for line in lines {
        shell::out_line(line);
    }
}

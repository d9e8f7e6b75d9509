//! What the demo ends with: the board, the team, the diff, the suite.

use super::project::{Project, output, succeeded};
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
    heading("The team's diff");
    step(
        place,
        project,
        "git diff --stat before && git diff before -- lib README.md",
    )?;
    heading("The suite");
    step(place, project, "./test.sh")?;
    shell::out_line(&format!(
        "\nAll of it is in {}: look at .tasks, .mailboxes and .team there, or ask with",
        style.bold(&project.root().display().to_string())
    ));
    shell::out_line(&format!(
        "  lead status --root {}",
        project.root().display()
    ));
    Ok(())
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

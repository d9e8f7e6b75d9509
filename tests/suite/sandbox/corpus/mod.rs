//! Commands that destroy what lies outside of their directory: each really does when it is run plainly.
//!
//! The tables hold one a line, in which `␤` is a newline, `OUT` the path from the command's directory to the victim's, and
//! `ABS` the same from the root. `[program]` before a command says what it needs besides bash and what every system has.

mod field;

use std::path::Path;
use std::time::Duration;

use field::Field;

use super::cell::Cell;
use super::user::again_as_user;
use crate::support::{Bed, Running, soak};

const TABLES: [&str; 7] = [
    include_str!("shell.txt"),
    include_str!("programs.txt"),
    include_str!("wrappers.txt"),
    include_str!("interpreters.txt"),
    include_str!("archives.txt"),
    include_str!("links.txt"),
    include_str!("git.txt"),
];

/// So many must be possible here for a test to say anything.
const FEWEST: usize = 150;

/// Runs every command that lies beneath `in`, some at once.
const DRIVE: &str = "PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH; cd in && ls | xargs -P 4 -I DIR sh -c \
    'cd DIR && timeout 20 bash ./command </dev/null >output 2>&1; true'";

/// A line of a table.
#[derive(Debug, Clone, Copy)]
struct Entry {
    needs: Option<&'static str>,
    text: &'static str,
}

impl Entry {
    fn parse(line: &'static str) -> Self {
        let needs = line
            .strip_prefix('[')
            .and_then(|rest| rest.split_once("] "));
        match needs {
            Some((needs, text)) => Self {
                needs: Some(needs),
                text,
            },
            None => Self {
                needs: None,
                text: line,
            },
        }
    }

    fn is_possible(&self) -> bool {
        self.needs.is_none_or(|program| {
            ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
                .iter()
                .any(|dir| Path::new(dir).join(program).exists())
        })
    }
}

/// All that can be run here.
fn entries() -> Vec<Entry> {
    let all = TABLES
        .iter()
        .flat_map(|table| table.lines())
        .map(Entry::parse);
    let (possible, missing): (Vec<_>, Vec<_>) = all.partition(Entry::is_possible);
    if !missing.is_empty() {
        eprintln!(
            "{} commands left out, their programs are not here",
            missing.len()
        );
    }
    assert!(possible.len() >= FEWEST, "only {} commands", possible.len());
    possible
}

#[test]
fn every_command_destroys_its_victim_when_it_is_run_plainly() {
    let bed = Bed::new();
    let field = Field::lay(&bed.root(), &bed.outside("out"), &entries());
    let mut plainly = bed.command("bash");
    plainly.args(["-c", DRIVE]);
    drop(
        Running::start(&mut plainly)
            .wait(Duration::from_mins(2))
            .expect_code(0),
    );
    field.assert_all_destroyed();
}

/// Half of the commands, all of them in a long run: the other half is tried elsewhere or by somebody else.
fn survive_beneath(dir: &str, half: usize) {
    let step = soak(1, 2);
    let entries: Vec<Entry> = entries()
        .into_iter()
        .skip(half % step)
        .step_by(step)
        .collect();
    let cell = Cell::beneath(dir);
    let field = Field::lay(&cell.at("work"), &cell.at("outside"), &entries);
    cell.ok(DRIVE);
    field.assert_all_survive();
}

#[test]
fn every_victim_survives_the_sandbox() {
    survive_beneath("/tmp", 0);
    survive_beneath("/var/tmp", 1);
}

/// What was tried beneath `/tmp` by root is tried elsewhere by a user.
#[test]
fn every_victim_survives_a_user() {
    again_as_user("sandbox::corpus::the_other_halves");
}

#[test]
#[ignore = "part of another test"]
fn the_other_halves() {
    survive_beneath("/tmp", 1);
    survive_beneath("/var/tmp", 0);
}

//! The one that disturbs: kills, stops and continues, fills the disk, writes letters, and starts the lead again.

use std::path::PathBuf;
use std::time::Duration;

use nix::sys::signal::Signal;
use pitcrew::ids::AgentName;
use pitcrew::mailbox::{Kind, Message, Post};
use pitcrew::store::Durability;
use pitcrew::team::Roster;
use pitcrew::tool::TeamDirectory;
use pitcrew::workspace::Workspace;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use super::job::{TASKS, TEAM, tasks};
use crate::support::facts::{pause, processes_in, send};
use crate::support::{Bed, Running};

/// How long the team may take to end by itself when nobody disturbs it any more.
const END: Duration = Duration::from_mins(2);
/// How often a lead may end without having finished, when nobody disturbs it any more.
const TRIES: usize = 5;

pub(super) struct Driver<'a> {
    bed: &'a Bed,
    random: StdRng,
    lead: Running,
    /// Whether the file system may be filled.
    small: bool,
    faults: usize,
    /// Letters that were sent: to whom, and their ids.
    probes: Vec<(AgentName, String)>,
}

#[derive(Debug, Clone, Copy)]
enum Fault {
    KillLead,
    KillTeammate,
    KillTool,
    KillAll,
    StopLead,
    StopTeammate,
    StopTool,
    FillDisk,
}

const FAULTS: [Fault; 14] = [
    Fault::KillLead,
    Fault::KillLead,
    Fault::KillTeammate,
    Fault::KillTeammate,
    Fault::KillTeammate,
    Fault::KillTool,
    Fault::KillTool,
    Fault::KillTool,
    Fault::KillAll,
    Fault::StopLead,
    Fault::StopTeammate,
    Fault::StopTool,
    Fault::FillDisk,
    Fault::FillDisk,
];

impl<'a> Driver<'a> {
    pub(super) fn start(bed: &'a Bed, seed: u64, small: bool) -> Self {
        Self {
            bed,
            random: StdRng::seed_from_u64(seed),
            lead: start_lead(bed),
            small,
            faults: 0,
            probes: Vec::new(),
        }
    }

    /// One more fault after a moment; a lead that has ended is started again.
    pub(super) fn disturb(&mut self) {
        self.wait(20..250);
        self.keep_a_lead();
        self.write_a_letter();
        let fault = FAULTS.choose(&mut self.random).copied().unwrap();
        eprintln!("fault {}: {fault:?}", self.faults + 1);
        self.inject(fault);
        self.faults += 1;
        self.bed.write("faults.new", &format!("{}\n", self.faults));
        rename(self.bed, "faults.new", "faults");
    }

    /// Waits for the end of the job; gives the letters that were sent.
    pub(super) fn finish(mut self) -> Vec<(AgentName, String)> {
        for _ in 0..TRIES {
            let done = std::mem::replace(&mut self.lead, idle(self.bed)).wait(END);
            eprintln!("the lead ended: {:?}", done.code);
            if done.code == Some(0) {
                return self.probes;
            }
            eprintln!("{}\n{}", done.stdout, done.stderr);
            self.lead = start_lead(self.bed);
        }
        panic!("no lead finished the job: {:?}", tasks(&self.bed.root()));
    }

    fn inject(&mut self, fault: Fault) {
        match fault {
            Fault::KillLead => {
                self.lead.signal(Signal::SIGKILL);
                self.wait(0..300);
            }
            Fault::KillTool => self.hit(is_tool, Signal::SIGKILL),
            Fault::KillAll => {
                self.lead.signal(Signal::SIGKILL);
                for (pid, _) in processes_in(&self.bed.root()) {
                    send(pid, Signal::SIGKILL);
                }
            }
            Fault::StopLead => {
                let pid = self.lead.pid();
                self.stop(pid);
            }
            Fault::StopTeammate => self.stop_one(is_teammate),
            Fault::StopTool => self.stop_one(is_tool),
            Fault::FillDisk if self.small => self.fill_disk(),
            Fault::KillTeammate | Fault::FillDisk => self.hit(is_teammate, Signal::SIGKILL),
        }
    }

    fn hit(&mut self, which: fn(&str) -> bool, signal: Signal) {
        if let Some(pid) = self.one(which) {
            send(pid, signal);
        }
    }

    fn stop_one(&mut self, which: fn(&str) -> bool) {
        if let Some(pid) = self.one(which) {
            self.stop(pid);
        }
    }

    fn stop(&mut self, pid: u32) {
        send(pid, Signal::SIGSTOP);
        self.wait(50..500);
        send(pid, Signal::SIGCONT);
    }

    fn one(&mut self, which: fn(&str) -> bool) -> Option<u32> {
        let lead = self.lead.pid();
        let there: Vec<u32> = processes_in(&self.bed.root())
            .into_iter()
            .filter(|(pid, command)| *pid != lead && which(command))
            .map(|(pid, _)| pid)
            .collect();
        there.choose(&mut self.random).copied()
    }

    /// Until nothing more can be written, for a moment.
    fn fill_disk(&mut self) {
        let path = self.bed.outside("filler");
        fill(&path);
        self.wait(50..300);
        std::fs::remove_file(path).unwrap();
    }

    fn wait(&mut self, ms: std::ops::Range<u64>) {
        pause(Duration::from_millis(self.random.random_range(ms)));
    }

    fn keep_a_lead(&mut self) {
        if let Some(status) = self.lead.has_ended() {
            eprintln!("the lead ended ({status}); another is started");
            if status.code().is_some() {
                eprintln!("{}", self.lead.stderr());
            }
            self.lead = start_lead(self.bed);
        }
    }

    /// A letter to somebody, which must be taken in once.
    fn write_a_letter(&mut self) {
        let workspace = Workspace::at(self.bed.root());
        let roster = Roster::new(workspace.clone(), Durability::Process);
        let directory = TeamDirectory::new(workspace.clone(), roster);
        let post = Post::new(workspace, Durability::Process);
        let to = TEAM.choose(&mut self.random).copied().unwrap();
        let to = AgentName::parse(to).unwrap();
        let text = format!("letter {}", self.faults);
        let mut letter = Message::new(&AgentName::user(), &to, Kind::StatusUpdate, text);
        if post.send(&mut letter, &directory).is_ok() {
            self.probes.push((to, letter.id));
        }
    }
}

fn start_lead(bed: &Bed) -> Running {
    bed.start_lead(&[
        "-p",
        "go",
        "--yes",
        "--output-format",
        "json",
        "--model",
        "anthropic:instant",
    ])
}

/// Stands where a lead was that is waited for.
fn idle(bed: &Bed) -> Running {
    Running::start(&mut bed.command("true"))
}

fn is_teammate(command: &str) -> bool {
    command.starts_with("teammate ")
}

fn is_tool(command: &str) -> bool {
    !is_teammate(command) && !command.is_empty()
}

#[expect(clippy::disallowed_methods, reason = "the test is no part of the team")]
fn rename(bed: &Bed, from: &str, to: &str) {
    std::fs::rename(bed.root().join(from), bed.root().join(to)).unwrap();
}

fn fill(path: &PathBuf) {
    let mut file = std::fs::File::create(path).unwrap();
    let mut size = 1 << 20;
    while size > 0 {
        if std::io::Write::write_all(&mut file, &vec![1; size]).is_err() {
            size /= 16;
        }
    }
}

/// Whether every task is done.
pub(super) fn all_done(bed: &Bed) -> bool {
    let tasks = tasks(&bed.root());
    tasks.len() == TASKS && tasks.values().all(|(_, status)| status == "completed")
}

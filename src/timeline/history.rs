//! All sources of a workspace, and reading on in them.

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;

use super::lines::LineSource;
use super::merge::merge;
use super::parse::{Form, sent};
use super::{Event, Happened};
use crate::clock::Timestamp;
use crate::findings::files::{self, Kept, LineFile, What};
use crate::ids::{AgentName, RequestId};
use crate::mailbox::inbox;
use crate::request::{Record, RequestStatus, Requests};
use crate::store::StoreError;
use crate::store::read::open_plain;
use crate::store::watch::Stamp;
use crate::team::Roster;
use crate::workspace::Workspace;

/// The history of a workspace, read up to some point.
#[derive(Debug)]
pub struct History {
    workspace: Workspace,
    roster: Roster,
    requests: Requests,
    lines: Vec<LineSource>,
    records: Records,
    mail: Mail,
    skipped: u64,
}

/// What was told of the files that hold one record each.
#[derive(Debug, Default)]
struct Records {
    /// How their directories looked: a record is replaced by a rename.
    looked: Option<[Stamp; 2]>,
    requests: HashMap<RequestId, RequestStatus>,
    started: HashMap<AgentName, Timestamp>,
}

/// Messages stand in a mailbox first, then in an archive, for a moment in both; each is told once.
#[derive(Debug, Default)]
struct Mail {
    /// Told of while they waited, and not seen in an archive since.
    told: HashSet<String>,
    /// Still to be told of in this reading.
    pending: HashSet<String>,
    /// In a mailbox at this reading.
    waiting: HashSet<String>,
}

impl History {
    /// Nothing read yet.
    pub fn new(workspace: &Workspace, roster: Roster, requests: Requests) -> Self {
        Self {
            workspace: workspace.clone(),
            roster,
            requests,
            lines: Vec::new(),
            records: Records::default(),
            mail: Mail::default(),
            skipped: 0,
        }
    }

    /// Gives everything that was written since the last call to `each`, in order, until it answers `false`.
    pub fn read_on(&mut self, mut each: impl FnMut(&Event) -> bool) -> Result<(), StoreError> {
        let kept = files::all(&self.workspace)?;
        let records = self.news_of_records();
        // Before the archives, so that what is taken in meanwhile is seen in one of them.
        let mail = self.news_of_mail(&kept);
        self.open_new(&kept);
        let mut sources: Vec<Box<dyn Iterator<Item = Event> + '_>> =
            vec![Box::new(records.into_iter()), Box::new(mail.into_iter())];
        for source in &mut self.lines {
            sources.push(Box::new(source));
        }
        for event in merge(sources) {
            if self.mail.is_new(&event) && !each(&event) {
                break;
            }
        }
        let skipped = self.lines.iter_mut().map(LineSource::take_skipped);
        self.skipped += skipped.sum::<u64>();
        Ok(())
    }

    /// How many lines could not be read so far.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Opens line files that are not open yet, and lets go of those that are gone.
    fn open_new(&mut self, kept: &[Kept]) {
        let mut there = HashSet::new();
        for one in kept {
            let Some(form) = self.form(one) else { continue };
            let Ok(found) = one.path.symlink_metadata() else {
                continue;
            };
            let identity = (found.dev(), found.ino());
            there.insert(identity);
            let known = self.lines.iter().position(|line| line.identity == identity);
            match known {
                Some(nr) if self.lines[nr].was_cut() => drop(self.lines.remove(nr)),
                Some(_) => continue,
                None => {}
            }
            // What is no file is the doctor's to tell of.
            if let Ok(Some(file)) = open_plain(&one.path)
                && let Ok(source) = LineSource::new(file, form)
            {
                self.lines.push(source);
            }
        }
        // What was written to a file before it was deleted is read before that is seen.
        self.lines
            .retain(|line| there.contains(&line.identity) || !line.is_at_end());
    }

    fn form(&self, kept: &Kept) -> Option<Form> {
        match &kept.what {
            What::Lines(LineFile::Journal) => Some(Form::Journal),
            What::Lines(LineFile::Archive(_)) => Some(Form::Archive),
            What::Lines(LineFile::Transcript(owner)) => Some(Form::Transcript(owner.to_string())),
            What::Lines(LineFile::Usage) => Some(Form::Usage),
            What::Output if kept.path.starts_with(self.workspace.logs_dir()) => {
                let name = kept.path.file_stem()?.to_string_lossy().into_owned();
                let found = kept.path.symlink_metadata().ok()?;
                let changed = u64::try_from(found.mtime()).unwrap_or(0) * 1000;
                Some(Form::Log(name, Timestamp::from_ms(changed)))
            }
            _ => None,
        }
    }

    /// Messages in mailboxes that were not told of.
    fn news_of_mail(&mut self, kept: &[Kept]) -> Vec<Event> {
        self.mail.pending.clear();
        self.mail.waiting.clear();
        let mut news = Vec::new();
        for one in kept {
            let What::Lines(LineFile::Mailbox(owner)) = &one.what else {
                continue;
            };
            // A mailbox that cannot be read is the doctor's to tell of.
            for message in inbox::waiting(&self.workspace, owner).unwrap_or_default() {
                self.mail.waiting.insert(message.id.clone());
                if self.mail.told.insert(message.id.clone()) {
                    self.mail.pending.insert(message.id.clone());
                    news.push(sent(message));
                }
            }
        }
        news.sort_by_key(|event| event.at);
        news
    }

    /// Members that were started, and requests that were made or answered, since the last look.
    fn news_of_records(&mut self) -> Vec<Event> {
        let (members, requests) = (self.workspace.members_dir(), self.workspace.requests_dir());
        let look = Some([Stamp::of(&members), Stamp::of(&requests)]);
        if self.records.looked == look {
            return Vec::new();
        }
        self.records.looked = look;
        let mut news = Vec::new();
        for member in self.roster.list().unwrap_or_default() {
            let at = member.started_at;
            if self.records.started.insert(member.name.clone(), at) != Some(at) {
                news.push(Event {
                    at,
                    agent: member.name.to_string(),
                    what: Happened::Teammate(Box::new(member)),
                });
            }
        }
        for record in self.requests.all().unwrap_or_default() {
            let told = self
                .records
                .requests
                .insert(record.request_id.clone(), record.status);
            if told.is_none() {
                news.push(asked(&record));
            }
            if record.status != told.unwrap_or(RequestStatus::Pending) {
                news.push(answered(record));
            }
        }
        news.sort_by_key(|event| event.at);
        news
    }
}

impl Mail {
    /// Whether the event is no second copy of a message.
    fn is_new(&mut self, event: &Event) -> bool {
        let Happened::Message(message) = &event.what else {
            return true;
        };
        if self.pending.remove(&message.id) {
            return true;
        }
        let told = self.told.contains(&message.id);
        if told && !self.waiting.contains(&message.id) {
            self.told.remove(&message.id);
        }
        !told
    }
}

/// The request as it was when it was made.
fn asked(record: &Record) -> Event {
    let made = Record {
        status: RequestStatus::Pending,
        decided_at: None,
        decided_by: None,
        feedback: None,
        scope: None,
        ..record.clone()
    };
    Event {
        at: made.created_at,
        agent: made.sender.to_string(),
        what: Happened::Request(Box::new(made)),
    }
}

fn answered(record: Record) -> Event {
    Event {
        at: record.decided_at.unwrap_or(record.created_at),
        agent: record
            .decided_by
            .as_ref()
            .unwrap_or(&record.target)
            .to_string(),
        what: Happened::Request(Box::new(record)),
    }
}

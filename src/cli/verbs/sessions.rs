//! `lead sessions`.

use std::path::Path;

use serde_json::{Value, json};

use crate::cli::exit::{Failure, Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::safe::safe_line;
use crate::cli::shell;
use crate::cli::table::Table;
use crate::clock::Timestamp;
use crate::conversation::opening::{Opening, opening};
use crate::ids::SessionId;
use crate::store::StoreError;
use crate::team::{Session, lead_presence};

/// One conversation of the lead.
struct Kept {
    id: SessionId,
    opening: Opening,
    /// When its transcript was last written to.
    last: Timestamp,
    /// Whether `--continue` means it.
    current: bool,
    /// Whether a lead is in it now.
    running: bool,
}

/// Prints the conversations of the lead, the one written to last first.
pub fn run(place: &Place, as_json: bool) -> Outcome {
    let kept = all(place)?;
    if as_json {
        shell::out_json(&kept.iter().map(Kept::json).collect());
        return Ok(Kind::Completed);
    }
    if kept.is_empty() {
        shell::out_line("no sessions yet");
    }
    let mut table = Table::new(&["session", "began", "last", "", "first words"]);
    for session in &kept {
        table.row(&session.cells());
    }
    for line in table.lines() {
        shell::out_line(&line);
    }
    Ok(Kind::Completed)
}

fn all(place: &Place) -> Result<Vec<Kept>, Failure> {
    let dir = place.workspace.transcripts_dir();
    let unread = StoreError::of("read", &dir);
    let entries = match std::fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unread(error).into()),
    };
    let current = Session::load(&place.workspace).map(|session| session.id);
    let lives = lead_presence::is_there(&place.workspace);
    let mut kept = Vec::new();
    for entry in entries {
        let path = entry.map_err(StoreError::of("read", &dir))?.path();
        let (Some(id), Some(opening)) = (id_of(&path), opening(&path)?) else {
            continue;
        };
        let is_current = current.as_ref() == Some(&id);
        kept.push(Kept {
            last: written(&path).unwrap_or(opening.at),
            id,
            opening,
            current: is_current,
            running: is_current && lives,
        });
    }
    kept.sort_by(|a, b| (b.last, &b.id).cmp(&(a.last, &a.id)));
    Ok(kept)
}

/// `lead.<session id>.jsonl`
fn id_of(path: &Path) -> Option<SessionId> {
    let name = path.file_name()?.to_str()?;
    let id = name.strip_prefix("lead.")?.strip_suffix(".jsonl")?;
    SessionId::parse(id).ok()
}

fn written(path: &Path) -> Option<Timestamp> {
    let since = path.metadata().ok()?.modified().ok()?;
    let since = since.duration_since(std::time::UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis())
        .ok()
        .map(Timestamp::from_ms)
}

impl Kept {
    fn json(&self) -> Value {
        json!({
            "id": self.id,
            "startedAt": self.opening.at,
            "lastAt": self.last,
            "current": self.current,
            "running": self.running,
            "firstWords": self.opening.words,
        })
    }

    fn cells(&self) -> [String; 5] {
        let state = match (self.running, self.current) {
            (true, _) => "running",
            (false, true) => "last",
            (false, false) => "",
        };
        let words = self.opening.words.as_deref().unwrap_or_default();
        let words = words.lines().next().unwrap_or_default();
        [
            self.id.to_string(),
            self.opening.at.to_string(),
            self.last.to_string(),
            state.to_owned(),
            safe_line(words, 60),
        ]
    }
}

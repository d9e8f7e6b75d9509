//! News of the board from its journal: whole lines since the last look, whatever happens to the file.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use super::session::Session;
use super::{Shown, TaskNews};
use crate::board::{Status, Task};
use crate::ids::{AgentName, TaskId};
use crate::mailbox::Kind;
use crate::store::jsonl::{self, Line};
use crate::store::read;
use crate::worktree;

/// Longest line of the journal that is read, in bytes.
const MAX_LINE: usize = 1024 * 1024;

/// One line of the journal (SPEC §3.4), as far as it is shown.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct JournalLine {
    seq: u64,
    by: String,
    /// Absent where more changed than could be named.
    #[serde(default)]
    task: Option<TaskId>,
    #[serde(default)]
    change: Value,
    /// After this change; the task's file may be further on already.
    #[serde(flatten)]
    after: Option<After>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct After {
    status: Status,
    owner: Option<AgentName>,
    attempts: u32,
}

/// Reads the journal onwards. The file may be missing, cut, or replaced by a new one.
#[derive(Debug)]
pub(super) struct JournalReader {
    path: PathBuf,
    inode: u64,
    offset: u64,
    last: u64,
}

impl JournalReader {
    /// A reader that has seen all that stands in the journal now.
    pub(super) fn at_end(path: PathBuf) -> Self {
        let mut reader = Self {
            path,
            inode: 0,
            offset: 0,
            last: 0,
        };
        drop(reader.news());
        reader
    }

    /// The number of the last line seen: changes whenever the board does.
    pub(super) fn mark(&self) -> u64 {
        self.last
    }

    /// Lines that were added since the last look, in order.
    pub(super) fn news(&mut self) -> anyhow::Result<Vec<JournalLine>> {
        let Some(file) = read::open_plain(&self.path)? else {
            return Ok(Vec::new());
        };
        let found = file.metadata()?;
        if found.ino() != self.inode || found.len() < self.offset {
            self.inode = found.ino();
            self.offset = 0;
        }
        let chunk = jsonl::read_lines(&file, self.offset, MAX_LINE)?;
        self.offset = chunk.end;
        let mut news = Vec::new();
        for line in chunk.lines {
            let Line::Whole { bytes, .. } = line else {
                continue;
            };
            let Ok(line) = serde_json::from_slice::<JournalLine>(&bytes) else {
                continue;
            };
            if line.seq > self.last {
                self.last = line.seq;
                news.push(line);
            }
        }
        Ok(news)
    }
}

impl Session {
    /// Shows what changed on the board.
    pub(super) fn show_board_news(&mut self) {
        let news = match self.journal.news() {
            Ok(news) => news,
            Err(error) => return self.complain("the board's journal was not read", &*error),
        };
        if !news.is_empty() {
            self.deliver_held();
        }
        for line in news {
            if line.task.is_none() {
                self.meet_all_owners();
            }
            if let Some(Ok(mut task)) = line.task.map(|id| self.files.board.get(&id)) {
                if let Some(owner) = &task.owner {
                    self.meet_owner(owner);
                }
                if task.status == Status::Pending && line.change["status"]["old"] == "in_progress" {
                    self.tell_unusable(&task);
                }
                if let Some(after) = line.after {
                    task.status = after.status;
                    task.owner = after.owner;
                    task.attempts = after.attempts;
                }
                self.ui.show(Shown::Task(TaskNews {
                    task: Box::new(task),
                    by: line.by,
                    change: line.change,
                }));
            }
        }
    }
}

impl Session {
    /// A task has gone back that nobody can take up as its worktree is: the person and the lead's model are told.
    fn tell_unusable(&mut self, task: &Task) {
        let Some(name) = &task.worktree else { return };
        if let Err(why) = worktree::usable(&self.files.workspace, name) {
            let text = format!("{} went back and nobody can take it: {why}", task.id);
            self.say(text.clone());
            self.tell_model(&AgentName::lead(), Kind::ErrorReport, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use super::*;

    fn line(seq: u64) -> String {
        format!(
            "{{\"seq\":{seq},\"at\":\"x\",\"by\":\"lead\",\"task\":\"{}\",\"change\":{{}}}}\n",
            TaskId::random()
        )
    }

    #[test]
    fn what_is_no_plain_file_is_an_error_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let mut reader = JournalReader::at_end(path);
        assert!(reader.news().unwrap_err().to_string().contains("a FIFO"));
    }

    #[test]
    fn only_whole_new_lines_are_news_also_after_the_file_was_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let mut reader = JournalReader::at_end(path.clone());
        assert!(reader.news().unwrap().is_empty(), "no file is no news");
        let mut file = File::create(&path).unwrap();
        file.write_all(format!("{}torn", line(1)).as_bytes())
            .unwrap();
        let seqs = |reader: &mut JournalReader| -> Vec<u64> {
            reader.news().unwrap().iter().map(|line| line.seq).collect()
        };
        assert_eq!(seqs(&mut reader), [1]);
        assert!(seqs(&mut reader).is_empty());
        let rescan = r#"{"seq":2,"at":"x","by":"lead","change":{},"rescan":true}"#;
        file.write_all(format!("\n{rescan}\n").as_bytes()).unwrap();
        assert_eq!(seqs(&mut reader), [2]);
        let fresh = dir.path().join("fresh");
        let mut file = File::create(&fresh).unwrap();
        file.write_all(format!("{}{}", line(2), line(3)).as_bytes())
            .unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::hard_link(&fresh, &path).unwrap();
        std::fs::remove_file(&fresh).unwrap();
        assert_eq!(seqs(&mut reader), [3]);
        assert_eq!(JournalReader::at_end(path).mark(), 3);
    }
}

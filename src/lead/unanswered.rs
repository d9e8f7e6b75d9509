//! Questions of the lead's own tools, which wait for an answer: for a permission no longer than the settings say.

use std::sync::mpsc::Sender;
use std::time::Instant;

use super::session::Session;
use crate::clock;
use crate::ids::RequestId;
use crate::request::{RequestKind, UNANSWERED};
use crate::tool::Answer;

/// A tool that waits.
pub(super) struct OwnWait {
    pub(super) reply: Sender<Answer>,
    /// When it has waited long enough.
    until: Option<Instant>,
}

impl Session {
    /// The wait of a tool for the answer to a request of `kind`, from now on.
    pub(super) fn own_wait(&self, kind: RequestKind, reply: Sender<Answer>) -> OwnWait {
        let settings = &self.options.settings;
        let wait = settings
            .permission_wait()
            .filter(|_| kind == RequestKind::Permission);
        OwnWait {
            reply,
            until: wait.and_then(|wait| clock::instant().checked_add(wait)),
        }
    }

    /// When the first of them has waited long enough.
    pub(super) fn unanswered_at(&self) -> Option<Instant> {
        self.replies.values().filter_map(|wait| wait.until).min()
    }

    /// Withdraws what nobody has answered in time.
    pub(super) fn end_unanswered(&mut self) {
        let now = clock::instant();
        let mut due: Vec<RequestId> = Vec::new();
        for (id, wait) in &mut self.replies {
            if wait.until.is_some_and(|until| until <= now) {
                // Once: a record that cannot be written now is waited for like any other.
                wait.until = None;
                due.push(id.clone());
            }
        }
        for id in due {
            match self.files.requests.get(&id) {
                Ok(record) => self.withdraw(&record, UNANSWERED),
                Err(error) => self.complain("a question was not withdrawn", &error),
            }
        }
    }
}

//! The teammate's own record as it keeps it: written whole on every change, only if something changed.

use crate::store::StoreError;
use crate::team::{Member, Roster};

/// See the module.
#[derive(Debug)]
pub(super) struct Card {
    roster: Roster,
    member: Member,
}

impl Card {
    /// Writes `member` for the first time in this process.
    pub(super) fn open(roster: Roster, member: Member) -> Result<Self, StoreError> {
        roster.put(&member)?;
        Ok(Self { roster, member })
    }

    /// As it stands.
    pub(super) fn member(&self) -> &Member {
        &self.member
    }

    /// Changes and writes it.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Member)) -> Result<(), StoreError> {
        let mut next = self.member.clone();
        change(&mut next);
        if next != self.member {
            self.roster.put(&next)?;
            self.member = next;
        }
        Ok(())
    }
}

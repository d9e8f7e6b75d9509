//! What an agent's command left running whose guard was killed together with all above it. Where a sandbox holds that has
//! process namespaces there is nothing of the kind.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::Books;
use crate::process;
use crate::team::lead_presence;
use crate::workspace::AGENT;

/// How many there are, but for those of the living.
pub fn leftovers(books: Books<'_>) -> usize {
    let lead = match lead_presence::living_lead(books.workspace) {
        // Its own cannot be told from others.
        Some(None) => return 0,
        Some(pid) => pid,
        None => None,
    };
    let living = || living(books, lead);
    process::abandoned(AGENT, |value| is_of(books, value), living).len()
}

/// Ends them; how many. For a lead that starts.
pub fn end_leftovers(books: Books<'_>) -> usize {
    let living = || living(books, None);
    process::end_abandoned(AGENT, |value| is_of(books, value), living)
}

fn living(books: Books<'_>, lead: Option<u32>) -> Vec<u32> {
    let members = books.roster.list().unwrap_or_default().into_iter();
    let living = members.filter(|member| books.roster.is_alive(&member.name));
    living.filter_map(|member| member.pid).chain(lead).collect()
}

/// Whether `value`, `<name>@<root>`, names this workspace.
fn is_of(books: Books<'_>, value: &OsStr) -> bool {
    let root = books.workspace.root().as_os_str().as_bytes();
    let mut parts = value.as_bytes().splitn(2, |byte| *byte == b'@');
    parts.nth(1) == Some(root)
}

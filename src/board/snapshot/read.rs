//! Asking a snapshot.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::super::summary::{Key, Place};
use super::bytes::Cursor;
use super::{HEADER, MAGIC, READY, READY_CHUNK, Reach, Record, block_of, checksum};
use crate::store::read::open_sized;

/// How much of it is read at first, in bytes.
const FRONT: usize = 8 * 1024;

/// An open snapshot. `None` from any question: it is not whole, and nothing in it is to be believed.
#[derive(Debug)]
pub(in super::super) struct Snapshot {
    file: File,
    /// Its beginning: the header, and of most boards the tasks in progress.
    front: Vec<u8>,
    pub(in super::super) reach: Reach,
    /// How many tasks there are.
    pub(in super::super) tasks: usize,
    /// How many blocks there are.
    pub(in super::super) blocks: u32,
    /// How many tasks are ready.
    pub(in super::super) ready: usize,
    /// Tasks in progress and their owners, as they stand in the file.
    owned: Vec<u8>,
    directory_at: u64,
    ready_at: u64,
    heap_at: u64,
    end: u64,
}

impl Snapshot {
    /// Opens the one at `path` and reads its first part.
    pub(in super::super) fn open(path: &Path) -> Option<Self> {
        let (file, size) = open_sized(path).ok()??;
        let mut front = vec![0; FRONT.min(usize::try_from(size).ok()?)];
        file.read_exact_at(&mut front, 0).ok()?;
        let head = front.get(..HEADER)?;
        let mut cursor = Cursor(head);
        if cursor.bytes(MAGIC.len())? != MAGIC {
            return None;
        }
        let reach = Reach {
            seq: cursor.u64()?,
            inode: cursor.u64()?,
            offset: cursor.u64()?,
        };
        let tasks = usize::try_from(cursor.u64()?).ok()?;
        let blocks = u32::try_from(cursor.u64()?).ok()?;
        let ready = cursor.u64()?;
        let owned_length = cursor.u64()?;
        let end = cursor.u64()?;
        let directory_at = (HEADER as u64).checked_add(owned_length)?;
        let ready_at = directory_at.checked_add((u64::from(blocks) + 1) * 4)?;
        let chunks = ready.div_ceil(READY_CHUNK as u64);
        let ready_length = ready.checked_mul(READY as u64)?.checked_add(chunks * 8)?;
        let heap_at = ready_at.checked_add(ready_length)?;
        if end != size || heap_at > end || blocks == 0 {
            return None;
        }
        let owned_length = usize::try_from(owned_length).ok()?;
        let owned = exactly(&file, &front, HEADER as u64, owned_length)?;
        if cursor.u64()? != checksum(checksum(0, &owned), &head[..HEADER - 8]) {
            return None;
        }
        Some(Self {
            file,
            front,
            reach,
            tasks,
            blocks,
            ready: usize::try_from(ready).ok()?,
            owned,
            directory_at,
            ready_at,
            heap_at,
            end,
        })
    }

    /// The tasks in progress by `owner`, given in lower case.
    pub(in super::super) fn owned_by(&self, owner: &str) -> Vec<Key> {
        let mut cursor = Cursor(&self.owned);
        let mut next = || Some((cursor.str()??, Key(cursor.u32()?)));
        std::iter::from_fn(&mut next)
            .filter(|(name, _)| *name == owner)
            .map(|(_, key)| key)
            .collect()
    }

    /// Reads what was not read yet, for whoever asks for every block. Failing, each is read by itself.
    pub(in super::super) fn read_whole(&mut self) {
        let Ok(length) = usize::try_from(self.end) else {
            return;
        };
        if let Some(whole) = exactly(&self.file, &self.front, 0, length) {
            self.front = whole;
        }
    }

    /// The number of the block that holds `key`.
    pub(in super::super) fn block_of(&self, key: Key) -> u32 {
        block_of(key, self.blocks)
    }

    /// What stands in a block.
    pub(in super::super) fn block(&self, nr: u32) -> Option<Vec<(Key, Record)>> {
        let bounds = exactly(
            &self.file,
            &self.front,
            self.directory_at + u64::from(nr) * 4,
            8,
        )?;
        let mut bounds = Cursor(&bounds);
        let (from, to) = (u64::from(bounds.u32()?), u64::from(bounds.u32()?));
        if self.heap_at + to > self.end {
            return None;
        }
        let length = usize::try_from(to.checked_sub(from)?).ok()?;
        let bytes = exactly(&self.file, &self.front, self.heap_at + from, length)?;
        let mut cursor = Cursor(&bytes);
        if cursor.u64()? != checksum(self.reach.seq ^ (u64::from(nr) << 32), cursor.0) {
            return None;
        }
        let mut records = Vec::new();
        while !cursor.0.is_empty() {
            let (key, record) = cursor.record()?;
            if self.block_of(key) != nr {
                return None;
            }
            records.push((key, record));
        }
        Some(records)
    }

    /// Ready tasks in the order of offering from the `nr`-th on, a few of them; `None` too if there is no such one.
    pub(in super::super) fn ready_from(&self, nr: usize) -> Option<Vec<Place>> {
        let chunk = nr / READY_CHUNK;
        let first = chunk * READY_CHUNK;
        let count = self.ready.checked_sub(first)?.min(READY_CHUNK);
        let at = self.ready_at + (chunk * (READY_CHUNK * READY + 8)) as u64;
        let bytes = exactly(&self.file, &self.front, at, count * READY + 8)?;
        let (places, sum) = bytes.split_at_checked(count * READY)?;
        if Cursor(sum).u64()? != checksum(self.reach.seq ^ ((chunk as u64) << 32), places) {
            return None;
        }
        let mut cursor = Cursor(places);
        (first..first + count)
            .map(|_| {
                Some(Place {
                    created_ms: cursor.u64()?,
                    order: cursor.u32()?,
                    key: Key(cursor.u32()?),
                })
            })
            .skip(nr - first)
            .collect()
    }
}

/// `length` bytes of `file` from `at` on, of which `front` is the beginning.
fn exactly(file: &File, front: &[u8], at: u64, length: usize) -> Option<Vec<u8>> {
    let end = usize::try_from(at).ok()?.checked_add(length)?;
    if let Some(bytes) = front.get(end - length..end) {
        return Some(bytes.to_vec());
    }
    // A length that the file cannot have is not worth its memory.
    if length > 1 << 16 && file.metadata().ok()?.len() < at + length as u64 {
        return None;
    }
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

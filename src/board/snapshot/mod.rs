//! `.tasks/.index`: what the index held after some line of the journal, so that a process that starts cold need not read
//! every task file. Derived: it may be deleted, and whatever in it is not whole is not used.
//!
//! Layout, all numbers little-endian: a header, the tasks in progress, a directory of blocks, the ready tasks in the
//! order of offering, the blocks. A block holds the tasks whose ids fall into it; one question reads one block. Every
//! part carries a checksum, so that nobody must read it all to know that he may believe it.

mod bytes;
mod read;
mod write;

pub(super) use read::Snapshot;
pub(super) use write::encode;

use super::summary::{Key, Summary};

const MAGIC: &[u8; 16] = b"pitcrew index 1\n";
/// Bytes of the header, its checksum included.
const HEADER: usize = 16 + 8 * 8 + 8;
/// Ready tasks that share a checksum.
const READY_CHUNK: usize = 32;
/// Bytes of one ready task.
const READY: usize = 16;
/// How many tasks a block holds on average.
const PER_BLOCK: usize = 4;

/// What stands under one id.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Record {
    /// The task and how many of its dependencies are not completed; `None` for one that others name and nobody made.
    pub(super) task: Option<(Summary, u32)>,
    /// The tasks that name it.
    pub(super) dependents: Vec<Key>,
}

/// The same, on loan to be written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lent<'a> {
    pub(super) task: Option<(&'a Summary, u32)>,
    pub(super) dependents: &'a [Key],
}

/// Up to where the journal is contained in a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Reach {
    /// The number of the last line.
    pub(super) seq: u64,
    /// The journal's inode.
    pub(super) inode: u64,
    /// The offset after that line.
    pub(super) offset: u64,
}

/// The block of an id among `blocks`, a power of two.
fn block_of(key: Key, blocks: u32) -> u32 {
    // Ids are random or count up; the upper bits of the product are even for both.
    let mixed = u64::from(key.0.wrapping_mul(0x9e37_79b1));
    u32::try_from((mixed * u64::from(blocks)) >> 32).unwrap_or(0)
}

/// A checksum against tearing and rot, not against intent: FNV-1a over words, begun with what the part belongs to.
fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0100_0000_01b3;
    let mut sum = (0xcbf2_9ce4_8422_2325 ^ seed).wrapping_mul(PRIME);
    for word in bytes.chunks(8) {
        let mut whole = [0; 8];
        whole[..word.len()].copy_from_slice(word);
        sum = (sum ^ u64::from_le_bytes(whole)).wrapping_mul(PRIME);
        sum ^= sum >> 29;
    }
    sum ^ bytes.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_count_up_spread_over_the_blocks() {
        let mut held = [0_u32; 256];
        for nr in 0..1024 {
            held[block_of(Key(nr), 256) as usize] += 1;
        }
        assert!(held.iter().all(|tasks| *tasks < 16), "{held:?}");
    }

    #[test]
    fn one_bit_changes_the_checksum() {
        let bytes = *b"twenty bytes of text";
        let whole = checksum(7, &bytes);
        assert_ne!(whole, checksum(8, &bytes));
        for at in 0..bytes.len() * 8 {
            let mut other = bytes;
            other[at / 8] ^= 1 << (at % 8);
            assert_ne!(whole, checksum(7, &other), "bit {at}");
        }
    }
}

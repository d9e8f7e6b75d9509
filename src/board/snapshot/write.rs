//! Making a snapshot.

use super::super::summary::{Key, Place};
use super::bytes::{put_record, put_text, put_u32, put_u64};
use super::{HEADER, Lent, MAGIC, PER_BLOCK, READY, READY_CHUNK, Reach, block_of, checksum};

/// The bytes of a snapshot; `None` for a board that its numbers cannot hold.
///
/// `ready` is in the order of offering, `owned` in any.
pub(in super::super) fn encode<'a>(
    reach: Reach,
    tasks: usize,
    records: &[(Key, Lent<'_>)],
    ready: &[Place],
    owned: impl Iterator<Item = (&'a str, Key)>,
) -> Option<Vec<u8>> {
    let blocks = u32::try_from((records.len() / PER_BLOCK).max(1).next_power_of_two()).ok()?;
    let (directory, heap) = blocks_of(reach.seq, blocks, records)?;
    let mut owned_bytes = Vec::new();
    for (owner, key) in owned {
        put_text(&mut owned_bytes, Some(owner))?;
        put_u32(&mut owned_bytes, key.0);
    }
    let ready_bytes = ready_chunks(reach.seq, ready);
    let total = HEADER + owned_bytes.len() + directory.len() + ready_bytes.len() + heap.len();
    let mut out = Vec::with_capacity(total);
    out.extend_from_slice(MAGIC);
    for number in [
        reach.seq,
        reach.inode,
        reach.offset,
        tasks as u64,
        u64::from(blocks),
        ready.len() as u64,
        owned_bytes.len() as u64,
        total as u64,
    ] {
        put_u64(&mut out, number);
    }
    let sum = checksum(checksum(0, &owned_bytes), &out);
    put_u64(&mut out, sum);
    for part in [owned_bytes, directory, ready_bytes, heap] {
        out.extend_from_slice(&part);
    }
    Some(out)
}

/// The directory (where each block begins in the heap, and where the last one ends) and the heap.
fn blocks_of(seq: u64, blocks: u32, records: &[(Key, Lent<'_>)]) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut by_block: Vec<(u32, &(Key, Lent<'_>))> = records
        .iter()
        .map(|record| (block_of(record.0, blocks), record))
        .collect();
    by_block.sort_unstable_by_key(|(block, _)| *block);
    let mut rest = by_block.as_slice();
    let mut directory = Vec::with_capacity(4 * (usize::try_from(blocks).ok()? + 1));
    let (mut heap, mut block) = (Vec::with_capacity(records.len() * 64), Vec::new());
    for nr in 0..blocks {
        put_u32(&mut directory, u32::try_from(heap.len()).ok()?);
        block.clear();
        let here = rest.partition_point(|(block, _)| *block == nr);
        for (_, (key, record)) in &rest[..here] {
            put_record(&mut block, *key, *record)?;
        }
        rest = &rest[here..];
        put_u64(&mut heap, checksum(seq ^ (u64::from(nr) << 32), &block));
        heap.extend_from_slice(&block);
    }
    put_u32(&mut directory, u32::try_from(heap.len()).ok()?);
    Some((directory, heap))
}

fn ready_chunks(seq: u64, ready: &[Place]) -> Vec<u8> {
    let mut out = Vec::with_capacity(ready.len() * READY);
    for (nr, places) in ready.chunks(READY_CHUNK).enumerate() {
        let begin = out.len();
        for place in places {
            put_u64(&mut out, place.created_ms);
            put_u32(&mut out, place.order);
            put_u32(&mut out, place.key.0);
        }
        let sum = checksum(seq ^ ((nr as u64) << 32), &out[begin..]);
        put_u64(&mut out, sum);
    }
    out
}

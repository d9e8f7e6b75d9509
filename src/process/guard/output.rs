//! A command's output: head and tail for the model, everything for a file, in flat memory however much comes.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The largest spill file in bytes; a line that says so comes after.
const SPILL_CAP: u64 = 64 << 20;

/// The first and the last characters of a text that is too long to be kept.
#[derive(Debug)]
struct Clip {
    head: String,
    head_room: usize,
    tail: String,
    tail_size: usize,
    total: u64,
}

impl Clip {
    fn new(keep: usize) -> Self {
        let head_room = keep / 2;
        Self {
            head: String::new(),
            head_room,
            tail: String::new(),
            tail_size: keep - head_room,
            total: 0,
        }
    }

    fn push(&mut self, text: &str) {
        let count = text.chars().count();
        self.total += count as u64;
        let cut = byte_of_char(text, self.head_room);
        self.head_room -= self.head_room.min(count);
        let (head, rest) = text.split_at(cut);
        self.head.push_str(head);
        self.tail.push_str(rest);
        // Four bytes a character at most; cut only now and then, since each cut moves the rest.
        if self.tail.len() > 8 * self.tail_size + 4096 {
            self.trim_tail();
        }
    }

    fn trim_tail(&mut self) {
        let start = byte_of_char_from_end(&self.tail, self.tail_size);
        self.tail.drain(..start);
    }

    fn finish(mut self) -> String {
        self.trim_tail();
        let kept = self.head.chars().count() + self.tail.chars().count();
        let left_out = self.total - kept as u64;
        if left_out > 0 {
            let mut text = self.head;
            // Writing to a string cannot fail.
            let _ = write!(text, "\n[{left_out} characters left out]\n{}", self.tail);
            return text;
        }
        self.head + &self.tail
    }
}

/// Where the character number `index` starts; the end if there are fewer.
fn byte_of_char(text: &str, index: usize) -> usize {
    text.char_indices()
        .nth(index)
        .map_or(text.len(), |(at, _)| at)
}

/// Where the last `count` characters start.
fn byte_of_char_from_end(text: &str, count: usize) -> usize {
    if count == 0 {
        return text.len();
    }
    text.char_indices()
        .rev()
        .nth(count - 1)
        .map_or(0, |(at, _)| at)
}

/// The file with everything, made only once it is needed.
#[derive(Debug)]
enum Spill {
    /// All there was so far, in memory.
    Pending(Vec<u8>),
    /// In the file; how many bytes still fit.
    Open(File, u64),
    /// Full, its last line says so.
    Full,
    /// The file could not be written; the rest is not kept.
    Failed,
}

/// Collects what a command prints.
#[derive(Debug)]
pub(super) struct Output {
    clip: Clip,
    keep: u64,
    /// Up to three bytes of a character whose rest has not come yet.
    unfinished: Vec<u8>,
    path: PathBuf,
    spill: Spill,
}

impl Output {
    pub(super) fn new(keep: usize, spill: &Path) -> Self {
        Self {
            clip: Clip::new(keep),
            keep: keep as u64,
            unfinished: Vec::new(),
            path: spill.into(),
            spill: Spill::Pending(Vec::new()),
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.unfinished.is_empty() {
            self.decode(bytes);
        } else {
            let mut joined = std::mem::take(&mut self.unfinished);
            joined.extend_from_slice(bytes);
            self.decode(&joined);
        }
        self.spill(bytes);
    }

    /// The text and the file, if there is one.
    pub(super) fn finish(mut self) -> (String, Option<PathBuf>) {
        if !self.unfinished.is_empty() {
            self.clip.push("\u{fffd}");
            // This one character may be the one too many.
            self.spill(&[]);
        }
        let spilled = match self.spill {
            Spill::Open(..) | Spill::Full => Some(self.path),
            Spill::Pending(_) | Spill::Failed => None,
        };
        (self.clip.finish(), spilled)
    }

    /// Invalid bytes become replacement characters.
    fn decode(&mut self, mut bytes: &[u8]) {
        loop {
            let error = match std::str::from_utf8(bytes) {
                Ok(text) => return self.clip.push(text),
                Err(error) => error,
            };
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            self.clip
                .push(std::str::from_utf8(valid).unwrap_or_default());
            let Some(invalid) = error.error_len() else {
                self.unfinished = rest.to_vec();
                return;
            };
            self.clip.push("\u{fffd}");
            bytes = &rest[invalid..];
        }
    }

    fn spill(&mut self, bytes: &[u8]) {
        let spill = std::mem::replace(&mut self.spill, Spill::Failed);
        let written = match spill {
            Spill::Pending(mut all) => {
                all.extend_from_slice(bytes);
                if self.clip.total <= self.keep {
                    self.spill = Spill::Pending(all);
                    return;
                }
                create(&self.path).and_then(|file| write_capped(file, SPILL_CAP, &all))
            }
            Spill::Open(file, room) => write_capped(file, room, bytes),
            Spill::Full => Ok(Spill::Full),
            Spill::Failed => Ok(Spill::Failed),
        };
        match written {
            Ok(spill) => self.spill = spill,
            Err(error) => {
                tracing::warn!(path = %self.path.display(), %error, "cannot keep the full output");
            }
        }
    }
}

/// Never follows or reuses what stands there: commands can write where this file goes.
#[expect(
    clippy::disallowed_methods,
    reason = "what is made exclusively is a file"
)]
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

fn write_capped(mut file: File, room: u64, bytes: &[u8]) -> io::Result<Spill> {
    let size = bytes.len() as u64;
    if size <= room {
        file.write_all(bytes)?;
        return Ok(Spill::Open(file, room - size));
    }
    let fits = usize::try_from(room).unwrap_or(usize::MAX);
    file.write_all(&bytes[..fits])?;
    writeln!(file, "\n[not kept beyond {} MiB]", SPILL_CAP >> 20)?;
    Ok(Spill::Full)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn through(chunks: &[&[u8]], keep: usize) -> (String, Option<String>) {
        let dir = tempfile::tempdir().unwrap();
        let mut output = Output::new(keep, &dir.path().join("out"));
        for chunk in chunks {
            output.push(chunk);
        }
        let (text, spilled) = output.finish();
        let spilled =
            spilled.map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned());
        (text, spilled)
    }

    #[test]
    fn what_fits_is_kept_whole_and_makes_no_file() {
        assert_eq!(through(&[b"abc", b"", b"def"], 6), ("abcdef".into(), None));
        assert_eq!(through(&[], 6), (String::new(), None));
    }

    #[test]
    fn the_middle_is_left_out_between_characters_and_counted() {
        let all = "äöüßéè€漢字!";
        let (text, spilled) = through(&[all.as_bytes()], 5);
        assert_eq!(text, "äö\n[5 characters left out]\n漢字!");
        assert_eq!(spilled.as_deref(), Some(all));
    }

    #[test]
    fn characters_torn_between_reads_are_put_together() {
        let all = "a€😀z".as_bytes();
        let bytes: Vec<&[u8]> = all.chunks(1).collect();
        assert_eq!(through(&bytes, 100).0, "a€😀z");
        assert_eq!(
            through(&[b"a\xff\xe2\x82", b"b\xe2\x82"], 100).0,
            "a\u{fffd}\u{fffd}b\u{fffd}"
        );
    }

    #[test]
    fn an_unfinished_character_can_be_the_one_too_many() {
        let (text, spilled) = through(&[b"ab\xe2"], 2);
        assert_eq!(text, "a\n[1 characters left out]\n\u{fffd}");
        assert_eq!(spilled.as_deref(), Some("ab\u{fffd}"));
    }

    #[test]
    fn a_spill_file_that_exists_is_not_touched() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        std::os::unix::fs::symlink(dir.path().join("target"), &path).unwrap();
        let mut output = Output::new(2, &path);
        output.push(b"abcdef");
        assert_eq!(output.finish().1, None);
        assert!(!dir.path().join("target").exists());
    }

    #[test]
    fn the_file_ends_at_its_cap_and_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let mut output = Output::new(10, &path);
        let chunk = vec![b'x'; 1 << 20];
        for _ in 0..66 {
            output.push(&chunk);
        }
        let (text, spilled) = output.finish();
        assert!(text.contains(&format!("[{} characters left out]", (66 << 20) - 10)));
        let length = std::fs::metadata(spilled.unwrap()).unwrap().len();
        assert_eq!(
            length,
            SPILL_CAP + "\n[not kept beyond 64 MiB]\n".len() as u64
        );
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_give_the_same_text(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            cuts in proptest::collection::vec(0usize..300, 0..6),
            keep in 0usize..400,
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([bytes.len()]) {
                chunks.push(&bytes[from..cut]);
                from = cut;
            }
            let whole: Vec<char> = String::from_utf8_lossy(&bytes).chars().collect();
            let (text, spilled) = through(&chunks, keep);
            prop_assert_eq!(spilled.is_some(), whole.len() > keep);
            if whole.len() <= keep {
                prop_assert_eq!(text, whole.iter().collect::<String>());
            } else {
                let head: String = whole[..keep / 2].iter().collect();
                let tail: String = whole[whole.len() - (keep - keep / 2)..].iter().collect();
                prop_assert!(text.starts_with(&head) && text.ends_with(&tail));
                let count = format!("[{} characters left out]", whole.len() - keep);
                prop_assert!(text.contains(&count));
            }
        }
    }
}

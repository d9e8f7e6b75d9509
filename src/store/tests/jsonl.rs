//! Line files that are torn, foreign, or contended.

use std::fs::{File, OpenOptions};
use std::io::Write;

use proptest::prelude::*;

use crate::store::Durability;
use crate::store::jsonl::{Appender, Chunk, Line, append_line, append_lines, read_lines};

fn opened(path: &std::path::Path) -> File {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .unwrap()
}

fn texts(chunk: &Chunk) -> Vec<String> {
    chunk
        .lines
        .iter()
        .map(|line| match line {
            Line::Whole { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
            Line::TooLong { length, .. } => format!("too long: {length}"),
        })
        .collect()
}

#[test]
fn a_tail_cut_anywhere_costs_only_the_cut_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let whole = b"{\"a\":1}\n{\"b\":\"two\"}\n";
    for cut in 0..=whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let file = opened(&path);
        let begin = append_line(&file, &path, b"{\"new\":1}").unwrap();
        let chunk = read_lines(&file, 0, 1000).unwrap();
        assert_eq!(chunk.torn, 0);
        assert_eq!(texts(&chunk).last().unwrap(), "{\"new\":1}", "cut at {cut}");
        assert!(matches!(chunk.lines.last(), Some(Line::Whole { offset, .. }) if *offset == begin));
        assert_eq!(
            chunk.lines.len(),
            1 + whole[..cut]
                .split(|b| *b == b'\n')
                .filter(|l| !l.is_empty())
                .count()
        );
    }
}

#[test]
fn reading_goes_on_where_it_ended_and_leaves_a_line_that_is_being_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    std::fs::write(&path, "\u{feff}one\r\n\n  \ntwo\nthr").unwrap();
    let file = opened(&path);
    let chunk = read_lines(&file, 0, 1000).unwrap();
    assert_eq!(texts(&chunk), ["one", "two"]);
    assert_eq!(chunk.torn, 3);
    OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap()
        .write_all(b"ee\n")
        .unwrap();
    let rest = read_lines(&file, chunk.end, 1000).unwrap();
    assert_eq!(
        rest.lines,
        [Line::Whole {
            offset: chunk.end,
            bytes: b"three".to_vec()
        }]
    );
    assert_eq!(rest.end, path.metadata().unwrap().len());
}

#[test]
fn an_over_long_line_is_skipped_and_its_neighbours_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let long = "x".repeat(300_000);
    let fits = "y".repeat(200_000);
    std::fs::write(&path, format!("a\n{long}\n{fits}\r\nb\n")).unwrap();
    let chunk = read_lines(&opened(&path), 0, 200_000).unwrap();
    assert_eq!(texts(&chunk), ["a", "too long: 300000", fits.as_str(), "b"]);
}

#[test]
fn a_line_with_a_newline_is_refused_and_leaves_the_file_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let file = opened(&path);
    assert!(append_lines(&file, &path, &[b"fine", b"not\nfine"]).is_err());
    assert_eq!(path.metadata().unwrap().len(), 0);
    append_lines(&file, &path, &[b"one", b"two"]).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"one\ntwo\n");
}

#[test]
fn writers_that_share_a_file_never_mix_their_lines() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let path = &path;
            scope.spawn(move || {
                let mut appender = Appender::open(path, Durability::Process).unwrap();
                for nr in 0..100 {
                    let line = format!("{writer}:{nr}:{}", "z".repeat(nr * 50));
                    appender.append_shared(line.as_bytes()).unwrap();
                }
            });
        }
    });
    let lines = texts(&read_lines(&opened(&path), 0, 10_000).unwrap());
    assert_eq!(lines.len(), 400);
    for writer in 0..4 {
        let mine: Vec<usize> = lines
            .iter()
            .filter_map(|line| {
                let mut parts = line.split(':');
                (parts.next()? == writer.to_string()).then_some(())?;
                let nr: usize = parts.next()?.parse().ok()?;
                assert_eq!(parts.next()?.len(), nr * 50);
                Some(nr)
            })
            .collect();
        assert!(mine.is_sorted() && mine.len() == 100);
    }
}

#[test]
fn appending_to_a_link_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("l");
    std::os::unix::fs::symlink(dir.path().join("target"), &link).unwrap();
    assert!(Appender::open(&link, Durability::Process).is_err());
    assert!(!dir.path().join("target").exists());
}

proptest! {
    /// Whatever the bytes, and wherever reading is broken off: the same lines, none held over the limit.
    #[test]
    fn reading_in_steps_equals_reading_at_once(
        bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..400),
        cut in 0_usize..400,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let cut = cut.min(bytes.len());
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let file = opened(&path);
        let first = read_lines(&file, 0, 16).unwrap();
        prop_assert_eq!(first.end + first.torn, cut as u64);
        std::fs::write(&path, &bytes).unwrap();
        let second = read_lines(&file, first.end, 16).unwrap();
        let whole = read_lines(&file, 0, 16).unwrap();
        let mut both = first.lines;
        both.extend(second.lines);
        prop_assert_eq!(&both, &whole.lines);
        for line in &both {
            if let Line::Whole { bytes, .. } = line {
                prop_assert!(bytes.len() <= 16 && !bytes.contains(&b'\n'));
            }
        }
    }
}

//! Somebody exchanges files and directories for links to outside while the file tools work, four hundred times each.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use crate::policy::{Mode, RuleLists};
use crate::tool::fixture::Bench;

const TIMES: usize = 400;
/// What the file outside holds, and the name of another one beside it.
const SECRET: &str = "not-for-agents";

/// A workspace with `src/deep/f`, and the same names outside.
struct Scene {
    bench: Bench,
    outside: PathBuf,
}

impl Scene {
    /// Where nobody is asked: what leaves the workspace is denied.
    fn new() -> Self {
        let bench = Bench::with("lead", &RuleLists::default(), Mode::Deny);
        bench.put("src/deep/f", "mine\n");
        for name in [
            "src/deep/f",
            "deep/f",
            "f",
            SECRET,
            &format!("deep/{SECRET}"),
        ] {
            bench.put(&format!("../outside/{name}"), SECRET);
        }
        let outside = bench.root().parent().unwrap().join("outside");
        Self { bench, outside }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.bench.root().join(path)
    }

    /// Everything that is outside, with its content.
    fn all_outside(&self) -> Vec<(PathBuf, String)> {
        let mut found = Vec::new();
        let mut ahead = vec![self.outside.clone()];
        while let Some(dir) = ahead.pop() {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    ahead.push(path);
                } else {
                    let text = std::fs::read_to_string(&path).unwrap();
                    found.push((path, text));
                }
            }
        }
        found.sort();
        found
    }

    /// Calls the file tools by turns while `swap` is at work in a thread of its own.
    fn race(&self, swap: impl Fn() + Sync) {
        let before = self.all_outside();
        let (over, swaps) = (AtomicBool::new(false), AtomicUsize::new(0));
        let mut told = Vec::new();
        std::thread::scope(|scope| {
            let swapping = scope.spawn(|| {
                while !over.load(Ordering::Acquire) {
                    swap();
                    swaps.fetch_add(1, Ordering::Release);
                }
            });
            for round in 0..TIMES {
                // Each call meets a swap of its own.
                let so_far = swaps.load(Ordering::Acquire);
                while swaps.load(Ordering::Acquire) == so_far && !swapping.is_finished() {
                    std::thread::yield_now();
                }
                let (tool, input) = call(round);
                let said = self.bench.run(tool, &input).content;
                told.push(format!("{tool} {input}: {said}"));
            }
            over.store(true, Ordering::Release);
        });
        for said in told {
            for never in [SECRET, "fault of its own"] {
                assert!(!said.contains(never), "{said}");
            }
        }
        assert_eq!(self.all_outside(), before);
    }
}

/// The call of a round.
fn call(round: usize) -> (&'static str, Value) {
    match round % 6 {
        0 => ("read_file", json!({"path": "src/deep/f"})),
        1 => (
            "write_file",
            json!({"path": format!("src/deep/new{round}"), "content": "x\n"}),
        ),
        2 => ("glob", json!({"pattern": "**", "path": "src"})),
        3 => {
            let new = format!("mine {round}");
            (
                "edit_file",
                json!({"path": "src/deep/f", "old_text": "mine", "new_text": new}),
            )
        }
        4 => ("grep", json!({"pattern": ".", "path": "src"})),
        _ => ("read_file", json!({"path": "src/deep"})),
    }
}

fn exchange(one: &Path, other: &Path) {
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
}

#[test]
fn a_directory_exchanged_for_a_link_leads_no_tool_outside() {
    let scene = Scene::new();
    let (dir, link) = (scene.at("src/deep"), scene.at("link"));
    symlink(scene.outside.join("deep"), &link).unwrap();
    scene.race(|| exchange(&dir, &link));
}

#[test]
fn a_directory_above_exchanged_for_a_link_leads_no_tool_outside() {
    let scene = Scene::new();
    let (dir, link) = (scene.at("src"), scene.at("link"));
    symlink(scene.outside.join("src"), &link).unwrap();
    scene.race(|| exchange(&dir, &link));
}

#[test]
fn a_file_exchanged_for_a_link_leads_no_tool_outside() {
    let scene = Scene::new();
    let (file, link) = (scene.at("src/deep/f"), scene.at("link"));
    symlink(scene.outside.join("f"), &link).unwrap();
    scene.race(|| exchange(&file, &link));
}

#[test]
fn a_directory_that_goes_and_comes_back_as_a_link_leads_no_tool_outside() {
    let scene = Scene::new();
    let (dir, away) = (scene.at("src/deep"), scene.at("away"));
    scene.race(|| {
        rustix::fs::rename(&dir, &away).unwrap();
        // A tool may have made the directory again meanwhile.
        if symlink(scene.outside.join("deep"), &dir).is_ok() {
            std::fs::remove_file(&dir).unwrap();
        } else {
            std::fs::remove_dir_all(&dir).unwrap();
        }
        rustix::fs::rename(&away, &dir).ok();
        if away.exists() {
            std::fs::remove_dir_all(&dir).unwrap();
            rustix::fs::rename(&away, &dir).unwrap();
        }
    });
}

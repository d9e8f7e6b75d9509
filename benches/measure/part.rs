//! Processes of a bench: the bench itself, started again for one part.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

/// A part by its name, and what plays it with what it was told.
pub(crate) type Part = (&'static str, fn(&[String]));

/// Holds the part's name and what it is told, one a line.
const PART: &str = "PITCREW_BENCH_PART";

/// Plays the part that this process was started for, if it was.
pub(crate) fn play(parts: &[Part]) -> bool {
    let Ok(told) = std::env::var(PART) else {
        return false;
    };
    let mut told = told.lines().map(str::to_owned);
    let name = told.next().unwrap();
    let (_, part) = parts.iter().find(|(known, _)| *known == name).unwrap();
    part(&told.collect::<Vec<_>>());
    true
}

/// A process that plays a part.
pub(crate) struct Started(Child);

/// Starts a part in a process of its own; where the test harness runs a bench, its `part` test plays it.
pub(crate) fn start(part: &str, told: &[&str]) -> Started {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["performance::part", "--exact", "--nocapture"])
        .env(PART, [&[part], told].concat().join("\n"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    Started(child.unwrap())
}

/// In a part: says that it is ready, and waits for all to be.
pub(crate) fn wait() {
    println!("ready");
    let mut rest = Vec::new();
    std::io::stdin().read_to_end(&mut rest).unwrap();
}

impl Started {
    /// What follows `word` in the line of its output that holds it.
    pub(crate) fn said(mut self, word: &str) -> String {
        let mut out = String::new();
        let mut pipe = self.0.stdout.take().unwrap();
        pipe.read_to_string(&mut out).unwrap();
        self.end();
        let line = out.lines().find_map(|line| line.split_once(word));
        line.unwrap().1.trim().to_owned()
    }

    fn end(mut self) {
        drop(self.0.stdin.take());
        assert!(self.0.wait().unwrap().success());
    }
}

/// Lets parts that wait go on together, and waits for their ends.
pub(crate) fn go_on(mut parts: Vec<Started>) {
    for part in &mut parts {
        drop(part.0.stdin.take());
    }
    parts.into_iter().for_each(Started::end);
}

/// Waits until each is at its [`wait`].
pub(crate) fn ready(parts: &mut [Started]) {
    for part in parts {
        let out = BufReader::new(part.0.stdout.as_mut().unwrap());
        assert!(out.lines().any(|line| line.unwrap().ends_with("ready")));
    }
}

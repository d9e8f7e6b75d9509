//! A conversation of 100 MB opened, and what the runtime adds to a turn of the model.
//!
//! `cargo bench --bench conversation`. The bars: 1 s and 100 MiB above what is sent for opening, 3 ms for a turn with
//! `durability: "power"` on an idle machine. A turn is counted from when the server has made up its answer to when its next
//! request has come: it holds the tool, which does nothing, and the way over the loopback, but not what the server, which
//! checks each request, takes for that.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench prints, and ends at what it did not expect"
)]

#[expect(dead_code, reason = "each bench needs a part of it")]
mod measure;
mod support;

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use measure::{Asked, Bench, Row, median, now, timed};
use pitcrew::clock::Timestamp;
use pitcrew::conversation::compaction::weight;
use pitcrew::conversation::{Block, Compaction, Record, ToolCall, Transcript, Usage};
use pitcrew::store::Durability;
use serde_json::json;
use support::job::bed_for;
use support::model_server::{Answer, ModelServer};

const MIB: f64 = 1024.0 * 1024.0;
/// Bytes of a transcript, and of one in a quick run.
const SIZE: [u64; 2] = [100 << 20, 1 << 20];
/// Turns between two times that it was made shorter.
const LIVES: usize = 200;

const BENCHES: [Bench; 6] = [
    (
        "open 100 MB, made shorter on the way",
        "1000 ms",
        |asked, row| {
            let opened = open(asked, row, true);
            row.ratio(opened.took, opened.bare, "ms");
        },
    ),
    (
        "the same, memory above what is sent",
        "100 MiB",
        |asked, row| {
            row.fact(&format!("{:.0} MiB", open(asked, row, true).above));
        },
    ),
    (
        "open 100 MB, never made shorter",
        "1000 ms",
        |asked, row| {
            let opened = open(asked, row, false);
            row.ratio(opened.took, opened.bare, "ms");
        },
    ),
    (
        "that one, memory above what is sent",
        "100 MiB",
        |asked, row| {
            row.fact(&format!("{:.0} MiB", open(asked, row, false).above));
        },
    ),
    ("a turn, anthropic", "3 ms", |asked, row| {
        turns(asked, row, "anthropic:instant");
    }),
    ("a turn, openai", "3 ms", |asked, row| {
        turns(asked, row, "openai:instant");
    }),
];

fn main() {
    measure::run_on_disk(&Asked::new(std::env::args().skip(1)), &BENCHES);
}

struct Opened {
    /// Milliseconds, and those of reading the same bytes.
    took: f64,
    bare: f64,
    /// MiB besides the messages.
    above: f64,
}

fn open(asked: &Asked, row: &Row, shortened: bool) -> Opened {
    let path = row.root().join("lead.jsonl");
    write(&path, SIZE[usize::from(asked.quick)], shortened);
    let (bare, read) =
        timed(|| std::io::copy(&mut File::open(&path).unwrap(), &mut std::io::sink()));
    read.unwrap();
    let before = resident("VmRSS:");
    OpenOptions::new()
        .write(true)
        .open("/proc/self/clear_refs")
        .and_then(|mut file| file.write_all(b"5"))
        .unwrap();
    let (took, (_, replay)) =
        timed(|| Transcript::open(&path, &start(), Durability::Process).unwrap());
    let most = resident("VmHWM:");
    #[expect(clippy::cast_precision_loss, reason = "a figure to look at")]
    let sent = weight(&replay.messages) as f64 / MIB;
    std::fs::remove_file(&path).unwrap();
    Opened {
        took: took / 1e3,
        bare: bare / 1e3,
        above: (most - before) / 1024.0 - sent,
    }
}

fn start() -> Record {
    Record::Start {
        agent: "lead".to_owned(),
        session: None,
        at: Timestamp::from_ms(0),
    }
}

/// Turns with a call each, whose results have all sizes up to 8 KiB.
fn write(path: &Path, bytes: u64, shortened: bool) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let mut size = 0;
    let mut put = |record: &Record| {
        let line = serde_json::to_vec(record).unwrap();
        file.write_all(&line).unwrap();
        file.write_all(b"\n").unwrap();
        size += line.len() as u64 + 1;
        size
    };
    put(&start());
    for turn in 0.. {
        for record in turn_of(turn) {
            if put(&record) >= bytes {
                return;
            }
        }
        if shortened && turn % LIVES == LIVES - 1 {
            put(&Record::Compacted {
                cut: Compaction {
                    whole: 8,
                    kept: Some(10),
                },
                text: Some("what went before".repeat(100)),
                usage: Usage::default(),
                note: None,
                at: Timestamp::from_ms(0),
            });
        }
    }
}

fn turn_of(turn: usize) -> [Record; 3] {
    let at = Timestamp::from_ms(1_764_522_000_123);
    let id = format!("call_{turn}");
    let call = Block::ToolUse(ToolCall {
        id: id.clone(),
        name: "bash".to_owned(),
        input: json!({"command": format!("cargo test --lib module_{turn}")}),
        cut: None,
    });
    let line = "test module::tests::a_name_of_some_length … ok\n\t\"quoted\" é\n";
    [
        Record::User {
            text: format!("[Messages]\n{turn}"),
            mail: Vec::new(),
            by: None,
            at,
        },
        Record::Assistant {
            content: vec![Block::text("Let me see what the tests say."), call],
            usage: Usage::default(),
            note: None,
            at,
        },
        Record::Result {
            tool_use_id: id,
            content: line.repeat(turn * 7 % 130),
            is_error: false,
            at,
        },
    ]
}

/// Of this process, in KiB.
fn resident(what: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(what))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Against two lines of the usual length, each written and synced: the reply and the result.
fn turns(asked: &Asked, row: &Row, model: &str) {
    let count = asked.times(200, 5);
    // When each request had come, and when its answer was made up.
    let heard: Arc<Mutex<Vec<(Instant, Instant)>>> = Arc::default();
    let times = Arc::clone(&heard);
    let server = ModelServer::start(move |ask| {
        let answer = if ask.step() >= count {
            Answer::say("done")
        } else {
            let items = json!([{"text": format!("step {}", ask.step()), "status": "pending"}]);
            Answer::call("todo_write", json!({ "items": items }))
        };
        times.lock().unwrap().push((ask.came, now()));
        answer
    });
    let bed = bed_for(&server);
    let done = bed.lead(&["-p", "go", "--model", model]).expect_code(0);
    drop(done);
    let heard = heard.lock().unwrap();
    let mut turns: Vec<f64> = heard
        .windows(2)
        .map(|pair| (pair[1].0 - pair[0].1).as_secs_f64() * 1e3)
        .collect();
    row.ratio(median(&mut turns), synced_lines(row, count), "ms");
}

fn synced_lines(row: &Row, count: usize) -> f64 {
    let path = row.root().join("lines");
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .unwrap();
    let line = [b'x'; 300];
    let mut times: Vec<f64> = (0..count)
        .map(|_| {
            let (took, ()) = timed(|| {
                for _ in 0..2 {
                    file.write_all_at(&line, 0).unwrap();
                    nix::unistd::fdatasync(&file).unwrap();
                }
            });
            took / 1e3
        })
        .collect();
    median(&mut times)
}

//! What the benches share: places to measure in, medians, and lines of the table.

pub(crate) mod part;

use std::path::{Path, PathBuf};
use std::time::Instant;

/// What was asked for on the command line: `--quick` for a run that only shows that everything works, and words that
/// must be in what is measured or name the place.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) quick: bool,
    pub(crate) words: Vec<String>,
}

impl Asked {
    pub(crate) fn new(words: impl IntoIterator<Item = String>) -> Self {
        // Cargo adds `--bench`.
        let (flags, words) = words
            .into_iter()
            .partition::<Vec<_>, _>(|word| word.starts_with("--"));
        Self {
            quick: flags.iter().any(|flag| flag == "--quick"),
            words,
        }
    }

    /// `full`, or `quick` in a quick run.
    pub(crate) fn times(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }

    fn wants(&self, what: &str, place: &str) -> bool {
        self.words
            .iter()
            .all(|word| what.contains(word.as_str()) || place == word)
    }
}

/// A row of the table in docs/performance.md: what is measured, its bar, and how.
pub(crate) type Bench = (&'static str, &'static str, fn(&Asked, &Row));

/// A row being measured.
pub(crate) struct Row {
    what: &'static str,
    bar: &'static str,
    place: Place,
}

impl Row {
    /// A scratch directory.
    pub(crate) fn root(&self) -> PathBuf {
        self.place.root()
    }

    /// Prints it: both figures and their ratio.
    pub(crate) fn ratio(&self, ours: f64, bare: f64, unit: &str) {
        let ratio = ours / bare;
        self.print(&format!("{ours:.1} {unit} | {bare:.1} {unit} | {ratio:.2}"));
    }

    /// Prints what is no ratio.
    pub(crate) fn fact(&self, measured: &str) {
        self.print(&format!("{measured} | – | –"));
    }

    fn print(&self, cells: &str) {
        println!(
            "| {} | {} | {cells} | {} |",
            self.what, self.place.name, self.bar
        );
    }
}

/// Prints the table, each bench in memory and on the disk.
pub(crate) fn run(asked: &Asked, benches: &[Bench]) {
    run_in(asked, benches, || tmpfs().into_iter().chain([disk()]));
}

/// The same on the disk only.
pub(crate) fn run_on_disk(asked: &Asked, benches: &[Bench]) {
    run_in(asked, benches, || [disk()].into_iter());
}

fn run_in<P: Iterator<Item = Place>>(asked: &Asked, benches: &[Bench], places: impl Fn() -> P) {
    println!("| what | where | ours | bare | ratio | bar |\n| --- | --- | --- | --- | --- | --- |");
    for (what, bar, bench) in benches {
        for place in places() {
            if asked.wants(what, place.name) {
                bench(asked, &Row { what, bar, place });
            }
        }
    }
}

/// A scratch directory on a file system that is named in the table.
struct Place {
    name: &'static str,
    scratch: tempfile::TempDir,
}

impl Place {
    fn root(&self) -> PathBuf {
        self.scratch.path().canonicalize().unwrap()
    }
}

/// The build's disk.
fn disk() -> Place {
    place("disk", Path::new(env!("CARGO_TARGET_TMPDIR")))
}

/// Memory, where there is such a place.
fn tmpfs() -> Option<Place> {
    let shm = Path::new("/dev/shm");
    shm.is_dir().then(|| place("tmpfs", shm))
}

fn place(name: &'static str, dir: &Path) -> Place {
    std::fs::create_dir_all(dir).unwrap();
    let scratch = tempfile::Builder::new()
        .prefix("pitcrew-bench-")
        .tempdir_in(dir)
        .unwrap();
    Place { name, scratch }
}

pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Microseconds that `act` takes, and what it gives.
pub(crate) fn timed<T>(act: impl FnOnce() -> T) -> (f64, T) {
    let begun = now();
    let given = act();
    (begun.elapsed().as_secs_f64() * 1e6, given)
}

/// The value below which `share` of them lie.
pub(crate) fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "an index within a short list"
    )]
    let at = (values.len() as f64 * share) as usize;
    values[at.min(values.len() - 1)]
}

pub(crate) fn median(values: &mut [f64]) -> f64 {
    quantile(values, 0.5)
}

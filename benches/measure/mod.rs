//! What the benches share: places to measure in, medians, and lines of the table.

use std::path::{Path, PathBuf};
use std::time::Instant;

/// A scratch directory on a file system that is named in the table.
pub(crate) struct Place {
    pub(crate) name: &'static str,
    scratch: tempfile::TempDir,
}

impl Place {
    pub(crate) fn root(&self) -> PathBuf {
        self.scratch.path().canonicalize().unwrap()
    }
}

/// The build's disk.
pub(crate) fn disk() -> Place {
    place("disk", Path::new(env!("CARGO_TARGET_TMPDIR")))
}

/// Memory, where there is such a place.
pub(crate) fn tmpfs() -> Option<Place> {
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

#[expect(clippy::disallowed_methods, reason = "a bench measures from outside")]
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

/// One line of the table: what was measured where, both figures, their ratio, and the bar.
pub(crate) fn row(what: &str, place: &str, ours: f64, bare: f64, unit: &str, bar: &str) {
    println!(
        "| {what} | {place} | {ours:.1} {unit} | {bare:.1} {unit} | {:.2} | {bar} |",
        ours / bare
    );
}

/// The table's head.
pub(crate) fn head() {
    println!("| what | where | ours | bare | ratio | bar |\n| --- | --- | --- | --- | --- | --- |");
}

/// Processor time of this process so far, in microseconds.
pub(crate) fn cpu() -> f64 {
    let used = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF).unwrap();
    [used.user_time(), used.system_time()]
        .iter()
        .map(|time| {
            let micros = time.tv_sec() * 1_000_000 + time.tv_usec();
            f64::from(u32::try_from(micros).unwrap())
        })
        .sum()
}

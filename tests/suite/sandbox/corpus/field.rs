//! Where the commands of the corpus run: a directory for each, and its victim outside.

use std::path::{Path, PathBuf};

use super::Entry;

const PRECIOUS: &str = "precious\n";

/// What a victim's directory holds.
const VICTIMS: [&str; 2] = ["victim", "tree/keep"];

/// Commands laid out beneath `<dir>/in`, their victims beneath `out`.
pub(super) struct Field {
    dir: PathBuf,
    out: PathBuf,
    texts: Vec<String>,
}

impl Field {
    /// `dir` is where the commands may write.
    pub(super) fn lay(dir: &Path, out: &Path, entries: &[Entry]) -> Self {
        let up = relative(&dir.join("in/000"), out);
        let texts = entries.iter().enumerate().map(|(place, entry)| {
            let victim = |out: &Path| out.join(name(place)).to_str().unwrap().to_owned();
            entry
                .text
                .replace('␤', "\n")
                .replace("OUT", &victim(&up))
                .replace("ABS", &victim(out))
        });
        let field = Self {
            dir: dir.into(),
            out: out.into(),
            texts: texts.collect(),
        };
        for (place, text) in field.texts.iter().enumerate() {
            let (own, out) = (field.own(place), field.out.join(name(place)));
            std::fs::create_dir_all(&own).unwrap();
            std::fs::create_dir_all(out.join("tree")).unwrap();
            for (path, content) in [
                (own.join("command"), text.as_str()),
                (own.join("mine"), "mine\n"),
                (own.join("victim"), "another\n"),
                (out.join(VICTIMS[0]), PRECIOUS),
                (out.join(VICTIMS[1]), PRECIOUS),
            ] {
                std::fs::write(path, content).unwrap();
            }
        }
        field
    }

    fn own(&self, place: usize) -> PathBuf {
        self.dir.join("in").join(name(place))
    }

    fn survives(&self, place: usize) -> bool {
        VICTIMS.iter().all(|victim| {
            let path = self.out.join(name(place)).join(victim);
            std::fs::read(path).is_ok_and(|content| content == PRECIOUS.as_bytes())
        })
    }

    /// The commands whose victims are (not) whole any more, with what each said.
    fn told(&self, whole: bool) -> Vec<String> {
        let told = |place: usize| {
            let output = std::fs::read(self.own(place).join("output")).unwrap_or_default();
            let said = String::from_utf8_lossy(&output).into_owned();
            format!("{}\n    said: {said}", self.texts[place])
        };
        let places = (0..self.texts.len()).filter(|place| self.survives(*place) == whole);
        places.map(told).collect()
    }

    #[track_caller]
    pub(super) fn assert_all_destroyed(&self) {
        let whole = self.told(true);
        assert!(
            whole.is_empty(),
            "these destroy nothing:\n{}",
            whole.join("\n")
        );
    }

    #[track_caller]
    pub(super) fn assert_all_survive(&self) {
        let unmade = |place: &usize| !self.own(*place).join("output").exists();
        let unmade: Vec<&String> = (0..self.texts.len())
            .filter(unmade)
            .map(|place| &self.texts[place])
            .collect();
        assert!(unmade.is_empty(), "these were not run: {unmade:#?}");
        let lost = self.told(false);
        assert!(lost.is_empty(), "these got out:\n{}", lost.join("\n"));
    }
}

fn name(place: usize) -> String {
    format!("{place:03}")
}

/// The way from the directory `from` to `to`, both absolute.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let common = from
        .components()
        .zip(to.components())
        .take_while(|(a, b)| a == b)
        .count();
    let up = from.components().skip(common).map(|_| Path::new(".."));
    let down = to
        .components()
        .skip(common)
        .map(|part| Path::new(part.as_os_str()));
    up.chain(down).collect()
}

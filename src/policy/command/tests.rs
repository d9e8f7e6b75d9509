//! Commands that run other commands.

use super::*;
use crate::policy::shell::{Step, Word, parse};

fn shown(text: &str) -> Vec<String> {
    let unit = parse(text)
        .steps
        .into_iter()
        .rev()
        .find_map(|step| match step {
            Step::Run(simple) => Unit::new(simple.words, simple.fed),
            _ => None,
        })
        .unwrap();
    inner(&unit)
        .into_iter()
        .map(|inner| match inner {
            Inner::Command(unit) => unit
                .words
                .iter()
                .map(Word::shown)
                .collect::<Vec<_>>()
                .join(" "),
            Inner::Script(text) => format!("script {text}"),
            Inner::Unknown(_) => "unknown".into(),
        })
        .collect()
}

#[test]
fn prefixes_are_looked_through() {
    for (text, runs) in [
        ("env rm x", "rm x"),
        ("env -i A=1 -u B C=2 rm x", "rm x"),
        ("timeout 5 rm x", "rm x"),
        ("timeout -s KILL --kill-after=3 5 rm x", "rm x"),
        ("nice rm x", "rm x"),
        ("nice -n 5 rm x", "rm x"),
        ("nice -5 rm x", "rm x"),
        ("nice -n5 rm x", "rm x"),
        ("nohup -- rm x", "rm x"),
        ("time -p rm x", "rm x"),
        ("command rm x", "rm x"),
        ("command -p rm x", "rm x"),
        ("exec -a name rm x", "rm x"),
        ("xargs rm", "rm"),
        ("xargs -0 -n 1 -I X rm X", "rm X"),
        ("xargs -n1 -P4 rm", "rm"),
        ("stdbuf -oL rm x", "rm x"),
        ("setsid -f rm x", "rm x"),
        ("busybox rm x", "rm x"),
        ("strace -f -o log rm x", "rm x"),
    ] {
        assert_eq!(shown(text), [runs], "{text}");
    }
}

#[test]
fn an_option_that_is_not_known_may_take_a_value_or_not() {
    assert_eq!(shown("timeout --odd 5 rm x"), ["rm x", "x"]);
    assert_eq!(shown("nohup --odd rm x"), ["rm x", "x"]);
}

#[test]
fn what_only_looks_like_running_something() {
    for text in [
        "command -v rm",
        "env",
        "time",
        "xargs",
        "sh script.sh x",
        "bash -e script.sh",
        "trap - INT",
        "trap",
        "source env.sh",
        ". ./x",
        "find . -name x",
        "sh",
        "alias",
        "git commit -m x",
    ] {
        assert_eq!(shown(text), [""; 0], "{text}");
    }
}

#[test]
fn texts_are_read_as_scripts() {
    for (text, runs) in [
        ("sh -c 'rm x' a b", "script rm x"),
        ("bash -ec 'rm x'", "script rm x"),
        ("bash -o pipefail -c 'rm x'", "script rm x"),
        ("eval rm 'x y'", "script rm x y"),
        ("trap 'rm x' EXIT INT", "script rm x"),
        ("alias ls='rm x'", "script rm x"),
        ("git submodule foreach --recursive 'rm x'", "script rm x"),
        ("git rebase -i --exec 'rm x' main", "script rm x"),
        ("git -C d bisect run rm x", "rm x"),
        ("script -c 'rm x' /dev/null", "script rm x"),
    ] {
        assert_eq!(shown(text), [runs], "{text}");
    }
    assert!(shown("watch -n 1 rm x").contains(&"script rm x".to_owned()));
}

#[test]
fn what_is_only_known_when_it_runs() {
    for text in [
        "a | sh",
        "a | bash -s x",
        "bash <<EOF\nrm x\nEOF",
        "sh < x",
        "bash <(a)",
        "sh -c \"$X\"",
        "eval \"$(a)\"",
        "eval $X",
        ". <(a)",
        "source /dev/stdin",
        "env -S 'rm x'",
        "a | parallel rm",
        "a | bash /dev/stdin",
    ] {
        assert!(shown(text).contains(&"unknown".to_owned()), "{text}");
    }
    assert!(shown("a | xargs -I{} {}").contains(&"unknown".to_owned()));
    assert!(shown("a | xargs -I% % x").contains(&"unknown".to_owned()));
}

#[test]
fn find_runs_its_command_on_the_places_where_it_looks() {
    assert_eq!(
        shown(r"find /a b -name x -exec rm -f {} \; -exec cat {} +"),
        ["rm -f /a", "rm -f b", "cat /a", "cat b"]
    );
    assert_eq!(shown(r"find -exec sed -i s/a/b/ {} +"), ["sed -i s/a/b/ ."]);
}

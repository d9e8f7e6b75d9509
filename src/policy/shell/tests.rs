//! What is read from shell texts.

use super::*;

fn run(text: &str) -> Vec<String> {
    parse(text)
        .steps
        .iter()
        .filter_map(|step| match step {
            Step::Run(simple) => Some(
                simple
                    .words
                    .iter()
                    .map(Word::shown)
                    .collect::<Vec<_>>()
                    .join("|"),
            ),
            _ => None,
        })
        .collect()
}

fn written(text: &str) -> Vec<String> {
    parse(text)
        .steps
        .iter()
        .filter_map(|step| match step {
            Step::Write(word) => Some(word.shown()),
            _ => None,
        })
        .collect()
}

#[test]
fn every_command_of_a_script_is_found_in_order() {
    for (text, commands) in [
        ("a; b && c || d | e & f", "a b c d e f"),
        (
            "a $(b $(c)) `d` \"$(e)\"",
            "c b|$(c) d e a|$(b $(c))|$(d)|$(e)",
        ),
        ("(a; b); { c; }", "a b c"),
        ("if a; then b; elif c; then d; else e; fi", "a b c d e"),
        ("for x in $(a); do b; done; while c; do d; done", "a b c d"),
        ("f() { a; }; function g { b; }; f", "a b f"),
        ("case $(a) in b) c;; *) d;; esac", "a c d"),
        ("a <(b) >(c) > >(d)", "d b c a|<(b)|>(c)"),
        ("x=$(a) b; y=$(c); z=(1 $(d))", "a b c d"),
        (
            "echo $(( $(a) + 1 )) ${x:-$(b)}",
            "a b echo|$(( $(a) + 1 ))|${x:-$(b)}",
        ),
        ("[[ -f x && $(a) ]] && [ $(b) ]", "a b"),
        ("! a; time b", "a time|b"),
        ("a <<EOF\n$(b)\nEOF\nc", "b a c"),
        ("a <<'EOF'\n$(b)\nEOF\nc", "a c"),
        ("cat <<EOF | sh > y\n$(b)\nEOF\n", "sh b cat"),
        ("export X=$(a)", "a export|X=$(a)"),
        ("# a\nb # c", "b"),
    ] {
        assert_eq!(run(text).join(" "), commands, "{text}");
        assert_eq!(parse(text).unclear, None, "{text}");
    }
}

#[test]
fn words_say_what_they_run() {
    for (text, words) in [
        (r"r\m 'a b' x", "rm|a b|x"),
        (r"$'\x72\155' $'a\tb' $'\u0041'", "rm|a\tb|A"),
        (r#""r"m "a \"b\" \$c" ''"#, r#"rm|a "b" $c|"#),
        ("x \"  $a  b  \" \"$a $b\"", "x|  $a  b  |$a $b"),
        (
            "x {a,b}c {1..3} a{x,{y,z}} {} \"{a,b}\" {a}",
            "x|ac|bc|1|ax|ay|ax|az|{}|{a,b}|{a}",
        ),
        (
            "mkdir src/{a,b}/{c,d}",
            "mkdir|src/a/c|src/a/d|src/b/c|src/b/d",
        ),
        ("rm${IFS}-rf", "rm$IFS-rf"),
        ("echo >f x y", "echo|x|y"),
        (">f echo x", "echo|x"),
        ("a \\\n  b", "a|b"),
        ("x $\"rm\"", "x|rm"),
        ("git log --format='%h %s'", "git|log|--format=%h %s"),
    ] {
        assert_eq!(run(text).join(" "), words, "{text}");
    }
}

#[test]
fn other_scripts_and_emoji_are_letters_of_words() {
    for (text, words) in [
        (
            "echo \u{1f680}\u{1f680}>é 'ß ü' \"漢$a字\" | grep -c ✓",
            "echo|\u{1f680}\u{1f680}|ß ü|漢$a字 grep|-c|✓",
        ),
        (
            "git commit -m '🎉 done' && ls café/*.rs",
            "git|commit|-m|🎉 done ls|café/*.rs",
        ),
        (
            "x=🎉; a[🎉]=1; echo $((🎉)) ${x/🎉/b}",
            "echo|$((🎉))|${x/🎉/b}",
        ),
        ("cat <<EOF\n🎉 it's\nEOF\nls", "cat ls"),
    ] {
        assert_eq!(run(text).join(" "), words, "{text}");
    }
    for text in ["cat <<é\nà\n'\né\nsudo x #'", "é=1 rm x"] {
        assert!(parse(text).unclear.is_some(), "{text}");
    }
}

#[test]
fn only_redirects_that_write_count() {
    for (text, files) in [
        ("a > b >> c >| d &> e &>> f >& h", "b c d e f h"),
        ("a 2>b 3>>c", "b c"),
        ("a 2>&1 >&2 2>&- <&3 >&3- < in", ""),
        ("{ a; } > b; (c) > d; while e; do f; done > g", "b d g"),
        ("> b", "b"),
        ("cat <<EOF > b\nx\nEOF", "b"),
        ("exec 3> b", "b"),
        ("a > $x", "$x"),
    ] {
        assert_eq!(written(text).join(" "), files, "{text}");
    }
}

#[test]
fn what_is_fed_is_known() {
    let fed = |text: &str| {
        let all: Vec<bool> = parse(text)
            .steps
            .iter()
            .filter_map(|step| match step {
                Step::Run(simple) => Some(simple.fed),
                _ => None,
            })
            .collect();
        all
    };
    assert_eq!(fed("a | b | c"), [false, true, true]);
    assert_eq!(fed("a < x; b <<< y; c"), [true, true, false]);
    assert_eq!(fed("a <<EOF\nx\nEOF\nb"), [true, false]);
    assert_eq!(fed("a | (b; $(c))"), [false, false, false, false]);
    assert_eq!(fed("a | { b; }"), [false, true]);
    assert_eq!(fed("a | while b; do c; done"), [false, true, true]);
}

#[test]
fn what_is_not_understood_is_said() {
    for text in [
        "a (",
        "if a; then",
        "a 'b",
        "a \"b",
        "$(a",
        "a; }",
        "then a",
        "a <> b",
        "s\\\nudo x",
        "a\u{a0}b",
        "a\u{1b}b",
        "coproc N { a; }",
    ] {
        assert!(parse(text).unclear.is_some(), "{text}");
    }
    let deep = "$(".repeat(5000) + &")".repeat(5000);
    assert!(parse(&deep).unclear.is_some());
}

#[test]
fn fork_bombs_are_seen_and_ordinary_functions_are_not() {
    for bomb in [
        ":(){ :|:& };:",
        "b() { b | b & }; b",
        "f() { f & f; }",
        "function f { (f &) }",
    ] {
        assert!(parse(bomb).fork_bomb, "{bomb}");
    }
    for fine in [
        "f() { g & }; f",
        "build() { cargo build & }",
        "f() { f x; }",
        "f() { a | b; }; f | f",
    ] {
        assert!(!parse(fine).fork_bomb, "{fine}");
    }
}

/// The parser's scanner reads foreign memory for a late character where it expects `{1..9}`.
#[test]
fn characters_far_up_after_a_brace_are_words_like_others() {
    for far in ['ā', '→', '日', '🦀', '\u{e0100}', '\u{10fffd}'] {
        for text in ["{%", "{%}"] {
            let word = text.replace('%', &far.to_string());
            assert_eq!(run(&format!("rm {word}")), [format!("rm|{word}")]);
        }
        for text in ["{1%}", "{1..%}", "{12..3%}", "{%%..", "{%,b}"] {
            let word = text.replace('%', &far.to_string());
            let found = run(&format!("rm {word}"));
            assert!(found.iter().any(|run| run.starts_with("rm|")), "{found:?}");
        }
    }
}

//! From the parser's tree to the steps of a script.

use tree_sitter::{Node, Tree};

use super::script::{Script, Simple, Step};
use super::word::Word;
use super::words::{single, text_of, words};

/// Deeper nesting is not looked into.
const DEEPEST: usize = 120;

/// So many steps loops may grow to.
const MOST_REPEATED: usize = 10_000;

const INCOMPLETE: &str = "it is not complete shell text";

/// Names that a parser only sees as commands when it has lost its way.
const RESERVED: [&str; 17] = [
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for",
    "in", "function", "{", "}", "[[",
];

/// The steps of `tree`, which was made of `source`.
pub(super) fn read(tree: &Tree, source: &str) -> Script {
    let mut reading = Reading {
        source,
        script: Script::default(),
    };
    if tree.root_node().has_error() {
        reading.unclear(INCOMPLETE);
    }
    reading.visit(tree.root_node(), Context::default());
    reading.script
}

/// Where a node stands.
#[derive(Debug, Clone, Copy, Default)]
struct Context {
    fed: bool,
    depth: usize,
}

struct Reading<'a> {
    source: &'a str,
    script: Script,
}

impl Reading<'_> {
    fn unclear(&mut self, why: &str) {
        self.script.unclear.get_or_insert_with(|| why.into());
    }

    fn visit(&mut self, node: Node<'_>, context: Context) {
        if context.depth > DEEPEST {
            return self.unclear("it is nested too deeply to be judged");
        }
        let context = Context {
            depth: context.depth + 1,
            ..context
        };
        match node.kind() {
            "command" => self.command(node, &[], context),
            "declaration_command" | "unset_command" => self.declaration(node, context),
            "variable_assignment" => self.assignment(node, context),
            "file_redirect" => {
                self.redirect(node, context);
            }
            "redirected_statement" => self.redirected(node, context),
            "pipeline" => self.pipeline(node, context),
            "subshell" | "command_substitution" | "process_substitution" => {
                self.apart(
                    node,
                    Context {
                        fed: false,
                        ..context
                    },
                );
            }
            "for_statement" => self.for_loop(node, context),
            // To the parser they are all alike, to the shell they end at different lines.
            "heredoc_start" if !text_of(node, self.source).is_ascii() => {
                self.unclear("the delimiter of a text is not ASCII");
            }
            "heredoc_body" => self.text(node, context),
            "while_statement" | "c_style_for_statement" => {
                let begin = self.script.steps.len();
                self.children(node, context);
                self.again(begin);
            }
            "function_definition" => self.function(node, context),
            _ => self.children(node, context),
        }
    }

    fn children(&mut self, node: Node<'_>, context: Context) {
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.visit(child, context);
        }
    }

    /// The text of a here-document. The tree holds its `$(…)`, what stands between backquotes is letters to it.
    fn text(&mut self, node: Node<'_>, context: Context) {
        self.children(node, context);
        let mut cursor = node.walk();
        let literal = node.parent().is_some_and(|parent| {
            parent
                .children(&mut cursor)
                .filter(|child| child.kind() == "heredoc_start")
                .any(|start| text_of(start, self.source).contains(['\'', '"', '\\']))
        });
        if literal {
            return;
        }
        for command in between_backquotes(text_of(node, self.source)) {
            self.script.steps.push(Step::Run(Simple {
                words: vec![Word::exact("eval"), Word::exact(&command)],
                ..Simple::default()
            }));
        }
    }

    fn apart(&mut self, node: Node<'_>, context: Context) {
        self.script.steps.push(Step::Enter);
        self.children(node, context);
        self.script.steps.push(Step::Leave);
    }

    /// `more`: arguments that stand behind a redirect.
    fn command(&mut self, node: Node<'_>, more: &[Word], context: Context) {
        let mut simple = Simple {
            fed: context.fed,
            ..Simple::default()
        };
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => {
                    self.children(child, context);
                    simple.assigned.extend(self.assigned(child));
                }
                "file_redirect" => {
                    let behind = self.redirect(child, context);
                    simple.words.extend(behind);
                }
                "herestring_redirect" | "heredoc_redirect" => {
                    simple.fed = true;
                    self.visit(child, context);
                }
                "comment" => {}
                // Of `$"…"`, a string to be translated.
                "$" if child.next_sibling().is_some_and(|next| {
                    next.kind() == "string" && next.start_byte() == child.end_byte()
                }) => {}
                _ => {
                    self.inside(child, context);
                    simple.words.extend(words(child, self.source));
                }
            }
        }
        simple.words.extend_from_slice(more);
        let reserved = simple
            .words
            .first()
            .and_then(Word::known)
            .is_some_and(|name| RESERVED.contains(&name));
        if reserved {
            self.unclear(INCOMPLETE);
        }
        if simple.words.is_empty() {
            for (name, value) in simple.assigned {
                self.script.steps.push(Step::Assign(name, value));
            }
        } else {
            self.script.steps.push(Step::Run(simple));
        }
    }

    /// The substitutions within a word; its own text is not a command.
    fn inside(&mut self, node: Node<'_>, context: Context) {
        if matches!(
            node.kind(),
            "command_substitution" | "process_substitution" | "subshell"
        ) {
            self.visit(node, context);
        } else {
            self.children(node, context);
        }
    }

    fn assigned(&mut self, node: Node<'_>) -> Option<(String, Word)> {
        let name = node.child_by_field_name("name")?;
        let value = node
            .child_by_field_name("value")
            .map_or_else(Word::default, |value| single(value, self.source));
        let name = text_of(name, self.source);
        if !name.is_ascii() {
            self.unclear("the name of a variable is not ASCII, so it is a command");
        }
        Some((name.into(), value))
    }

    fn assignment(&mut self, node: Node<'_>, context: Context) {
        self.children(node, context);
        if let Some((name, value)) = self.assigned(node) {
            self.script.steps.push(Step::Assign(name, value));
        }
    }

    fn declaration(&mut self, node: Node<'_>, context: Context) {
        let mut simple = Simple::default();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            if child.kind() == "variable_assignment" {
                self.assignment(child, context);
            } else {
                self.inside(child, context);
            }
            simple.words.extend(words(child, self.source));
        }
        self.script.steps.push(Step::Run(simple));
    }

    /// What stands behind the target belongs to the command.
    fn redirect(&mut self, node: Node<'_>, context: Context) -> Vec<Word> {
        let mut operator = "";
        let mut targets = Vec::new();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "file_descriptor" | "variable_name" => {}
                _ if !child.is_named() => operator = text_of(child, self.source),
                _ => {
                    self.inside(child, context);
                    targets.extend(words(child, self.source));
                }
            }
        }
        if targets.is_empty() {
            return targets;
        }
        let behind = targets.split_off(1);
        let target = targets.remove(0);
        let connects = ["/dev/tcp/", "/dev/udp/"]
            .iter()
            .any(|net| target.beginning().starts_with(net));
        if writes(operator, &target) || connects {
            self.script.steps.push(Step::Write(target));
        }
        behind
    }

    fn redirected(&mut self, node: Node<'_>, context: Context) {
        let mut fed = context.fed;
        let mut behind = Vec::new();
        let mut cursor = node.walk();
        let (mut bodies, mut redirects) = (Vec::new(), Vec::new());
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "file_redirect" => {
                    fed |= text_of(child, self.source)
                        .trim_start_matches(|c: char| c.is_ascii_digit())
                        .starts_with('<');
                    redirects.push(child);
                }
                "herestring_redirect" | "heredoc_redirect" => {
                    fed = true;
                    redirects.push(child);
                }
                _ => bodies.push(child),
            }
        }
        // `cd x && a > b`: the tree gives the redirect to the whole list, the shell to its last command.
        let late = bodies.iter().any(|body| body.kind() == "list");
        let inner = Context { fed, ..context };
        if late {
            for body in &bodies {
                self.visit(*body, inner);
            }
        }
        for redirect in redirects {
            if redirect.kind() == "file_redirect" {
                behind.extend(self.redirect(redirect, context));
            } else {
                // A pipe may go on behind the delimiter: `cat <<EOF | sh`.
                self.children(
                    redirect,
                    Context {
                        fed: true,
                        ..context
                    },
                );
            }
        }
        for body in bodies.into_iter().filter(|_| !late) {
            if body.kind() == "command" {
                self.command(body, &behind, inner);
            } else {
                self.visit(body, inner);
            }
        }
    }

    fn pipeline(&mut self, node: Node<'_>, context: Context) {
        let mut cursor = node.walk();
        for (place, child) in node.named_children(&mut cursor).enumerate() {
            self.script.steps.push(Step::Enter);
            let fed = context.fed || place > 0;
            self.visit(child, Context { fed, ..context });
            self.script.steps.push(Step::Leave);
        }
    }

    fn for_loop(&mut self, node: Node<'_>, context: Context) {
        let mut each = Vec::new();
        let mut cursor = node.walk();
        for value in node.children_by_field_name("value", &mut cursor) {
            self.inside(value, context);
            each.extend(words(value, self.source));
        }
        if let Some(variable) = node.child_by_field_name("variable") {
            let name = text_of(variable, self.source).into();
            self.script.steps.push(Step::Loop(name, each));
        }
        let begin = self.script.steps.len();
        if let Some(body) = node.child_by_field_name("body") {
            self.visit(body, context);
        }
        self.again(begin);
    }

    /// The steps of a loop's body since `begin` a second time, if the first leaves the shell changed for it.
    fn again(&mut self, begin: usize) {
        let body = &self.script.steps[begin..];
        let changes = body.iter().any(|step| match step {
            Step::Assign(..) | Step::Loop(..) => true,
            Step::Run(simple) => simple
                .words
                .iter()
                .any(|word| matches!(word.known(), Some("cd" | "pushd" | "popd"))),
            Step::Write(_) | Step::Enter | Step::Leave => false,
        });
        if changes && self.script.steps.len() < MOST_REPEATED {
            self.script.steps.extend_from_within(begin..);
        } else if changes {
            self.unclear("its loops are too long to be judged");
        }
    }

    fn function(&mut self, node: Node<'_>, context: Context) {
        let name = node
            .child_by_field_name("name")
            .map(|name| text_of(name, self.source));
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if Some(child) == node.child_by_field_name("name") {
                continue;
            }
            let multiplies = name.is_some_and(|name| starts_itself(child, name, self.source, 0));
            self.script.fork_bomb |= multiplies;
            self.visit(child, context);
        }
    }
}

/// The commands in a text as the shell finds them; an open one is taken to its end.
fn between_backquotes(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    let mut chars = text.chars();
    while let Some(ch) = chars.next() {
        match (ch, &mut open) {
            ('\\', Some(command)) => match chars.next() {
                Some(next @ ('`' | '$' | '\\')) => command.push(next),
                next => command.extend(['\\'].into_iter().chain(next)),
            },
            ('\\', None) => {
                chars.next();
            }
            ('`', Some(_)) => found.extend(open.take()),
            ('`', None) => open = Some(String::new()),
            (ch, Some(command)) => command.push(ch),
            (_, None) => {}
        }
    }
    found.into_iter().chain(open).collect()
}

/// Whether a redirect with `operator` opens `target` for writing; `2>&1` and `>&-` open nothing.
fn writes(operator: &str, target: &Word) -> bool {
    let duplicates = target.known().is_some_and(|text| {
        text == "-"
            || text
                .trim_end_matches('-')
                .chars()
                .all(|c| c.is_ascii_digit())
    });
    match operator {
        ">&" | "<&" => !duplicates,
        _ => operator.contains('>'),
    }
}

/// Whether `node` calls the function `name` in a pipe or in the background.
fn starts_itself(node: Node<'_>, name: &str, source: &str, depth: usize) -> bool {
    if depth > DEEPEST {
        return false;
    }
    let called = node.kind() == "command"
        && node
            .child_by_field_name("name")
            .is_some_and(|called| text_of(called, source) == name);
    if called {
        let aside = node.next_sibling().is_some_and(|next| next.kind() == "&");
        let piped = node
            .parent()
            .is_some_and(|parent| parent.kind() == "pipeline");
        return aside || piped;
    }
    let mut cursor = node.walk();
    node.children(&mut cursor)
        .any(|child| starts_itself(child, name, source, depth + 1))
}

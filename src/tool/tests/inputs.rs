//! Every field of every tool with everything that does not fit: refused before anything runs, and the error names the field.

use serde_json::{Map, Value, json};

use crate::tool::call::Entry;
use crate::tool::catalog;

/// All tools that there are.
fn everything() -> Vec<Entry> {
    let mut all = catalog::of(true, true, true);
    let more = catalog::of(false, false, false);
    all.extend(
        more.into_iter()
            .filter(|entry| entry.spec.name == "submit_plan"),
    );
    all
}

/// An input that has every field.
fn full(schema: &Value) -> Value {
    match schema["type"].as_str().unwrap() {
        "object" => {
            let fields = schema["properties"].as_object().unwrap();
            fields
                .iter()
                .map(|(name, field)| (name.clone(), full(field)))
                .collect::<Map<_, _>>()
                .into()
        }
        "array" => json!([full(&schema["items"])]),
        "string" => schema["enum"]
            .as_array()
            .map_or(json!("x"), |choices| choices[0].clone()),
        "integer" => json!(1),
        "boolean" => json!(true),
        other => panic!("nothing is known of {other}"),
    }
}

/// A place in an input: how to reach it, and how an error names it.
#[derive(Clone, Default)]
struct Spot {
    pointer: String,
    named: String,
}

impl Spot {
    fn field(&self, name: &str) -> Self {
        let dot = if self.named.is_empty() { "" } else { "." };
        Self {
            pointer: format!("{}/{name}", self.pointer),
            named: format!("{}{dot}{name}", self.named),
        }
    }

    fn first(&self) -> Self {
        Self {
            pointer: format!("{}/0", self.pointer),
            named: format!("{}[0]", self.named),
        }
    }
}

/// Calls `look` with every place in `schema` and what is said of it, and whether it must be there.
fn each(schema: &Value, spot: &Spot, required: bool, look: &mut dyn FnMut(&Spot, &Value, bool)) {
    look(spot, schema, required);
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let required = schema["required"]
            .as_array()
            .is_some_and(|names| names.contains(&json!(name)));
        each(field, &spot.field(name), required, look);
    }
    if let Some(items) = schema.get("items") {
        each(items, &spot.first(), true, look);
    }
}

/// The error of `entry` for `input` with `change` made in it.
fn refused(entry: &Entry, input: &Value, change: impl FnOnce(&mut Value)) -> String {
    let mut input = input.clone();
    change(&mut input);
    let why = entry.accept(&input).err();
    why.unwrap_or_else(|| panic!("{} takes {input}", entry.spec.name))
}

#[test]
fn a_whole_input_is_taken_and_optional_fields_may_be_left_out_or_null() {
    for entry in everything() {
        let schema = &entry.spec.schema;
        let input = full(schema);
        assert!(entry.accept(&input).is_ok(), "{} {input}", entry.spec.name);
        each(schema, &Spot::default(), true, &mut |spot, _, required| {
            let Some((above, name)) = spot.pointer.rsplit_once('/') else {
                return;
            };
            if required || name == "0" {
                return;
            }
            let mut without = input.clone();
            without
                .pointer_mut(above)
                .unwrap()
                .as_object_mut()
                .unwrap()
                .remove(name);
            assert!(
                entry.accept(&without).is_ok(),
                "{} {without}",
                entry.spec.name
            );
            let mut null = input.clone();
            *null.pointer_mut(&spot.pointer).unwrap() = Value::Null;
            assert!(entry.accept(&null).is_ok(), "{} {null}", entry.spec.name);
        });
    }
}

#[test]
fn whatever_does_not_fit_is_refused_by_the_name_of_its_field() {
    let others = [
        json!(null),
        json!(true),
        json!(7),
        json!("7"),
        json!(1.5),
        json!([]),
        json!([[]]),
        json!({"x": 1}),
    ];
    for entry in everything() {
        let schema = &entry.spec.schema;
        let input = full(schema);
        let tool = entry.spec.name;
        each(
            schema,
            &Spot::default(),
            true,
            &mut |spot, schema, required| {
                let quoted = format!("`{}", spot.named);
                for other in &others {
                    let fits = match schema["type"].as_str().unwrap() {
                        "object" => false,
                        "array" => *other == json!([]),
                        "string" => other.is_string() && schema.get("enum").is_none(),
                        "integer" => other.is_u64(),
                        _ => other.is_boolean(),
                    };
                    if fits || (other.is_null() && !required) {
                        continue;
                    }
                    let why = refused(&entry, &input, |input| {
                        *input.pointer_mut(&spot.pointer).unwrap() = other.clone();
                    });
                    assert!(why.starts_with(tool), "{why}");
                    let named = if spot.named.is_empty() {
                        why.contains("the input must be") || why.contains("`x` is not an argument")
                    } else {
                        why.contains(&quoted)
                    };
                    assert!(named, "{tool}: {} = {other}: {why}", spot.named);
                }
                if schema["type"] == "object" {
                    let why = refused(&entry, &input, |input| {
                        input.pointer_mut(&spot.pointer).unwrap()["no_such_field"] = json!(1);
                    });
                    let unknown =
                        format!("`{}` is not an argument", spot.field("no_such_field").named);
                    assert!(why.contains(&unknown), "{tool}: {why}");
                }
                if required
                    && let Some((above, name)) = spot
                        .pointer
                        .rsplit_once('/')
                        .filter(|(_, name)| *name != "0")
                {
                    let why = refused(&entry, &input, |input| {
                        input
                            .pointer_mut(above)
                            .unwrap()
                            .as_object_mut()
                            .unwrap()
                            .remove(name);
                    });
                    assert!(
                        why.contains(&format!("`{}` is missing", spot.named)),
                        "{tool}: {why}"
                    );
                }
            },
        );
    }
}

#[test]
fn a_number_that_is_none_is_told_as_it_was_given() {
    let entries = everything();
    let bash = entries
        .iter()
        .find(|entry| entry.spec.name == "bash")
        .unwrap();
    for (given, why) in [
        (
            json!("7"),
            "`timeout_secs` must be an integer, not a string",
        ),
        (json!(1.5), "`timeout_secs` must be an integer, not 1.5"),
        (json!(-1), "`timeout_secs` must be at least 0"),
        (json!(1e30), "`timeout_secs` must be an integer, not 1e+30"),
    ] {
        let said = refused(bash, &json!({"command": "x"}), |input| {
            input["timeout_secs"] = given.clone();
        });
        assert!(said.contains(why), "{said}");
    }
    assert!(
        bash.accept(&json!({"command": "x", "timeout_secs": 5.0}))
            .is_ok()
    );
}

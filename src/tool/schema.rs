//! Schemas of tool inputs, from their structs: inline, without noise, always the same text.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The schema of `T`, of type object.
pub(crate) fn of<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .into_generator();
    let mut schema = Value::from(generator.into_root_schema_for::<T>());
    tidy(&mut schema);
    if let Some(object) = schema.as_object_mut() {
        object.remove("description");
        object.entry("properties").or_insert_with(|| json!({}));
        object.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    schema
}

/// Drops titles, formats and null defaults, and writes an optional field as its type: it may simply be left out.
fn tidy(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    for noise in ["title", "format", "$schema"] {
        object.remove(noise);
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    drop_null(object);
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(tidy);
    }
    if let Some(items) = object.get_mut("items") {
        tidy(items);
    }
}

fn drop_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            object.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let Some(Value::Array(mut choices)) = object.remove("anyOf") else {
        return;
    };
    choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
    match choices.as_mut_slice() {
        [Value::Object(only)] => {
            for (key, value) in std::mem::take(only) {
                object.entry(key).or_insert(value);
            }
        }
        _ => {
            object.insert("anyOf".to_owned(), Value::Array(choices));
        }
    }
}

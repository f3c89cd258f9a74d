use crate::range::KnownRange;
use crate::{Fields, Validate};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// JSON schema (draft 7) of the files that [`resolve`](crate::resolve) reads: any key may be left out, the defaults and the
/// ranges are those of `T`, and `extends` names another file.
pub fn schema<T: JsonSchema + Serialize + Default + Validate>() -> Value {
    let mut schema = bare::<T>();
    let config = T::default();
    allow_gaps(&mut schema);
    let defaults = toml::to_string(&config).expect("a configuration is plain data");
    let defaults: toml::Table = toml::from_str(&defaults).expect("it was just written");
    set_defaults(&mut schema, &defaults);
    add_ranges(&mut schema, &config);
    add_extends(&mut schema);
    schema
}

/// The same of files that [`resolve_whole`](crate::resolve_whole) reads: without defaults, of which the file, or those that it
/// extends, says all.
pub fn schema_of_whole<T: JsonSchema>() -> Value {
    let mut schema = bare::<T>();
    // What a file extends may have what it lacks.
    let whole = schema.as_object_mut().and_then(|root| root.remove("required"));
    allow_gaps(&mut schema);
    add_extends(&mut schema);
    if let (Some(required), Some(root)) = (whole, schema.as_object_mut()) {
        root.insert("anyOf".to_owned(), json!([{ "required": ["extends"] }, { "required": required }]));
    }
    schema
}

/// The same of files that extend no other.
pub fn schema_of_alone<T: JsonSchema>() -> Value {
    bare::<T>()
}

fn bare<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft07();
    settings.inline_subschemas = true;
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

fn property<'a>(schema: &'a mut Value, key: &str) -> Option<&'a mut Value> {
    schema.get_mut("properties")?.get_mut(key)
}

/// Tables are merged key by key, so that a file need not have all keys of one; arrays are replaced as a whole. A table that
/// stands for one of several choices may have some keys of one.
fn allow_gaps(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    object.remove("required");
    if let Some(choices) = object.remove("oneOf") {
        object.insert("anyOf".to_owned(), choices);
    }
    for choice in object.get_mut("anyOf").and_then(Value::as_array_mut).into_iter().flatten() {
        allow_gaps(choice);
    }
    for (_, inner) in object.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        allow_gaps(inner);
    }
}

/// The defaults of what a table holds, but not of tables in it.
fn set_defaults(schema: &mut Value, table: &toml::Table) {
    for (key, value) in table {
        let Some(inner) = property(schema, key) else { continue };
        if let Some(object) = inner.as_object_mut() {
            object.remove("default");
            if !value.is_table() {
                let value = serde_json::to_value(value).expect("a value of TOML is plain data");
                object.insert("default".to_owned(), value);
            }
        }
        if let Some(table) = value.as_table() {
            set_defaults(inner, table);
        }
    }
}

/// The ranges that `config` checks its values against.
fn add_ranges(schema: &mut Value, config: &impl Validate) {
    let fields = Fields::that_take_note();
    // Fields that take note refuse no value.
    let _valid = config.check(&fields);
    for range in fields.noted() {
        let found = range.field.split('.').try_fold(&mut *schema, |schema, key| {
            let (key, in_array) = key.split_once('[').map_or((key, false), |(key, _)| (key, true));
            let inner = property(schema, key)?;
            if in_array { inner.get_mut("items") } else { Some(inner) }
        });
        let found = match found {
            Some(pair) if range.is_pair => pair.get_mut("items"),
            other => other,
        };
        if let Some(Value::Object(object)) = found {
            add_range(object, &range);
        }
    }
}

fn add_range(object: &mut Map<String, Value>, range: &KnownRange) {
    let whole = object.get("type").is_some_and(|kind| kind == "integer");
    let number = |value: f64| if whole { json!(value as i64) } else { json!(value) };
    if let Some((low, is_included)) = range.low {
        object.remove("minimum");
        object.insert(if is_included { "minimum" } else { "exclusiveMinimum" }.to_owned(), number(low));
    }
    if let Some((high, is_included)) = range.high {
        object.remove("maximum");
        object.insert(if is_included { "maximum" } else { "exclusiveMaximum" }.to_owned(), number(high));
    }
}

fn add_extends(schema: &mut Value) {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        let description =
            "The file that this one changes, relative to this one. Tables are merged key by key.";
        properties.insert("extends".to_owned(), json!({ "type": "string", "description": description }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OutOfRange;

    /// How something is trained.
    #[derive(Serialize, serde::Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Training {
        /// Steps, 100 by default.
        steps: usize,
        rate: f32,
        span_s: [f32; 2],
        shape: Shape,
    }

    #[derive(Serialize, serde::Deserialize, JsonSchema)]
    #[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
    enum Shape {
        Flat {},
        Slope { angle_deg: f32, heading_deg: f32 },
    }

    #[derive(Serialize, serde::Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Config {
        training: Training,
    }

    impl Default for Config {
        fn default() -> Self {
            let shape = Shape::Slope { angle_deg: 8.0, heading_deg: 0.0 };
            Self { training: Training { steps: 100, rate: 0.1, span_s: [1.0, 2.0], shape } }
        }
    }

    impl Validate for Config {
        fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
            let fields = fields.section("training");
            fields.within("steps", self.training.steps, 1..)?;
            fields.within("rate", self.training.rate, 0.0..0.7)?;
            fields.pair_within("span_s", self.training.span_s, 0.5..=9.0)
        }
    }

    #[test]
    fn a_field_has_the_words_the_default_and_the_range_of_its_struct() {
        let schema = schema::<Config>();
        let training = &schema["properties"]["training"]["properties"];
        let steps = &training["steps"];
        assert_eq!((&steps["minimum"], &steps["default"]), (&json!(1), &json!(100)), "{steps}");
        assert_eq!(steps["description"], "Steps, 100 by default.");
        let rate = &training["rate"];
        assert_eq!((&rate["minimum"], &rate["exclusiveMaximum"]), (&json!(0.0), &json!(0.7)));
        assert_eq!(rate["default"], json!(0.1), "a single-precision number in its own digits");
        assert_eq!(training["span_s"]["items"]["maximum"], json!(9.0));
    }

    #[test]
    fn keys_may_be_left_out_but_none_is_unknown() {
        let schema = schema::<Config>();
        assert!(schema.get("required").is_none() && schema["properties"]["extends"]["type"] == "string");
        let training = &schema["properties"]["training"];
        assert!(training.get("required").is_none());
        assert_eq!(training["additionalProperties"], json!(false));
        let slope = &training["properties"]["shape"]["anyOf"][1];
        assert!(slope.get("required").is_none() && slope["additionalProperties"] == json!(false), "{slope}");
    }

    #[test]
    fn a_whole_file_has_all_keys_or_extends_another() {
        let schema = schema_of_whole::<Config>();
        let choices = json!([{ "required": ["extends"] }, { "required": ["training"] }]);
        assert_eq!(schema["anyOf"], choices);
        assert_eq!(schema_of_alone::<Config>()["required"], json!(["training"]));
    }
}

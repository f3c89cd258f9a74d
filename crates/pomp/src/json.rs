//! What `--json` prints.

use anyhow::{Result, anyhow};
use pomp_eval::Summary;
use serde::Serialize;
use serde_json::Value;

/// Prints an object with `"schema": "pomp/NAME/1"`. The number counts up when a field changes its meaning or goes.
pub fn print(name: &str, figures: &impl Serialize) -> Result<()> {
    println!("{:#}", with_schema(name, figures)?);
    Ok(())
}

/// The object that [`print()`] prints, for commands that also write it to a file.
pub fn with_schema(name: &str, figures: &impl Serialize) -> Result<Value> {
    let mut value = plain(figures)?;
    let object = value.as_object_mut().ok_or_else(|| anyhow!("the figures of {name} are no object"))?;
    object.insert("schema".to_owned(), format!("pomp/{name}/1").into());
    Ok(value)
}

/// Data as JSON, through its text: 0.06 in 32 bits is 0.06, not 0.05999999865889549.
pub fn plain(data: &impl Serialize) -> Result<Value> {
    Ok(serde_json::from_str(&serde_json::to_string(data)?)?)
}

/// Means by the names of the metrics; `null` where a metric applies to no recording.
pub fn of_summary(summary: &Summary) -> Value {
    let rows = summary.rows.iter().map(|row| (row.info.name.to_owned(), serde_json::json!(row.estimate)));
    Value::Object(rows.collect())
}

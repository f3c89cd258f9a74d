//! Methods that differ by how some settings of the closed loop are scaled.

use crate::config::{Method, MethodKind};
use pomp_config::{Fields, OutOfRange, Validate};
use pomp_generator::GeneratorConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Closed loops for every combination of the axes' scales. One is named by the grid, the axes and their scales, such as
/// `assist_force050_torque100`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// First part of the names of the methods.
    pub name: String,
    /// One line for the reader of the report.
    pub about: String,
    /// The closed loop that is scaled; what is left out has its default.
    pub closed_loop: GeneratorConfig,
    /// The axes; the last changes first from method to method.
    pub axis: Vec<GridAxis>,
}

/// Settings that are scaled alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GridAxis {
    /// Name in those of the methods.
    pub name: String,
    /// Numbers of the closed loop's settings, such as "dynamic.assist.horizontal_limit_bw".
    pub keys: Vec<String>,
    /// Shares of the numbers in `closed_loop`, percent.
    pub percent: Vec<u32>,
}

impl Grid {
    /// The methods of all combinations.
    ///
    /// # Panics
    /// When the grid has not been checked and a key is not one of the settings' numbers.
    pub fn methods(&self) -> Vec<Method> {
        self.combined().expect("the grid was checked")
    }

    /// The methods; `None` where a key is not one of the settings' numbers, or a setting is no number that a file can hold.
    fn combined(&self) -> Option<Vec<Method>> {
        let mut made = vec![(self.name.clone(), self.about.clone(), self.settings())];
        for axis in &self.axis {
            let mut more = Vec::with_capacity(made.len() * axis.percent.len());
            for (name, about, settings) in made {
                for percent in &axis.percent {
                    let mut settings = settings.clone();
                    for key in &axis.keys {
                        let number = number_at(&mut settings, key)?;
                        *number = Value::from(number.as_f64()? * f64::from(*percent) / 100.0);
                    }
                    let name = format!("{name}_{}{percent:03}", axis.name);
                    more.push((name, format!("{about}; {} {percent} %", axis.name), settings));
                }
            }
            made = more;
        }
        let methods = made.into_iter().map(|(name, about, settings)| {
            let kind = MethodKind::ClosedLoop(serde_json::from_value(settings).ok()?);
            Some(Method { name, about, kind })
        });
        methods.collect()
    }

    fn settings(&self) -> Value {
        serde_json::to_value(&self.closed_loop).expect("settings are plain data")
    }
}

/// The number with a fraction at a path of keys.
fn number_at<'a>(settings: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    let found = path.split('.').try_fold(settings, |table, key| table.get_mut(key))?;
    found.is_f64().then_some(found)
}

impl Validate for Grid {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        fields.holds(!self.axis.is_empty(), "axis", "[]", "at least one [[grid.axis]]")?;
        self.closed_loop.check(&fields.section("closed_loop"))?;
        let mut settings = self.settings();
        for (index, axis) in self.axis.iter().enumerate() {
            let fields = fields.section(format!("axis[{index}]"));
            fields.holds(!axis.keys.is_empty(), "keys", "[]", "at least one setting")?;
            fields.holds(!axis.percent.is_empty(), "percent", "[]", "at least one share")?;
            for key in &axis.keys {
                let known = number_at(&mut settings, key).is_some();
                fields.holds(known, "keys", format!("\"{key}\""), "numbers of the closed loop's settings")?;
            }
            for percent in &axis.percent {
                fields.within("percent", *percent, 0..=1000)?;
            }
        }
        let told = "settings that are no numbers";
        fields.holds(self.combined().is_some(), "closed_loop", told, "numbers that a file can hold")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(keys: &str) -> Grid {
        let text = format!(
            "name = \"assist\"\nabout = \"bounds\"\nclosed_loop = {{}}\n\
             [[axis]]\nname = \"force\"\nkeys = {keys}\npercent = [0, 50, 100]\n\
             [[axis]]\nname = \"torque\"\nkeys = [\"dynamic.assist.angular_limit_bw_m\"]\npercent = [0, 100]\n"
        );
        toml::from_str(&text).unwrap()
    }

    #[test]
    fn a_grid_has_a_method_for_every_combination_with_its_settings_scaled() {
        let grid = grid("[\"dynamic.assist.horizontal_limit_bw\", \"dynamic.assist.struck_limit_bw\"]");
        grid.check(&Fields::root()).unwrap();
        let methods = grid.methods();
        let names: Vec<&str> = methods.iter().map(|method| method.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "assist_force000_torque000",
                "assist_force000_torque100",
                "assist_force050_torque000",
                "assist_force050_torque100",
                "assist_force100_torque000",
                "assist_force100_torque100",
            ]
        );
        let settings = |at: usize| match &methods[at].kind {
            MethodKind::ClosedLoop(settings) => settings.clone(),
            other => panic!("{other:?}"),
        };
        let whole = GeneratorConfig::default();
        assert_eq!(settings(5), whole, "all of everything is the default, to the bit");
        let half = settings(2).dynamic.assist;
        assert_eq!(half.horizontal_limit_bw, 0.5 * whole.dynamic.assist.horizontal_limit_bw);
        assert_eq!(half.struck_limit_bw, 0.5 * whole.dynamic.assist.struck_limit_bw);
        assert_eq!(half.angular_limit_bw_m, 0.0);
        assert_eq!(half.settle_s, whole.dynamic.assist.settle_s);
    }

    #[test]
    fn rejects_keys_that_are_no_numbers_of_the_settings() {
        for keys in [
            "[\"dynamic.assist.horizontal_limit\"]",
            "[\"dynamic.assist\"]",
            "[\"dynamic.steps_per_frame\"]",
            "[]",
        ] {
            let error = grid(keys).check(&Fields::root()).unwrap_err().to_string();
            assert!(error.contains("axis[0].keys"), "{keys}: {error}");
        }
    }
}

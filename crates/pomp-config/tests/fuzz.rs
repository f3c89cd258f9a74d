//! Fuzz target of configuration files: whatever files and settings hold, they are refused or read, and what is shown of a
//! configuration reads the same.

#![allow(clippy::unwrap_used, reason = "a test may panic, also in the functions it shares")]

#[path = "../../../tests/fuzz_input.rs"]
mod fuzz_input;

use fuzz_input::{FuzzInput, ITERATIONS, bounded};
use pomp_config::{Fields, Origin, OutOfRange, Validate, resolve};
use serde::{Deserialize, Serialize};
use std::fs;

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Config {
    name: String,
    training: Training,
    ground: Vec<Ground>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Training {
    steps: usize,
    rate: f32,
    widths: Vec<usize>,
}

impl Default for Training {
    fn default() -> Self {
        Self { steps: 100, rate: 0.1, widths: vec![8, 8] }
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ground {
    share: f32,
    shape: Shape,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Shape {
    Flat {},
    Slope { angle_deg: f32 },
}

impl Validate for Config {
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
        let training = fields.section("training");
        training.within("steps", self.training.steps, 1..)?;
        training.within("rate", self.training.rate, 0.0..=1e9)?;
        for (index, ground) in self.ground.iter().enumerate() {
            let fields = fields.section(format!("ground[{index}]"));
            fields.within("share", ground.share, 0.0..=1.0)?;
            if let Shape::Slope { angle_deg } = ground.shape {
                fields.within("shape.angle_deg", angle_deg, -60.0..=60.0)?;
            }
        }
        Ok(())
    }
}

#[test]
fn any_files_and_settings_are_refused_or_read_and_shown_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let (base, over) = (folder.path().join("base.toml"), folder.path().join("over.toml"));
    let base_text = "name = \"base\"\n[training]\nsteps = 10\nwidths = [1, 2]\n[[ground]]\nshare = 0.5\n\
        shape = { kind = \"slope\", angle_deg = 3.0 }\n[[ground]]\nshare = 1\nshape.kind = \"flat\"\n";
    let over_text = "extends = \"base.toml\"\ntraining.rate = 0.5\nname = 'ü'\n";
    let (base_examples, over_examples) = ([base_text.as_bytes().to_vec()], [over_text.as_bytes().to_vec()]);
    let settings = ["training.steps=3", "name=bare words", "training.widths=[1]", "ground=[]"]
        .map(|setting| setting.as_bytes().to_vec());
    let words = [
        "extends = \"over.toml\"\n",
        "[training]\n",
        "[[ground]]\n",
        "\"\"\"",
        "'",
        "{",
        "}",
        "[",
        "]",
        "=",
        ".",
        "\n",
        "#",
        "\u{feff}",
        "\u{e9}",
        "nan",
        "inf",
        "\\u0000",
        "1979-05-27",
        "\r",
    ];
    bolero::check!().with_iterations(ITERATIONS).with_type::<FuzzInput>().for_each(|input| {
        let changed = |at: usize, examples: &[Vec<u8>]| {
            if input.choice(3) == at {
                input.bytes(examples, &words)
            } else {
                examples[input.choice(examples.len())].clone()
            }
        };
        fs::write(&base, changed(0, &base_examples)).unwrap();
        fs::write(&over, changed(1, &over_examples)).unwrap();
        let setting = String::from_utf8_lossy(&changed(2, &settings)).into_owned();
        match bounded(16, || resolve::<Config>(Origin::File(&over), &[setting])) {
            Err(error) => assert!(!error.to_string().is_empty()),
            Ok(found) => {
                let shown: Result<Config, _> = toml::from_str(&found.show());
                if let Ok(config) = found.checked() {
                    assert_eq!(shown.unwrap(), config, "what is shown reads otherwise");
                }
            }
        }
    });
}

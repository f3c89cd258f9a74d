//! Styles on the command line: `zombie:0.7,stealthy:0.3`.

use std::collections::BTreeMap;

/// Weights of styles by name.
pub type StyleWeights = BTreeMap<String, f32>;

/// Styles with their weights, separated by commas; a weight that is left out is 1.
pub fn style_weights(text: &str) -> Result<StyleWeights, String> {
    let mut weights = StyleWeights::new();
    for part in text.split(',') {
        let (name, weight) = part.split_once(':').unwrap_or((part, "1"));
        let name = name.trim();
        if name.is_empty() {
            return Err("a style has no name; write NAME:WEIGHT, separated by commas".to_owned());
        }
        let weight: f32 = weight
            .trim()
            .parse()
            .ok()
            .filter(|weight| (0.0..=1.0).contains(weight))
            .ok_or_else(|| format!("the weight \"{weight}\" of {name} is not a number from 0 to 1"))?;
        if weights.insert(name.to_owned(), weight).is_some() {
            return Err(format!("the style {name} is given twice"));
        }
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_read_as_they_are_written() {
        let expected = BTreeMap::from([("stealthy".to_owned(), 0.3), ("zombie".to_owned(), 0.7)]);
        assert_eq!(style_weights("zombie:0.7, stealthy:0.3"), Ok(expected));
        assert_eq!(style_weights("zombie"), Ok(BTreeMap::from([("zombie".to_owned(), 1.0)])));
    }

    #[test]
    fn rejects_what_is_no_style_or_no_weight() {
        for (text, said) in [
            ("", "no name"),
            (":0.5", "no name"),
            ("zombie:much", "\"much\""),
            ("zombie:1.5", "from 0 to 1"),
            ("zombie:nan", "from 0 to 1"),
            ("zombie:0.5,zombie:0.2", "twice"),
        ] {
            let error = style_weights(text).expect_err(text);
            assert!(error.contains(said), "{error}");
        }
    }
}

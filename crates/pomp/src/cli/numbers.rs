//! Numbers on the command line, each refused with its range.

/// A number above `low` and at most `high`.
pub fn above(low: f32, high: f32, unit: &'static str) -> impl Fn(&str) -> Result<f32, String> + Clone {
    move |text| {
        in_range(
            text,
            |value| value > low && value <= high,
            &format!("above {low} and at most {high} {unit}"),
        )
    }
}

/// A number from `low` to `high`.
pub fn within(low: f32, high: f32, unit: &'static str) -> impl Fn(&str) -> Result<f32, String> + Clone {
    move |text| in_range(text, |value| (low..=high).contains(&value), &format!("from {low} to {high} {unit}"))
}

fn in_range(text: &str, holds: impl Fn(f32) -> bool, range: &str) -> Result<f32, String> {
    match text.trim().parse::<f32>() {
        Ok(value) if holds(value) => Ok(value),
        Ok(_) => Err(format!("give a number {range}")),
        Err(_) => Err(format!("this is not a number; give one {range}")),
    }
}

/// A whole number, 1 or more.
pub fn count(text: &str) -> Result<usize, String> {
    text.trim()
        .parse()
        .ok()
        .filter(|&count| count > 0)
        .ok_or_else(|| "give a whole number, 1 or more".to_owned())
}

/// A seed.
pub fn seed(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| format!("give a whole number from 0 to {}", u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_what_is_out_of_range_or_no_number() {
        for text in ["0", "-3", "nan", "inf", "3600.1"] {
            assert_eq!(
                above(0.0, 3600.0, "s")(text),
                Err("give a number above 0 and at most 3600 s".to_owned())
            );
        }
        assert!(within(1.5, 2.0, "m")("tall").is_err_and(|error| error.contains("not a number")));
        assert_eq!(within(1.5, 2.0, "m")("1.5"), Ok(1.5));
        assert_eq!(above(0.0, 3600.0, "s")("3600"), Ok(3600.0));
        assert_eq!([count("0"), count("-1"), count("2.5")].map(|count| count.is_err()), [true; 3]);
        assert_eq!(count("12"), Ok(12));
        assert!(seed("-1").is_err() && seed("1e3").is_err());
    }
}

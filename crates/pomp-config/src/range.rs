use std::cell::RefCell;
use std::fmt::Display;
use std::ops::{Bound, RangeBounds};
use std::rc::Rc;
use thiserror::Error;

/// A value that its field does not allow.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} = {value} is out of range (allowed: {allowed})")]
pub struct OutOfRange {
    /// Path of the field from the root of the configuration: `drives.hip.torque_limit_nm`.
    pub field: String,
    /// The value found.
    pub value: String,
    /// What the field allows.
    pub allowed: String,
}

/// A configuration, or a section of one, whose values have ranges.
///
/// ```
/// use pomp_config::{Fields, OutOfRange, Validate};
///
/// struct Contact { frequency_hz: f32 }
/// struct Physics { mass_kg: f32, contact: Contact }
///
/// impl Validate for Contact {
///     fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
///         fields.within("frequency_hz", self.frequency_hz, 1.0..=1e6)
///     }
/// }
/// impl Validate for Physics {
///     fn check(&self, fields: &Fields) -> Result<(), OutOfRange> {
///         fields.within("mass_kg", self.mass_kg, 5.0..=500.0)?;
///         self.contact.check(&fields.section("contact"))
///     }
/// }
///
/// let soft = Physics { mass_kg: 75.0, contact: Contact { frequency_hz: 0.5 } };
/// let refused = soft.check(&Fields::root()).unwrap_err();
/// assert_eq!(refused.to_string(), "contact.frequency_hz = 0.5 is out of range (allowed: 1 to 1000000)");
/// ```
pub trait Validate {
    /// Checks every range; `fields` names the section that `self` is.
    ///
    /// # Errors
    /// The first field outside its range.
    fn check(&self, fields: &Fields) -> Result<(), OutOfRange>;
}

/// The fields of one section, by name.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    prefix: String,
    /// Where ranges are noted instead of being held to.
    notes: Option<Rc<RefCell<Vec<KnownRange>>>>,
}

/// The range of a field, as a check states it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KnownRange {
    /// Path of the field.
    pub field: String,
    /// The least number, and whether it is allowed itself.
    pub low: Option<(f64, bool)>,
    /// The largest number, and whether it is allowed itself.
    pub high: Option<(f64, bool)>,
    /// Both of two numbers lie in it.
    pub is_pair: bool,
}

impl Fields {
    /// The fields of a whole configuration.
    pub fn root() -> Self {
        Self::default()
    }

    /// The fields of a whole configuration, of which the ranges are noted and no value is refused.
    pub(crate) fn that_take_note() -> Self {
        Self { notes: Some(Rc::default()), ..Self::default() }
    }

    /// The ranges noted so far.
    pub(crate) fn noted(&self) -> Vec<KnownRange> {
        self.notes.as_ref().map(|notes| notes.borrow().clone()).unwrap_or_default()
    }

    /// The fields of a section of this one; `name` may be a path, or hold an index: `scenario[2]`.
    pub fn section(&self, name: impl Display) -> Self {
        Self { prefix: format!("{}{name}.", self.prefix), notes: self.notes.clone() }
    }

    fn note<T: Number>(&self, field: &str, range: &impl RangeBounds<T>, is_pair: bool) {
        let Some(notes) = &self.notes else { return };
        // Through the digits that a person reads: 0.1 stays 0.1, whatever its precision.
        let end = |bound: Bound<&T>| match bound {
            Bound::Included(value) => value.to_string().parse().ok().map(|value| (value, true)),
            Bound::Excluded(value) => value.to_string().parse().ok().map(|value| (value, false)),
            Bound::Unbounded => None,
        };
        let field = format!("{}{field}", self.prefix);
        let (low, high) = (end(range.start_bound()), end(range.end_bound()));
        notes.borrow_mut().push(KnownRange { field, low, high, is_pair });
    }

    /// Checks that `value` lies in `range`. NaN and infinity lie in none.
    ///
    /// # Errors
    /// The field, its value and the range.
    pub fn within<T: Number>(
        &self,
        field: &str,
        value: T,
        range: impl RangeBounds<T>,
    ) -> Result<(), OutOfRange> {
        self.note(field, &range, false);
        self.holds(value.is_finite() && range.contains(&value), field, value, told(&range))
    }

    /// Checks a pair that is a range itself: both ends lie in `range`, the smaller one first.
    ///
    /// # Errors
    /// The field, its value and the range.
    pub fn pair_within<T: Number>(
        &self,
        field: &str,
        [low, high]: [T; 2],
        range: impl RangeBounds<T>,
    ) -> Result<(), OutOfRange> {
        self.note(field, &range, true);
        let inside = |value: T| value.is_finite() && range.contains(&value);
        let allowed = format!("two numbers of {}, the smaller one first", told(&range));
        self.holds(inside(low) && inside(high) && low <= high, field, format!("[{low}, {high}]"), allowed)
    }

    /// Checks what is no range: `allowed` says what the field allows.
    ///
    /// # Errors
    /// The field, its value and `allowed`, unless `holds`.
    pub fn holds(
        &self,
        holds: bool,
        field: &str,
        value: impl Display,
        allowed: impl Display,
    ) -> Result<(), OutOfRange> {
        if holds || self.notes.is_some() {
            return Ok(());
        }
        let (field, value, allowed) =
            (format!("{}{field}", self.prefix), value.to_string(), allowed.to_string());
        Err(OutOfRange { field, value, allowed })
    }
}

/// A number that a range can hold.
pub trait Number: PartialOrd + Copy + Display {
    /// Whether it is neither NaN nor an infinity.
    fn is_finite(self) -> bool;
}

macro_rules! floats {
    ($($float:ty),*) => {
        $(impl Number for $float {
            fn is_finite(self) -> bool {
                self.is_finite()
            }
        })*
    };
}
floats!(f32, f64);

macro_rules! integers {
    ($($integer:ty),*) => {
        $(impl Number for $integer {
            fn is_finite(self) -> bool {
                true
            }
        })*
    };
}
integers!(u16, u32, u64, usize, i32, i64);

/// A range as a sentence has it.
fn told<T: Number>(range: &impl RangeBounds<T>) -> String {
    let low = match range.start_bound() {
        Bound::Included(low) => Some(low.to_string()),
        Bound::Excluded(low) => Some(format!("above {low}")),
        Bound::Unbounded => None,
    };
    match (low, range.end_bound()) {
        (Some(low), Bound::Included(high)) => format!("{low} to {high}"),
        (Some(low), Bound::Excluded(high)) => format!("{low} to below {high}"),
        (None, Bound::Included(high)) => format!("at most {high}"),
        (None, Bound::Excluded(high)) => format!("below {high}"),
        (Some(low), Bound::Unbounded) if low.starts_with("above") => low,
        (Some(low), Bound::Unbounded) => format!("{low} or more"),
        (None, Bound::Unbounded) => "a finite number".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_refused_with_its_path_and_its_range() {
        let fields = Fields::root().section("assist");
        let refused = |result: Result<(), OutOfRange>| result.unwrap_err().to_string();
        fields.within("share", 1.0, 0.0..=1.0).unwrap();
        fields.within("steps", 1, 1..).unwrap();
        fields.pair_within("slope_deg", [3.0, 3.0], 0.0..=25.0).unwrap();
        assert_eq!(
            refused(fields.within("share", 1.1, 0.0..=1.0)),
            "assist.share = 1.1 is out of range (allowed: 0 to 1)"
        );
        for (result, allowed) in [
            (fields.within("x", 1.0, 0.0..1.0), "0 to below 1"),
            (fields.within("x", 0, 1..), "1 or more"),
            (fields.within("x", 0.0, (Bound::Excluded(0.0), Bound::Included(5.0))), "above 0 to 5"),
            (fields.within("x", 0.0, (Bound::Excluded(0.0), Bound::Unbounded)), "above 0"),
            (fields.within("x", 601, ..=600), "at most 600"),
            (
                fields.pair_within("x", [5.0, 3.0], 0.0..=25.0),
                "two numbers of 0 to 25, the smaller one first",
            ),
            (
                fields.pair_within("x", [5.0, 30.0], 0.0..=25.0),
                "two numbers of 0 to 25, the smaller one first",
            ),
        ] {
            assert_eq!(result.unwrap_err().allowed, allowed);
        }
    }

    #[test]
    fn nan_and_infinity_lie_in_no_range() {
        for value in [f32::NAN, f32::INFINITY] {
            assert!(Fields::root().within("x", value, ..).is_err(), "{value}");
            assert!(Fields::root().within("x", value, 0.0..).is_err(), "{value}");
            assert!(Fields::root().pair_within("x", [0.0, value], 0.0..).is_err(), "{value}");
        }
    }
}

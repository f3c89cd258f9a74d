//! The figures that tables show, and how they are written.

use pomp_bench::{Cell, Interval, Share};

/// Where a column's figures come from.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// Runs without a fall, of all.
    WithoutFall,
    /// Pushed runs that recovered.
    Recovered,
    /// Squared Fréchet distance.
    Frechet,
    /// Distance between runs.
    Diversity,
    /// A metric by its name.
    Metric(&'static str),
}

/// A column of a table.
#[derive(Clone, Copy)]
pub(super) struct Column {
    pub title: &'static str,
    pub unit: &'static str,
    /// Whether less is better (↓), more (↑), or neither (empty).
    pub better: &'static str,
    pub source: Source,
}

const fn column(title: &'static str, unit: &'static str, better: &'static str, source: Source) -> Column {
    Column { title, unit, better, source }
}

const fn metric(title: &'static str, unit: &'static str, better: &'static str, name: &'static str) -> Column {
    column(title, unit, better, Source::Metric(name))
}

/// Columns of undisturbed scenarios, and of what remains of a run before a fall.
pub(super) const QUALITY: [Column; 33] = [
    column("without a fall", "runs", "↑", Source::WithoutFall),
    metric("upright", "%", "↑", "upright_percent"),
    metric("falls", "1/min", "↓", "falls_per_minute"),
    metric("path error", "m", "↓", "path_error_mean_m"),
    metric("aside of the path", "m", "↓", "path_aside_mean_m"),
    metric("distance from the goal", "m", "↓", "goal_error_m"),
    metric("angle at the goal", "deg", "↓", "goal_heading_error_deg"),
    metric("start", "s", "↓", "response_start_s"),
    metric("stop", "s", "↓", "response_stop_s"),
    metric("turn", "s", "↓", "response_turn_s"),
    metric("changes reached", "%", "↑", "responses_reached_percent"),
    metric("sliding", "cm/frame", "↓", "foot_sliding_cm_per_frame"),
    metric("slip in contact", "cm/s", "↓", "contact_slide_cm_s"),
    metric("penetration, p95", "mm", "↓", "penetration_p95_mm"),
    metric("float, mean", "mm", "↓", "float_mean_mm"),
    metric("jerk", "m/s³", "↓", "jerk_mean_m_s3"),
    metric("high-jerk frames", "%", "↓", "high_jerk_percent"),
    metric("joint rotation", "deg/s", "", "joint_rotation_deg_s"),
    metric("positive work", "W/kg", "", "positive_work_w_kg"),
    metric("speed", "m/s", "", "root_speed_m_s"),
    column("Fréchet²", "", "↓", Source::Frechet),
    column("diversity", "", "", Source::Diversity),
    metric("assist, mean", "BW", "↓", "assist_force_mean_bw"),
    metric("assist, peak", "BW", "↓", "assist_force_peak_bw"),
    metric("assist torque, mean", "N·m", "↓", "assist_torque_mean_nm"),
    metric("braking by the feet", "share", "↑", "braking_feet_share"),
    metric("vertical force as on plates", "r", "↑", "stance_vertical_r"),
    metric("force ahead as on plates", "r", "↑", "stance_forward_r"),
    metric("roughness of the force", "times the plates'", "", "stance_roughness"),
    metric("contact peak", "BW", "", "contact_force_peak_bw"),
    metric("duty, left", "", "", "duty_factor_left"),
    metric("duty, right", "", "", "duty_factor_right"),
    metric("impulse closure", "", "", "contact_impulse_closure"),
];

/// Columns of pushed scenarios.
pub(super) const PUSHED: [Column; 11] = [
    column("recovered", "runs", "↑", Source::Recovered),
    metric("fell", "%", "↓", "push_fell_percent"),
    metric("falls", "per run", "↓", "falls"),
    metric("got up again", "per run", "", "falls_recovered"),
    metric("down", "s", "↓", "down_s"),
    metric("recovery", "s", "↓", "push_recovery_s"),
    metric("displaced", "m", "", "push_displacement_m"),
    metric("steps", "", "", "push_steps"),
    metric("assist peak after", "BW", "↓", "push_assist_peak_bw"),
    metric("jerk", "m/s³", "↓", "jerk_mean_m_s3"),
    metric("sliding", "cm/frame", "↓", "foot_sliding_cm_per_frame"),
];

/// Columns of a scenario: those that any of its cells has a figure for.
pub(super) fn of(cells: &[&Cell], pushed: bool) -> Vec<&'static Column> {
    let all: &'static [Column] = if pushed { &PUSHED } else { &QUALITY };
    all.iter().filter(|column| cells.iter().any(|cell| figure(cell, column).is_some())).collect()
}

/// A figure with its interval.
pub(super) fn figure(cell: &Cell, column: &Column) -> Option<Interval> {
    let of_share = |share: Share| {
        (share.of > 0)
            .then(|| Interval { value: share.hits as f64 / share.of as f64, interval_95: share.interval_95 })
    };
    match column.source {
        Source::WithoutFall => of_share(cell.without_fall),
        Source::Recovered => cell.recovered.and_then(of_share),
        Source::Frechet => cell.frechet,
        Source::Diversity => cell.diversity,
        Source::Metric(name) => {
            let estimate = cell.metrics.as_ref()?.estimate(name)?;
            let ends = |half: f64| [estimate.mean - half, estimate.mean + half];
            Some(Interval { value: estimate.mean, interval_95: estimate.half_interval_95.map(ends) })
        }
    }
}

/// A figure as text: the value, and half its interval where that is symmetric, both ends where it is not.
pub(super) fn text(cell: &Cell, column: &Column) -> String {
    let share = match column.source {
        Source::WithoutFall => Some(cell.without_fall),
        Source::Recovered => cell.recovered,
        _ => None,
    };
    if let Some(share) = share {
        return if share.of == 0 { "–".to_owned() } else { format!("{} of {}", share.hits, share.of) };
    }
    let Some(figure) = figure(cell, column) else { return "–".to_owned() };
    match (column.source, figure.interval_95) {
        (Source::Metric(_), Some([low, high])) => {
            let half = 0.5 * (high - low);
            format!("{} ± {}", number(figure.value), number_like(half, figure.value))
        }
        (_, Some([low, high])) => {
            format!(
                "{} [{}, {}]",
                number(figure.value),
                number_like(low, figure.value),
                number_like(high, figure.value)
            )
        }
        (_, None) => number(figure.value),
    }
}

/// Three significant digits, without an exponent.
pub(super) fn number(value: f64) -> String {
    number_like(value, value)
}

/// `value` with as many decimals as three significant digits of `size` have.
fn number_like(value: f64, size: f64) -> String {
    let size = size.abs().max(value.abs());
    let decimals = match size {
        s if s >= 100.0 => 0,
        s if s >= 10.0 => 1,
        s if s >= 1.0 || s == 0.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_have_three_digits_and_no_exponent() {
        let written: Vec<String> = [1234.6, 12.345, 1.234_5, 0.012_34, 0.0].into_iter().map(number).collect();
        assert_eq!(written, ["1235", "12.3", "1.23", "0.012", "0.00"]);
    }
}

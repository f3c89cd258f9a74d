use serde::{Deserialize, Serialize};

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Smaller is better.
    Lower,
    /// Larger is better.
    Higher,
    /// Neither: to be compared with the data.
    AsData,
}

/// Name, unit and direction of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MetricInfo {
    /// Field of [`Metrics`].
    pub name: &'static str,
    /// Unit, as printed; empty for counts and ratios.
    pub unit: &'static str,
    /// Which way is better.
    pub better: Better,
}

macro_rules! metrics {
    ($($(#[$doc:meta])* $name:ident: $unit:literal, $better:ident;)*) => {
        /// What was measured on one track of one recording.
        ///
        /// `None` is "does not apply": no such track, no contact labelled, too few frames. It prints as "–" and is
        /// `null` in JSON. Each field states unit, definition and source.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Metrics {
            $($(#[$doc])* pub $name: Option<f64>,)*
        }

        impl Metrics {
            /// All metrics, in the order of the fields.
            pub const INFO: &'static [MetricInfo] =
                &[$(MetricInfo { name: stringify!($name), unit: $unit, better: Better::$better },)*];

            /// Values in the order of [`Self::INFO`].
            pub fn values(&self) -> Vec<Option<f64>> {
                vec![$(self.$name,)*]
            }

            /// The value of the metric of this field name; `None` when it does not apply or does not exist.
            pub fn value(&self, name: &str) -> Option<f64> {
                match name {
                    $(stringify!($name) => self.$name,)*
                    _ => None,
                }
            }
        }
    };
}

metrics! {
    /// Frames divided by the frame rate, s.
    duration_s: "s", AsData;

    /// Foot sliding, cm per frame of 1/60 s: mean of v·(2 − 2^(h/H)) over both ends of both soles in the frames where
    /// the end is lower than H = 2.5 cm; v is its horizontal speed, h its height over the ground, not below 0.
    /// The weighting of MANN (Zhang et al. 2018). Needs no labels, so swinging feet close to the ground
    /// count too: compare with mocap.
    foot_sliding_cm_per_frame: "cm/frame", Lower;
    /// Horizontal speed of the ends of the soles while they are labelled in contact, mean, cm/s.
    contact_slide_cm_s: "cm/s", Lower;
    /// The same speed over the largest horizontal speed of that end in the recording, mean over frames in contact:
    /// the v/v_max of DeepPhase (Starke et al. 2022). Ends that never exceed 0.1 m/s do not count.
    contact_speed_ratio: "", Lower;

    /// Depth of the deepest end of a sole under the ground, mean over all frames, mm.
    penetration_mean_mm: "mm", Lower;
    /// 95th percentile of that depth over all frames, mm.
    penetration_p95_mm: "mm", Lower;
    /// Height of the lowest end of a sole over the ground in frames with any contact labelled, mean, mm.
    float_mean_mm: "mm", Lower;
    /// 95th percentile of that height, mm.
    float_p95_mm: "mm", Lower;

    /// Size of the third difference of joint positions over time, mean over joints and frames, m/s³.
    jerk_mean_m_s3: "m/s³", Lower;
    /// Percentage of frames in which the jerk of any joint exceeds [`crate::HIGH_JERK_M_S3`], after the high-jerk
    /// frames of PARC (Xu et al. 2025); the threshold is this project's.
    high_jerk_percent: "%", Lower;
    /// Angle by which a joint turns against its parent (the root against the world) per second, mean over joints and
    /// frames, deg/s. The liveliness of DeepPhase; times the number of joints it is the sum.
    joint_rotation_deg_s: "deg/s", AsData;
    /// Positive mechanical work per second and kilogram, W/kg: each rise of the energy of the centre of mass (lift and speed),
    /// and each rise of the kinetic energy about it of the trunk with the head, of an arm or of a leg, is work of muscles; energy
    /// passes freely between the segments of one of these, and not between two (Willems et al. 1995). Segments are points
    /// in the middle of their bones. A bound from motion alone: what muscles do against each other, and what the
    /// root assist lends, is not told apart.
    positive_work_w_kg: "W/kg", AsData;
    /// Horizontal speed of the pelvis, mean, m/s.
    root_speed_m_s: "m/s", AsData;

    /// Horizontal distance from the pelvis to the commanded root position of the same frame, mean, m.
    path_error_mean_m: "m", Lower;
    /// 95th percentile of that distance, m.
    path_error_p95_m: "m", Lower;
    /// The part of that distance across the commanded heading, mean, m: a character that is ahead or behind is on its path.
    path_aside_mean_m: "m", Lower;
    /// Angle between the pelvis's heading and the commanded one, mean, degrees.
    heading_error_deg: "deg", Lower;
    /// Difference between the horizontal speed of the pelvis and the commanded speed, mean of its size, m/s.
    speed_error_m_s: "m/s", Lower;

    /// Force of the root assist, mean of its size, N.
    assist_force_mean_n: "N", Lower;
    /// Largest force of the root assist, N.
    assist_force_peak_n: "N", Lower;
    /// Mean force of the root assist over body weight.
    assist_force_mean_bw: "BW", Lower;
    /// Largest force of the root assist over body weight.
    assist_force_peak_bw: "BW", Lower;
    /// Torque of the root assist, mean of its size, N·m.
    assist_torque_mean_nm: "N·m", Lower;
    /// Largest torque of the root assist, N·m.
    assist_torque_peak_nm: "N·m", Lower;
    /// Share of body weight that the assist carries: Σ F_y Δt / (m g T).
    assist_vertical_share: "", Lower;
    /// Impulse closure Σ J_y / (m g T): vertical contact impulse over the impulse of gravity. 1 for a motion that
    /// begins and ends with the same vertical speed and is carried by the ground alone.
    contact_impulse_closure: "", AsData;
    /// Largest vertical contact force, summed over bodies and averaged over a frame, over body weight.
    contact_force_peak_bw: "BW", AsData;
    /// Share of frames in which the left foot is in contact.
    duty_factor_left: "", AsData;
    /// Share of frames in which the right foot is in contact.
    duty_factor_right: "", AsData;

    /// Time not fallen, s. Fallen is: pelvis lower than half of its standing height over the ground, or the line from
    /// pelvis to neck tilted more than 65°, or labelled as lying, for more than 0.3 s without a break, and on from there
    /// while the label says getting up: the definition of the closed loop (`pomp_motion::FallDetector`).
    upright_s: "s", Higher;
    /// Time until the first fall, s; absent when there is none.
    first_fall_s: "s", Higher;
    /// Number of falls; stands of less than 0.3 s between two do not separate them.
    falls: "", Lower;
    /// Falls that are followed by at least 0.5 s upright.
    falls_recovered: "", Higher;
    /// Time from the beginning of a fall until it is up again, mean over the recovered, s.
    down_s: "s", Lower;
    /// Time labelled as getting up, over the number of falls, s: attempts that failed count too.
    get_up_s: "s", AsData;
    /// Mean force of the root assist in the frames labelled as getting up, over body weight.
    get_up_assist_mean_bw: "BW", Lower;
    /// Largest force of the root assist in those frames, over body weight.
    get_up_assist_peak_bw: "BW", Lower;
    /// Share of body weight that the assist lifts in those frames, mean.
    get_up_assist_vertical_bw: "BW", Lower;
    /// Mean torque of the root assist in those frames, N·m.
    get_up_assist_torque_nm: "N·m", Lower;

    /// Share of the time that is upright, %.
    upright_percent: "%", Higher;
    /// Falls over the time upright, 1/min; absent when there is no such time.
    falls_per_minute: "1/min", Lower;

    /// Pushes after which the character is itself again before the recording ends, %. It is, when for half a second
    /// its pelvis moves within 0.3 m/s of its mean velocity over the second before the push (both averaged over half a
    /// second, about a step), its trunk leans within 12° of its mean direction over that second, and it is not
    /// down. Straight paths at an even pace are assumed. Pushes in the first second and in the last half are not judged.
    push_recovered_percent: "%", Higher;
    /// Pushes that are followed by a fall within three seconds, %.
    push_fell_percent: "%", Lower;
    /// Time from a push until the character is itself again, mean over the recovered, s; 0 when it was never out of
    /// the bounds.
    push_recovery_s: "s", Lower;
    /// Largest distance of the pelvis, along the push on the ground, from where its velocity before the push would have
    /// taken it, within two seconds of the push, mean, m.
    push_displacement_m: "m", AsData;
    /// Steps taken between a push and being itself again, mean over the recovered. A step begins when a foot touches down
    /// after a tenth of a second without contact.
    push_steps: "", AsData;
    /// Largest force of the root assist in the second after a push over body weight, mean over pushes.
    push_assist_peak_bw: "BW", Lower;

    /// Median wall time of a frame, ms; absent when the rollout has no clock.
    frame_time_p50_ms: "ms", Lower;
    /// 99th percentile of the wall time of a frame, ms; absent when the rollout has no clock.
    frame_time_p99_ms: "ms", Lower;
}

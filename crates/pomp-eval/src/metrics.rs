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

/// Name, unit, direction and definition of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MetricInfo {
    /// Field of [`Metrics`].
    pub name: &'static str,
    /// Unit, as printed; empty for counts and ratios.
    pub unit: &'static str,
    /// Which way is better.
    pub better: Better,
    /// What it belongs to, such as "Feet".
    #[serde(skip)]
    pub group: &'static str,
    /// The documentation of the field, one line per line of it.
    #[serde(skip)]
    pub definition: &'static str,
}

macro_rules! metrics {
    ($($group:literal { $($(#[doc = $doc:literal])* $name:ident: $unit:literal, $better:ident;)* })*) => {
        /// What was measured on one track of one recording.
        ///
        /// `None` is "does not apply": no such track, no contact labelled, too few frames. It prints as "–" and is
        /// `null` in JSON. Each field states unit, definition and source; `docs/metrics.md` holds the same text.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Metrics {
            $($($(#[doc = $doc])* pub $name: Option<f64>,)*)*
        }

        impl Metrics {
            /// All metrics, in the order of the fields.
            pub const INFO: &'static [MetricInfo] = &[$($(MetricInfo {
                name: stringify!($name),
                unit: $unit,
                better: Better::$better,
                group: $group,
                definition: concat!($($doc, "\n"),*),
            },)*)*];

            /// Values in the order of [`Self::INFO`].
            pub fn values(&self) -> Vec<Option<f64>> {
                vec![$($(self.$name,)*)*]
            }

            /// The value of the metric of this field name; `None` when it does not apply or does not exist.
            pub fn value(&self, name: &str) -> Option<f64> {
                match name {
                    $($(stringify!($name) => self.$name,)*)*
                    _ => None,
                }
            }
        }
    };
}

metrics! {
    "Length" {
        /// Length of the recording: T / f.
        duration_s: "s", AsData;
    }

    "Feet" {
        /// Foot sliding per frame of 1/60 s: mean of v · (2 − 2^(h/H)) · 100 / 60 over the ends of the soles that are lower than
        /// H = 0.025 m. v is the horizontal speed of the end from a frame to the next, m/s; h the larger of its heights in both,
        /// not below 0. The weighting of MANN (Zhang et al. 2018). It needs no contact labels, so swinging feet close to the
        /// ground count too: compare it with mocap.
        foot_sliding_cm_per_frame: "cm/frame", Lower;
        /// Slip of feet on the ground: mean of 100 v over the ends of the soles that are in contact in two consecutive frames.
        contact_slide_cm_s: "cm/s", Lower;
        /// The same speed over the largest speed of that end in the recording: mean of v / v_max over the same frames; the
        /// v/v_max of DeepPhase (Starke et al. 2022). Ends that never exceed 0.1 m/s do not count.
        contact_speed_ratio: "", Lower;
        /// Depth of the deepest end of a sole under the ground: mean over all frames of d = 1000 · max(0, −h).
        penetration_mean_mm: "mm", Lower;
        /// 95th percentile of d over all frames.
        penetration_p95_mm: "mm", Lower;
        /// Height of the lowest end of a sole over the ground: mean of 1000 · max(0, min h) over the frames in which any end is in
        /// contact.
        float_mean_mm: "mm", Lower;
        /// 95th percentile of that height over the same frames.
        float_p95_mm: "mm", Lower;
        /// Share of all frames in which heel or toes of the left foot are in contact. Absent when no contact is labelled.
        duty_factor_left: "", AsData;
        /// Share of all frames in which heel or toes of the right foot are in contact. Absent when no contact is labelled.
        duty_factor_right: "", AsData;
    }

    "Smoothness and effort" {
        /// Jerk: mean over joints and frames of |p(t) − 3 p(t−1) + 3 p(t−2) − p(t−3)| · f³, p being the world position of a joint.
        jerk_mean_m_s3: "m/s³", Lower;
        /// Share of frames in which the jerk of any joint exceeds 10,000 m/s³, after the high-jerk frames of PARC (Xu et al.
        /// 2025); the threshold is this project's.
        high_jerk_percent: "%", Lower;
        /// Rotation of joints: mean over joints and frames of the angle between a joint's rotation against its parent (of the
        /// root against the world) in a frame and in the next, times f. The liveliness of DeepPhase; times the number of joints
        /// it is the sum.
        joint_rotation_deg_s: "deg/s", AsData;
        /// Positive mechanical work per second and kilogram: f · Σ max(0, E(t+1) − E(t)) over six energies, divided by the number of
        /// frames. The energies are those of the centre of mass (g y + v²/2), and the kinetic energies about it of the trunk
        /// with the head, of each arm and of each leg: energy passes freely between the segments of one of these, and not
        /// between two (Willems et al. 1995). Segments are points in the middle of their bones. It is a bound from motion
        /// alone: work of muscles against each other is not in it, and the work of the root assist is.
        positive_work_w_kg: "W/kg", AsData;
        /// Horizontal speed of the pelvis, mean over frames.
        root_speed_m_s: "m/s", AsData;
    }

    "Command" {
        /// Horizontal distance from the pelvis to the commanded root position of the same frame, mean over frames.
        path_error_mean_m: "m", Lower;
        /// 95th percentile of that distance.
        path_error_p95_m: "m", Lower;
        /// The part of that distance across the commanded heading, mean of its size: a character that is ahead or behind is on
        /// its path.
        path_aside_mean_m: "m", Lower;
        /// Angle between the heading of the pelvis and the commanded heading, mean of its size.
        heading_error_deg: "deg", Lower;
        /// Difference between the horizontal speed of the pelvis and the commanded speed, mean of its size.
        speed_error_m_s: "m/s", Lower;
    }

    "Posture" {
        /// Height of the centre of mass over the ground, mean over frames. Segments are points in the middle of their bones, with the
        /// masses of de Leva (1996).
        com_height_m: "m", AsData;
        /// Width of steps: distance of the heel in the middle of a step from the line between the heels in the steps of the other foot
        /// before and after it, positive to its own side, mean over steps. A step is a contact of heel or toes of more than 0.2 s that
        /// begins and ends in the recording; gaps of less than 0.05 s do not end it. Strides of less than 0.3 m do not count.
        step_width_cm: "cm", AsData;
    }

    "External root assist" {
        /// Force of the external root assist: mean over frames of |F|.
        assist_force_mean_n: "N", Lower;
        /// Largest |F| of all frames.
        assist_force_peak_n: "N", Lower;
        /// Mean over frames of |F| / (m g).
        assist_force_mean_bw: "BW", Lower;
        /// Largest |F| / (m g) of all frames.
        assist_force_peak_bw: "BW", Lower;
        /// Share of frames in which the horizontal part of F has 99 % of its bound or more. Absent where the recording does not tell the
        /// bound (`assist_limit`), or it is 0. After a blow the bound is lower for a while, which is not counted.
        assist_force_bound_percent: "%", Lower;
        /// Torque of the external root assist: mean over frames of its size.
        assist_torque_mean_nm: "N·m", Lower;
        /// Largest torque of the external root assist.
        assist_torque_peak_nm: "N·m", Lower;
        /// Share of frames in which the torque has 99 % of its bound or more. Absent where the recording does not tell the bound, or it
        /// is 0.
        assist_torque_bound_percent: "%", Lower;
        /// Share of body weight that the assist carries: Σ F_y / (T m g).
        assist_vertical_share: "", Lower;
        /// Impulse of the assist along the path per second, over m g: mean of |F · a| / (m g). a is the direction of the pelvis' way on
        /// the ground from 0.25 s before the frame to 0.25 s after it; frames in which that is slower than 0.2 m/s do not count.
        assist_along_bw: "BW", Lower;
        /// Impulse of the assist across the path per second, over m g: mean of the size of the horizontal part of F across a, over the
        /// same frames.
        assist_across_bw: "BW", Lower;
        /// Mean of F · a / (m g) over the same frames: positive where the assist pushes ahead on the whole.
        assist_ahead_bw: "BW", AsData;
        /// Share of propulsion that is the feet's: Σ max(0, f · a) over both feet, over the same sum with max(0, F · a) added. f is the
        /// force of the ground on one foot; the frames are the same. Of the simulated side alone.
        propulsion_feet_share: "", Higher;
        /// Share of braking that is the feet's: the same with −f and −F.
        braking_feet_share: "", Higher;
    }

    "Ground forces" {
        /// Impulse closure: vertical contact impulse over the impulse of gravity, Σ J_y · f / (T m g). It is 1 for a motion that
        /// begins and ends with the same vertical speed and is carried by the ground alone.
        contact_impulse_closure: "", AsData;
        /// Largest vertical contact force, averaged over a frame: max over frames of Σ J_y · f / (m g), summed over bodies.
        contact_force_peak_bw: "BW", AsData;
        /// Tangential over normal force of a foot, to the ground under its ankle, median over feet and frames with a normal force of
        /// more than 0.1 BW.
        friction_used_median: "", AsData;
        /// 95th percentile of that ratio. It cannot exceed the friction of the simulator.
        friction_used_p95: "", AsData;
        /// Share of the frames of a foot with more than 0.1 BW in which its centre of pressure lies within the sole: from 0.040 body
        /// heights behind the ankle to 0.112 before it along the foot, and 0.0275 to both sides. Absent where the recording does not
        /// tell where the ground pushed (`contact_point`).
        pressure_inside_percent: "%", Higher;
        /// Way of the centre of pressure along the foot from the first tenth of a walking stance to the last tenth, over the length of
        /// the foot (0.152 body heights), median over stances.
        pressure_way_percent: "%", AsData;
    }

    "Stances of walking" {
        /// Number of whole stances that the metrics of this group are medians over. In a stance a foot bears more than 0.05 BW; it
        /// begins and ends in the recording, lasts 0.35 to 1.0 s, is labelled walking throughout, and the pelvis moves by 0.2 m or more
        /// in it. Gaps of less than 0.05 s do not end it. Rollouts show the simulator's own forces, clips the best estimate
        /// (`contact_impulse`).
        walking_stances: "", AsData;
        /// Likeness to a person's vertical force: the force in a stance, at 64 points from its first frame to its last, has the
        /// correlation r with the mean curve of force plates (`pomp_eval::WalkingForces`). Median over stances. The person's own
        /// stances have 0.97.
        stance_vertical_r: "", Higher;
        /// The same r of the mean over stances, each over its own mean: what scatters from stance to stance does not count.
        stance_mean_vertical_r: "", Higher;
        /// Largest vertical force in a stance, median over stances. The plates show 1.16.
        stance_vertical_peak_bw: "BW", AsData;
        /// Steepest rise of the vertical force over 0.05 s that begins before the middle of a stance, median over stances. The
        /// plates show 11.3.
        stance_loading_rate_bw_s: "BW/s", AsData;
        /// Mean size of the second differences of the 64 points, each stance over its own mean, over the same of the plates; median
        /// over stances. 1 is as rough as a person's.
        stance_roughness: "", AsData;
        /// Likeness to a person's braking and propulsion: as `stance_vertical_r`, of the force along the pelvis' way over the ground in
        /// the stance. The person's own stances have 0.98.
        stance_forward_r: "", Higher;
        /// Largest force against that way in a stance, median over stances. The plates show 0.15.
        stance_braking_peak_bw: "BW", AsData;
        /// Largest force along that way in a stance, median over stances. The plates show 0.20.
        stance_propulsion_peak_bw: "BW", AsData;
    }

    "Joint torques" {
        /// Torque of the drives of the hips per kilogram, 95th percentile over both and all frames. Walking people peak at about
        /// 1 (Winter 1991). Absent where the recording does not tell torques (`joint_torque`), as below.
        hip_torque_p95_nm_kg: "N·m/kg", AsData;
        /// The same of the knees; walking people peak at about 0.6.
        knee_torque_p95_nm_kg: "N·m/kg", AsData;
        /// The same of the ankles; walking people peak at about 1.6.
        ankle_torque_p95_nm_kg: "N·m/kg", AsData;
        /// Share of frames in which a hip, knee, ankle, shoulder or elbow has 99 % or more of the isokinetic strength of athletes: 350,
        /// 350, 250, 150 and 100 N·m at 75 kg, in proportion to the mass. The ragdoll's default torque limits are the same.
        torque_at_strength_percent: "%", Lower;
    }

    "Falls" {
        /// Time not fallen. A fall begins where the pelvis is lower than half of its standing height over the ground, or the line
        /// from pelvis to neck is tilted by more than 65°, or the gait label says lying, for more than 0.3 s without a break; it
        /// lasts on while the label says getting up. It is the definition of the closed loop (`pomp_motion::FallDetector`).
        upright_s: "s", Higher;
        /// Time until the first fall; absent when there is none.
        first_fall_s: "s", Higher;
        /// Number of falls. Less than 0.3 s upright between two does not separate them.
        falls: "", Lower;
        /// Number of falls that are followed by 0.5 s or more upright, before the next fall or the end.
        falls_recovered: "", Higher;
        /// Time from the beginning to the end of a fall, mean over the recovered falls.
        down_s: "s", Lower;
        /// Time labelled as getting up divided by the number of falls; failed attempts count too.
        get_up_s: "s", AsData;
        /// Mean |F| / (m g) of the root assist in the frames labelled as getting up.
        get_up_assist_mean_bw: "BW", Lower;
        /// Largest |F| / (m g) of the root assist in those frames.
        get_up_assist_peak_bw: "BW", Lower;
        /// Mean F_y / (m g) of the root assist in those frames.
        get_up_assist_vertical_bw: "BW", Lower;
        /// Mean torque of the root assist in those frames.
        get_up_assist_torque_nm: "N·m", Lower;
        /// Share of the time that is upright: 100 · upright_s / duration_s.
        upright_percent: "%", Higher;
        /// Falls per minute upright: 60 · falls / upright_s. Absent when no time is upright.
        falls_per_minute: "1/min", Lower;
    }

    "Pushes" {
        /// Share of the pushes that are recovered before the recording ends. A push is recovered from the first frame on from
        /// which, for 0.5 s, the pelvis moves within 0.3 m/s of its mean velocity in the second before the push (its velocity
        /// averaged over 0.5 s, about a step), the trunk leans within 12° of its mean direction in that second, and the
        /// character is not down as in a fall. Straight paths at an even pace are assumed. Pushes in the first second and in the
        /// last half second are not judged, here and below.
        push_recovered_percent: "%", Higher;
        /// Share of the pushes after which a fall begins within 3 s.
        push_fell_percent: "%", Lower;
        /// Time from a push to its recovery, mean over the recovered; 0 when the bounds were never left.
        push_recovery_s: "s", Lower;
        /// Largest distance of the pelvis, along the push on the ground, from where its velocity before the push would have taken
        /// it, within 2 s of the push; mean over pushes.
        push_displacement_m: "m", AsData;
        /// Steps between a push and its recovery, mean over the recovered. A step is a touch-down of a foot after 0.1 s or more
        /// without contact.
        push_steps: "", AsData;
        /// Largest |F| / (m g) of the root assist within 1 s of a push, mean over pushes.
        push_assist_peak_bw: "BW", Lower;
    }

    "Time of computing" {
        /// Median wall time of a frame; absent when the rollout has no clock.
        frame_time_p50_ms: "ms", Lower;
        /// 99th percentile of the wall time of a frame; absent when the rollout has no clock.
        frame_time_p99_ms: "ms", Lower;
    }
}

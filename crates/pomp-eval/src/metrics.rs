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
        /// Foot sliding per frame of 1/60 s: mean of v · (2 − 2^(h/H)) · 100 / 60 over the sole ends that are lower than H = 0.025 m. v
        /// is the horizontal speed of the sole end between two frames, in m/s. h is the larger of its heights in the two frames, at least
        /// 0. The weighting is that of MANN (Zhang et al. 2018). The metric needs no contact labels, so it also counts swinging feet
        /// close to the ground. Compare it with mocap.
        foot_sliding_cm_per_frame: "cm/frame", Lower;
        /// Slip of feet on the ground: mean of 100 v over the sole ends that are in contact in two consecutive frames.
        contact_slide_cm_s: "cm/s", Lower;
        /// Slip relative to the largest speed of the sole end in the recording: mean of v / v_max over the same frames. This is the
        /// v/v_max of DeepPhase (Starke et al. 2022). Sole ends that never exceed 0.1 m/s do not count.
        contact_speed_ratio: "", Lower;
        /// Depth of the deepest sole end below the ground: mean over all frames of d = 1000 · max(0, −h).
        penetration_mean_mm: "mm", Lower;
        /// 95th percentile of d over all frames.
        penetration_p95_mm: "mm", Lower;
        /// Height of the lowest sole end above the ground: mean of 1000 · max(0, min h) over the frames in which any sole end is in
        /// contact.
        float_mean_mm: "mm", Lower;
        /// 95th percentile of that height over the same frames.
        float_p95_mm: "mm", Lower;
        /// Share of all frames in which the heel or toes of the left foot are in contact. Absent when no contact is labelled.
        duty_factor_left: "", AsData;
        /// Share of all frames in which the heel or toes of the right foot are in contact. Absent when no contact is labelled.
        duty_factor_right: "", AsData;
    }

    "Smoothness and effort" {
        /// Jerk: mean over joints and frames of |p(t) − 3 p(t−1) + 3 p(t−2) − p(t−3)| · f³, where p is the world position of a joint.
        jerk_mean_m_s3: "m/s³", Lower;
        /// Share of frames in which the jerk of any joint exceeds 10,000 m/s³. The metric follows the high-jerk frames of PARC (Xu et al.
        /// 2025); the threshold is this project's own.
        high_jerk_percent: "%", Lower;
        /// Joint rotation speed: f times the mean, over joints and frames, of the angle between a joint's rotation in one frame and in
        /// the next. Rotations are relative to the parent; that of the root is relative to the world. This is the liveliness of
        /// DeepPhase, which is the sum over joints instead of the mean.
        joint_rotation_deg_s: "deg/s", AsData;
        /// Positive mechanical work per second and kilogram: f · Σ max(0, E(t+1) − E(t)) over six energies, divided by the number of
        /// frames. The energies are that of the centre of mass (g y + v²/2), and the kinetic energies about the centre of mass of the
        /// trunk with the head, of each arm and of each leg. Energy passes freely between the segments of one group, but not between
        /// groups (Willems et al. 1995). Each segment is a point in the middle of its bone. The metric is a bound from motion alone: it
        /// does not contain the work of muscles against each other, and it does contain the work of the root assist.
        positive_work_w_kg: "W/kg", AsData;
        /// Horizontal speed of the pelvis, mean over frames.
        root_speed_m_s: "m/s", AsData;
    }

    "Command" {
        /// Horizontal distance from the pelvis to the commanded root position of the same frame, mean over frames.
        path_error_mean_m: "m", Lower;
        /// 95th percentile of that distance.
        path_error_p95_m: "m", Lower;
        /// Mean absolute distance from the path: the component of that distance across the commanded heading. A character that is ahead
        /// of the command or behind it is on its path.
        path_aside_mean_m: "m", Lower;
        /// Mean absolute angle between the heading of the pelvis and the commanded heading.
        heading_error_deg: "deg", Lower;
        /// Mean absolute difference between the horizontal speed of the pelvis and the commanded speed.
        speed_error_m_s: "m/s", Lower;
        /// Horizontal distance from the pelvis to the commanded place, mean over the last second. Absent unless the command stands for
        /// that second: a command that waits for the character has not reached its goal.
        goal_error_m: "m", Lower;
        /// Absolute angle between the heading of the pelvis and the commanded heading, mean over the same second.
        goal_heading_error_deg: "deg", Lower;
        /// Time that a start takes: from when the command begins to change until the character has made nine tenths of the change, mean
        /// over the starts of which it has made as much before the command changes again. In a start the commanded speed rises from
        /// below 0.1 m/s to 0.5 m/s or more. Before and after a change the command is constant for at least 0.5 s: its speed within 0.02
        /// m/s, its heading within 0.3°. The speed of the character is that of its pelvis, from the position 0.25 s before to the
        /// position 0.25 s after. The command is the one recorded, which waits for a character that lags.
        response_start_s: "s", Lower;
        /// Time that a stop takes: the same for a commanded speed that falls from 0.5 m/s or more to below 0.1 m/s.
        response_stop_s: "s", Lower;
        /// Time that a turn takes: the same for a commanded heading that changes by 30° or more while the commanded speed is 0.5 m/s or
        /// more before and after. The heading of the character is that of its pelvis, averaged over the same 0.5 s.
        response_turn_s: "s", Lower;
        /// Share of the starts, stops and turns of which the character has made nine tenths before the command changes again or the
        /// recording ends, and not already when the command begins to change. Absent without such a change.
        responses_reached_percent: "%", Higher;
    }

    "Posture" {
        /// Height of the centre of mass above the ground, mean over frames. Each segment is a point in the middle of its bone, with the
        /// mass of de Leva (1996).
        com_height_m: "m", AsData;
        /// Step width, mean over steps: distance of the heel in the middle of a step from the line between the heels in the previous and
        /// the next step of the other foot, positive towards its own side. A step is a contact of heel or toes of more than 0.2 s that
        /// begins and ends in the recording. Gaps of less than 0.05 s do not end a step. Strides of less than 0.3 m do not count.
        step_width_cm: "cm", AsData;
    }

    "External root assist" {
        /// Mean force of the external root assist: mean over frames of |F|.
        assist_force_mean_n: "N", Lower;
        /// Largest |F| over all frames.
        assist_force_peak_n: "N", Lower;
        /// Mean over frames of |F| / (m g).
        assist_force_mean_bw: "BW", Lower;
        /// Largest |F| / (m g) over all frames.
        assist_force_peak_bw: "BW", Lower;
        /// Share of frames in which the horizontal part of F has at least 99 % of its bound. Absent if the recording does not state the
        /// bound (`assist_limit`) or the bound is 0. The metric ignores that the bound is lower for a while after a push.
        assist_force_bound_percent: "%", Lower;
        /// Mean torque of the external root assist: mean over frames of its magnitude.
        assist_torque_mean_nm: "N·m", Lower;
        /// Largest torque of the external root assist.
        assist_torque_peak_nm: "N·m", Lower;
        /// Share of frames in which the torque has at least 99 % of its bound. Absent if the recording does not state the bound or the
        /// bound is 0.
        assist_torque_bound_percent: "%", Lower;
        /// Share of body weight that the assist supports: Σ F_y / (T m g).
        assist_vertical_share: "", Lower;
        /// Impulse of the assist along the path per second, over m g: mean of |F · a| / (m g). a is the direction of horizontal travel of
        /// the pelvis from 0.25 s before the frame to 0.25 s after it. Frames with a slower speed than 0.2 m/s do not count.
        assist_along_bw: "BW", Lower;
        /// Impulse of the assist across the path per second, over m g: mean magnitude of the horizontal part of F perpendicular to a,
        /// over the same frames.
        assist_across_bw: "BW", Lower;
        /// Mean of F · a / (m g) over the same frames. It is positive if the assist pushes forward on average.
        assist_ahead_bw: "BW", AsData;
        /// Share of the propulsion that the feet provide: Σ max(0, f · a) over both feet, divided by the same sum plus max(0, F · a). f
        /// is the ground force on one foot; the frames are the same. Only for the simulated motion.
        propulsion_feet_share: "", Higher;
        /// Share of the braking that the feet provide: the same with −f and −F.
        braking_feet_share: "", Higher;
    }

    "Ground forces" {
        /// Impulse closure: vertical contact impulse over the impulse of gravity, Σ J_y · f / (T m g). It is 1 for a motion that begins
        /// and ends with the same vertical speed and is supported by the ground alone.
        contact_impulse_closure: "", AsData;
        /// Largest vertical contact force, averaged over a frame: maximum over frames of Σ J_y · f / (m g), summed over bodies.
        contact_force_peak_bw: "BW", AsData;
        /// Ratio of tangential to normal force of a foot, relative to the ground under its ankle: median over feet and frames with a
        /// normal force of more than 0.1 BW.
        friction_used_median: "", AsData;
        /// 95th percentile of that ratio. It cannot exceed the friction of the simulator.
        friction_used_p95: "", AsData;
        /// Share of the frames with more than 0.1 BW on a foot in which its centre of pressure lies within the sole. Along the foot, the
        /// sole reaches from 0.040 body heights behind the ankle to 0.112 in front of it; across the foot, it reaches 0.0275 to both
        /// sides. Absent if the recording does not state where the ground pushed (`contact_point`).
        pressure_inside_percent: "%", Higher;
        /// Travel of the centre of pressure along the foot from the first tenth of a walking stance to the last tenth, divided by the
        /// length of the foot (0.152 body heights): median over stances.
        pressure_way_percent: "%", AsData;
    }

    "Stances of walking" {
        /// Number of complete stances; the metrics of this group are medians over these. In a stance the load on a foot is more than 0.05
        /// BW. The stance begins and ends in the recording, lasts 0.35 to 1.0 s and is labelled as walking throughout, and the pelvis
        /// moves by at least 0.2 m. Gaps of less than 0.05 s do not end a stance. For rollouts the forces are the simulator's own, for
        /// clips the best estimate (`contact_impulse`).
        walking_stances: "", AsData;
        /// Similarity to a person's vertical force: correlation r of the force in a stance, at 64 points from its first frame to its
        /// last, with the mean curve of force plates (`pomp_eval::WalkingForces`). Median over stances. The person's own stances have
        /// 0.97.
        stance_vertical_r: "", Higher;
        /// The same correlation r for the mean curve over stances, each divided by its own mean. Variation from stance to stance does not
        /// count.
        stance_mean_vertical_r: "", Higher;
        /// Largest vertical force in a stance, median over stances. The force plates show 1.16.
        stance_vertical_peak_bw: "BW", AsData;
        /// Steepest rise of the vertical force over 0.05 s that begins in the first half of a stance, median over stances. The force
        /// plates show 11.3.
        stance_loading_rate_bw_s: "BW/s", AsData;
        /// Mean absolute second difference of the 64 points, each stance divided by its own mean, relative to the same value of the force
        /// plates; median over stances. A person's force has 1.
        stance_roughness: "", AsData;
        /// Similarity to a person's braking and propulsion: as `stance_vertical_r`, for the force along the direction in which the pelvis
        /// travels during the stance. The person's own stances have 0.98.
        stance_forward_r: "", Higher;
        /// Largest force against that direction in a stance, median over stances. The force plates show 0.15.
        stance_braking_peak_bw: "BW", AsData;
        /// Largest force along that direction in a stance, median over stances. The force plates show 0.20.
        stance_propulsion_peak_bw: "BW", AsData;
    }

    "Joint torques" {
        /// Drive torque of the hips per kilogram of body mass, 95th percentile over both hips and all frames. Walking people peak at
        /// about 1 (Winter 1991). This and the next metrics are absent if the recording has no torques (`joint_torque`).
        hip_torque_p95_nm_kg: "N·m/kg", AsData;
        /// The same for the knees. Walking people peak at about 0.6.
        knee_torque_p95_nm_kg: "N·m/kg", AsData;
        /// The same for the ankles. Walking people peak at about 1.6.
        ankle_torque_p95_nm_kg: "N·m/kg", AsData;
        /// Share of frames in which the torque of a hip, knee, ankle, shoulder or elbow has at least 99 % of the isokinetic strength of
        /// athletes: 350, 350, 250, 150 and 100 N·m at 75 kg, in proportion to the mass. The ragdoll's default torque limits are the
        /// same.
        torque_at_strength_percent: "%", Lower;
    }

    "Falls" {
        /// Time not fallen. A fall begins when, for more than 0.3 s without a break, the pelvis is lower than half of its standing height
        /// above the ground, the line from pelvis to neck is tilted by more than 65°, or the gait label is lying. The fall continues
        /// while the label is getting up. The closed loop uses the same definition (`pomp_motion::FallDetector`). A frame in which the
        /// simulation diverged and the body was put back is a fall, too.
        upright_s: "s", Higher;
        /// Time until the first fall. Absent when there is none.
        first_fall_s: "s", Higher;
        /// Number of falls. Two falls with less than 0.3 s upright between them count as one.
        falls: "", Lower;
        /// Number of falls that are followed by at least 0.5 s upright before the next fall or the end.
        falls_recovered: "", Higher;
        /// Time from the beginning to the end of a fall, mean over the recovered falls.
        down_s: "s", Lower;
        /// Time labelled as getting up, divided by the number of falls. Failed attempts count too.
        get_up_s: "s", AsData;
        /// Mean |F| / (m g) of the root assist in the frames labelled as getting up.
        get_up_assist_mean_bw: "BW", Lower;
        /// Largest |F| / (m g) of the root assist in those frames.
        get_up_assist_peak_bw: "BW", Lower;
        /// Mean F_y / (m g) of the root assist in those frames.
        get_up_assist_vertical_bw: "BW", Lower;
        /// Mean torque of the root assist in those frames.
        get_up_assist_torque_nm: "N·m", Lower;
        /// Number of frames in which the simulation diverged and the body was put back where it was: no joint has moved. Of the simulated
        /// track alone.
        restored_frames: "", Lower;
        /// Share of the time in which the character is upright: 100 · upright_s / duration_s.
        upright_percent: "%", Higher;
        /// Falls per minute upright: 60 · falls / upright_s. Absent if the character is never upright.
        falls_per_minute: "1/min", Lower;
    }

    "Pushes" {
        /// Share of the pushes that are recovered before the recording ends. A push is recovered from the first frame after which three
        /// conditions hold for 0.5 s. The pelvis moves within 0.3 m/s of its mean velocity in the second before the push (its velocity is
        /// averaged over 0.5 s, about a step). The trunk leans within 12° of its mean direction in that second. The character is not down
        /// as in a fall. The metric assumes straight paths at a constant pace. Here and below, pushes in the first second and in the last
        /// half second are not evaluated.
        push_recovered_percent: "%", Higher;
        /// Share of the pushes after which a fall begins within 3 s.
        push_fell_percent: "%", Lower;
        /// Time from a push to its recovery, mean over the recovered pushes. It is 0 if the motion never leaves these bounds.
        push_recovery_s: "s", Lower;
        /// Largest horizontal displacement of the pelvis along the push within 2 s, relative to where its velocity before the push would
        /// have taken it; mean over pushes.
        push_displacement_m: "m", AsData;
        /// Number of steps between a push and its recovery, mean over the recovered pushes. A step is a touch-down of a foot after at
        /// least 0.1 s without contact.
        push_steps: "", AsData;
        /// Largest |F| / (m g) of the root assist within 1 s of a push, mean over pushes.
        push_assist_peak_bw: "BW", Lower;
    }

    "Excursions from rest" {
        /// Number of excursions: the pelvis rests (below 0.1 m/s, averaged over 0.15 s), moves at 0.5 m/s or more, and rests again, without a
        /// fall. Only those in the direction of the first one count, within 90°: pushed people walk back between pushes. The rows serve to
        /// compare pushed characters with pushed people, whose pushes were not measured. Absent when there is none.
        excursions: "", AsData;
        /// Largest horizontal speed of the pelvis in an excursion, mean over the excursions.
        excursion_peak_m_s: "m/s", AsData;
        /// Horizontal distance of the pelvis between the beginning and the end of an excursion, mean over the excursions.
        excursion_displacement_m: "m", AsData;
        /// Time from rest to rest, mean over the excursions.
        excursion_s: "s", AsData;
        /// Touch-downs of a foot in an excursion and up to 0.2 s after it, mean over the excursions.
        excursion_steps: "", AsData;
    }

    "Time of computing" {
        /// Median wall time of a frame. Absent when the rollout has no clock.
        frame_time_p50_ms: "ms", Lower;
        /// 99th percentile of the wall time of a frame. Absent when the rollout has no clock.
        frame_time_p99_ms: "ms", Lower;
    }
}

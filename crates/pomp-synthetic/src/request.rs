use crate::SyntheticError;

/// What to synthesise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MotionKind {
    /// Quiet standing with postural sway.
    Stand,
    /// Walking at a constant speed.
    Walk,
    /// Running slowly: steps with flight.
    Jog,
    /// Countermovement jumps on the spot, about one per 2.6 s.
    Jump,
    /// Walking in bouts with stands between them.
    StopAndGo,
}

/// How a walk or a jog begins and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ends {
    /// At full speed from the first frame to the last.
    Steady,
    /// From a stand and back to a stand.
    Standing,
}

/// A side of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Left, at +X of a character facing +Z.
    Left,
    /// Right.
    Right,
}

impl Side {
    /// The other side.
    pub fn opposite(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }

    /// +1 for left, −1 for right: the sign of the lateral axis.
    pub(crate) fn sign(self) -> f32 {
        match self {
            Self::Left => 1.0,
            Self::Right => -1.0,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
        }
    }
}

/// Everything that determines a synthetic clip, apart from the terrain.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionRequest {
    /// What to do.
    pub kind: MotionKind,
    /// Mean root speed while moving, m/s: 0.5–2.0 for walks, 1.8–3.5 for jogs; small bodies cannot walk or jog the
    /// fastest of these. For jumps the vertical speed
    /// at take-off, 1.2–2.6 m/s. Ignored when standing.
    pub speed_m_s: f32,
    /// Turn rate at full speed, rad/s, positive to the left: the path is a circle of radius speed / turn rate.
    /// At most 1.2 in size, and the circle at least 0.8 m in radius. Only moving kinds turn.
    pub turn_rate_rad_s: f32,
    /// Length of the clip, seconds, 0.5–600.
    pub duration_s: f32,
    /// Seed of the stride variations and of the sway.
    pub seed: u64,
    /// Size of the stride variations: 1 is a healthy adult's (about 2 % of stride time and length), 0 none, at most 2.
    pub variation: f32,
    /// The foot that steps first.
    pub first_foot: Side,
    /// Beginning and end of a walk or jog.
    pub ends: Ends,
    /// World x and z of the pelvis at time 0, metres.
    pub start_xz: [f32; 2],
    /// Heading at time 0, radians; 0 faces +Z, positive to the left.
    pub heading_rad: f32,
    /// Body height, metres, 1.0–2.2.
    pub body_height_m: f32,
}

impl MotionRequest {
    /// Eight seconds of `kind` at a usual speed (walk 1.3 m/s, jog 2.5 m/s, take-off 2.2 m/s), straight ahead, from
    /// the origin, left foot first, steady ends, seed 0, full variation, body height 1.75 m.
    pub fn new(kind: MotionKind) -> Self {
        let speed_m_s = match kind {
            MotionKind::Stand => 0.0,
            MotionKind::Walk | MotionKind::StopAndGo => 1.3,
            MotionKind::Jog => 2.5,
            MotionKind::Jump => 2.2,
        };
        Self {
            kind,
            speed_m_s,
            turn_rate_rad_s: 0.0,
            duration_s: 8.0,
            seed: 0,
            variation: 1.0,
            first_foot: Side::Left,
            ends: Ends::Steady,
            start_xz: [0.0, 0.0],
            heading_rad: 0.0,
            body_height_m: 1.75,
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    /// [`SyntheticError::BadRequest`] with the first field outside its range, NaN included.
    pub fn validate(&self) -> Result<(), SyntheticError> {
        let check = |field, value: f32, low: f32, high: f32, expected| {
            if value >= low && value <= high {
                Ok(())
            } else {
                Err(SyntheticError::BadRequest { field, value, expected })
            }
        };
        match self.kind {
            MotionKind::Stand => {}
            MotionKind::Walk | MotionKind::StopAndGo => {
                check("speed_m_s", self.speed_m_s, 0.5, 2.0, "from 0.5 to 2.0 m/s for a walk")?;
            }
            MotionKind::Jog => {
                check("speed_m_s", self.speed_m_s, 1.8, 3.5, "from 1.8 to 3.5 m/s for a jog")?;
            }
            MotionKind::Jump => {
                check("speed_m_s", self.speed_m_s, 1.2, 2.6, "from 1.2 to 2.6 m/s at take-off")?;
            }
        }
        check("turn_rate_rad_s", self.turn_rate_rad_s, -1.2, 1.2, "from -1.2 to 1.2 rad/s")?;
        if self.moves() {
            let tightest = self.speed_m_s / 0.8;
            check(
                "turn_rate_rad_s",
                self.turn_rate_rad_s,
                -tightest,
                tightest,
                "a circle of radius 0.8 m or more",
            )?;
        }
        check("duration_s", self.duration_s, 0.5, 600.0, "from 0.5 to 600 s")?;
        if self.kind == MotionKind::StopAndGo || (self.moves() && self.ends == Ends::Standing) {
            check(
                "duration_s",
                self.duration_s,
                4.0,
                600.0,
                "at least 4 s for a motion from stand to stand",
            )?;
        }
        if self.kind == MotionKind::Jump {
            check("duration_s", self.duration_s, 2.6, 600.0, "at least 2.6 s for a jump")?;
        }
        check("variation", self.variation, 0.0, 2.0, "from 0 to 2")?;
        check("start_xz[0]", self.start_xz[0], -1e5, 1e5, "a place within 100 km of the origin")?;
        check("start_xz[1]", self.start_xz[1], -1e5, 1e5, "a place within 100 km of the origin")?;
        check("heading_rad", self.heading_rad, -10.0, 10.0, "from -10 to 10 rad")?;
        check("body_height_m", self.body_height_m, 1.0, 2.2, "from 1.0 to 2.2 m")
    }

    /// Whether the root travels.
    pub(crate) fn moves(&self) -> bool {
        matches!(self.kind, MotionKind::Walk | MotionKind::Jog | MotionKind::StopAndGo)
    }
}

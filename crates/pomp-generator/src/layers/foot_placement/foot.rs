//! One foot on its way from foothold to foothold.

use super::foothold::{Search, Support};
use glam::{Vec2, Vec3};
use pomp_motion::{humanoid, smoothstep};

/// Speed in the direction of travel from which a foot swings, and until which it does, m/s: standing feet of the module
/// slide back rather than ahead.
const SWINGS_FROM_MPS: f32 = 0.5;
const SWINGS_UNTIL_MPS: f32 = 0.3;
/// Time over which that speed is taken, seconds.
const SPEED_S: f32 = 0.04;
/// A swing and a stance last for so many frames at least.
const LEAST_FRAMES: u32 = 6;
/// For how many frames a standing simulated foot has to be on another tread than its target before the target gives in.
const MISPLACED_FRAMES: u32 = 6;
/// Step length over the square root of the speed, m/(m/s)^½: √(60 · walk ratio), with the walk ratio of 0.0065 m per step
/// a minute that people keep at every speed (Sekiya and Nagasaki 1998).
const STEP_PER_ROOT_SPEED: f32 = 0.624;
/// How far before the root a foot lands, over the step length, until steps have told.
const REACH_PER_STEP: f32 = 0.42;
/// Time of a swing, seconds.
const SWING_S: f32 = 0.4;
/// Frames in which a foot that lands elsewhere than expected comes to its foothold.
const SETTLING_FRAMES: u32 = 5;
/// Share of a swing after which its foothold is decided.
const DECIDED: f32 = 0.5;
/// Longest way that a standing foot is carried aside, metres; beyond, it gives in.
const LONGEST_SHIFT_M: f32 = 0.35;
/// Farthest that a swing leads from the foothold that is decided, metres; beyond, another is looked for. Feet of the module
/// reach a decimetre beyond where they then stand, and two beyond where that was foreseen.
const ASTRAY_M: f32 = 0.6;
/// Fastest that the ground under a foot rises or sinks, metres per frame.
const FASTEST_M: f32 = 0.05;
/// Clearance over what has to be stepped over, metres: a simulated foot lags behind its target.
const CLEARANCE_M: f32 = 0.03;
/// Distances along the path, metres: at which it is looked along, and within which an obstacle ahead and one left behind
/// lifts the foot.
const LOOK_STEP_M: f32 = 0.03;
const AHEAD_M: f32 = 0.45;
const BEHIND_M: f32 = 0.09;
/// Share of the way that a foothold moves to where the simulated foot stands, each frame, and how much higher or lower
/// that one may stand to be on the same tread, metres.
const GIVES_IN: f32 = 0.15;
const SAME_TREAD_M: f32 = 0.03;
/// A foot that comes down as near as this to the foothold that it was going to stands there, metres.
const NEAR_M: f32 = 0.2;
/// Distance at which a simulated foot stands elsewhere, metres.
const MISSES_BY_M: f32 = 0.07;
/// Farthest that a simulated foot is thought to lag behind its target, metres.
const LONGEST_LAG_M: f32 = 0.3;
/// A frame that moves a foot farther than this is no step, metres.
const LEAP_M: f32 = 0.4;

/// What carries a foot from the ground that the kinematic module is shown to the ground itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Carried {
    /// On the ground plane, metres.
    pub shift: Vec2,
    /// Of the sole over the walking surface, metres.
    pub raise_m: f32,
    /// Turn of the sole, toes up, radians.
    pub lean: f32,
}

impl Carried {
    fn lerp(self, to: Self, share: f32) -> Self {
        Self {
            shift: self.shift.lerp(to.shift, share),
            raise_m: self.raise_m + (to.raise_m - self.raise_m) * share,
            lean: self.lean + (to.lean - self.lean) * share,
        }
    }
}

/// The kinematic module's foot in one frame.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    pub search: Search<'a>,
    /// The ankle on the ground plane, now and a frame ago.
    pub ankle: Vec2,
    pub before: Vec2,
    /// The root, and how far before it feet have landed of late, metres.
    pub root: Vec2,
    pub reach_m: Option<f32>,
    /// The ankle of the simulated body.
    pub body: Option<Vec3>,
    /// Velocity of the root, m/s.
    pub travel: Vec2,
    /// Angle of the shown ground under the sole at a place, radians.
    pub shown_lean: &'a dyn Fn(Vec2) -> f32,
    /// Height of the module's foot above the ground that it is shown, metres.
    pub clearance_m: f32,
    pub dt_s: f32,
}

/// A foot between two frames.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Foot {
    started: bool,
    swinging: bool,
    /// Frames since it began to swing or stand.
    frames: u32,
    forward_mps: f32,
    misplaced: u32,
    /// Share of the swing that is over.
    progress: f32,
    lifted_at: Vec2,
    landing_at: Vec2,
    from: Carried,
    to: Carried,
    now: Carried,
    settling: u32,
    /// The foothold, where sliding would meet an edge.
    held: Option<(Vec2, Support)>,
    chosen: Option<Vec2>,
    lift_m: f32,
}

impl Foot {
    /// What carries it.
    pub fn carried(&self) -> Carried {
        self.now
    }

    /// How much higher than its ground it is carried to clear what is in its way, metres.
    pub fn lift_m(&self) -> f32 {
        self.lift_m
    }

    /// Whether it stands.
    pub fn stands(&self) -> bool {
        !self.swinging
    }

    /// Whether it bears weight, or is about to.
    pub fn bears(&self) -> bool {
        !self.swinging || self.progress > 0.7
    }

    /// Moves on by a frame. A foot that has just landed gives how far before the root it did, metres.
    pub fn advance(&mut self, step: &Step<'_>) -> Option<f32> {
        let mut landed = None;
        if !self.started || step.ankle.distance(step.before) > LEAP_M {
            *self = Self { started: true, ..Self::default() };
            self.to = at(step, step.ankle, step.search.nearest(step.ankle, None));
            self.now = self.to;
            self.plant(step, step.ankle + self.now.shift);
            self.settling = 0;
        }
        let direction = step.travel.try_normalize().unwrap_or(step.search.ahead);
        let forward = (step.ankle - step.before).dot(direction) / step.dt_s;
        self.forward_mps += (forward - self.forward_mps) * (1.0 - (-step.dt_s / SPEED_S).exp());
        self.frames += 1;
        let from_mps = if self.swinging { SWINGS_UNTIL_MPS } else { SWINGS_FROM_MPS };
        let swinging = if self.frames > LEAST_FRAMES { self.forward_mps > from_mps } else { self.swinging };
        if swinging != self.swinging {
            self.frames = 0;
        }
        if swinging && !self.swinging {
            self.progress = 0.0;
            self.lifted_at = step.ankle;
            self.from = self.now;
            self.chosen = None;
        } else if self.swinging && !swinging {
            landed = Some((step.ankle - step.root).dot(direction));
            let place = step.ankle + self.now.shift;
            self.plant(step, self.chosen.filter(|chosen| chosen.distance(place) < NEAR_M).unwrap_or(place));
        }
        self.swinging = swinging;
        let raise_m = self.now.raise_m;
        if swinging {
            self.swing(step);
        } else {
            self.stand(step);
        }
        self.now.raise_m = raise_m + (self.now.raise_m - raise_m).clamp(-FASTEST_M, FASTEST_M);
        landed
    }

    fn swing(&mut self, step: &Step<'_>) {
        let speed = step.travel.length();
        let direction = step.travel.try_normalize().unwrap_or(step.search.ahead);
        // Where feet land before the root is known from the last steps; the root goes on until then.
        let most = STEP_PER_ROOT_SPEED * speed.sqrt();
        let reach = step.reach_m.unwrap_or(REACH_PER_STEP * most);
        let left = (reach - (step.ankle - step.root).dot(direction)).max(0.0);
        let swings = (reach + 0.5 * most).max(0.1);
        let left = left * (1.0 + speed * SWING_S / swings);
        self.landing_at = step.ankle + direction * left;
        let foothold = match self.chosen {
            // Too late to change.
            Some(chosen) if self.progress > DECIDED && chosen.distance(self.landing_at) < ASTRAY_M => chosen,
            chosen => step.search.nearest(self.landing_at, chosen),
        };
        // Where every place is as good, the module has its way.
        self.chosen = (foothold != self.landing_at).then_some(foothold);
        self.to = at(step, self.landing_at, foothold);
        let gone = step.ankle.distance(self.lifted_at);
        self.progress = self.progress.max(gone / (gone + left).max(1e-3));
        self.now = self.from.lerp(self.to, smoothstep(self.progress));
        let lift = (self.needed_lift(step) - step.clearance_m).max(0.0);
        self.lift_m += (lift - self.lift_m).clamp(-FASTEST_M, FASTEST_M);
    }

    /// Sets the foot down as near to `place` as it can stand.
    fn plant(&mut self, step: &Step<'_>, place: Vec2) {
        let foothold = step.search.nearest(place, self.chosen);
        self.held = step.search.near_edge(foothold).then(|| (foothold, step.search.support(foothold)));
        self.to = at(step, step.ankle, foothold);
        self.settling = SETTLING_FRAMES;
        self.progress = 1.0;
        self.misplaced = 0;
    }

    fn stand(&mut self, step: &Step<'_>) {
        self.accept(step);
        self.to = match self.held {
            Some((held, support)) => {
                let place = step.ankle + (held - step.ankle).clamp_length_max(LONGEST_SHIFT_M);
                on(step, step.ankle, place, support)
            }
            None => at(step, step.ankle, step.ankle + self.to.shift),
        };
        self.now = self.now.lerp(self.to, 1.0 / (self.settling + 1) as f32);
        self.settling = self.settling.saturating_sub(1);
        self.lift_m = (self.lift_m * 0.6 - 1e-4).max(0.0);
    }

    /// Lets the foothold be where the simulated foot stands: nearby on the same tread little by little, or, when that foot
    /// has stood elsewhere for a while, there.
    fn accept(&mut self, step: &Step<'_>) {
        let (Some((held, support)), Some(body)) = (self.held, step.body) else { return };
        if self.settling > 0 {
            return;
        }
        let sole_m = body.y - humanoid::ANKLE_HEIGHT * step.search.sole.body_height_m;
        let place = Vec2::new(body.x, body.z);
        let there = step.search.support(place);
        let same = (there.height_m - support.height_m).abs() < SAME_TREAD_M && there.ball;
        if same && (sole_m - support.height_m).abs() < MISSES_BY_M {
            self.misplaced = 0;
            self.held = Some((held.lerp(place, GIVES_IN), support));
        } else if (sole_m - support.height_m).abs() > MISSES_BY_M || place.distance(held) > MISSES_BY_M {
            self.misplaced += 1;
            if self.misplaced > MISPLACED_FRAMES {
                self.chosen = None;
                self.plant(step, place);
            }
        }
    }

    /// The most that anything near on the way to the foothold asks for; nothing on ground that the walking surface
    /// follows.
    fn needed_lift(&self, step: &Step<'_>) -> f32 {
        let way = self.landing_at - self.lifted_at;
        let length = way.length().max(0.05);
        let looks = |metres: f32| (metres / LOOK_STEP_M).round() as i32;
        let direction = way.try_normalize().unwrap_or(step.search.ahead);
        // What the target has passed is still before a body that lags.
        let lag = step
            .body
            .map_or(0.0, |body| (step.ankle + self.now.shift - Vec2::new(body.x, body.z)).dot(direction));
        let lag = lag.clamp(0.0, LONGEST_LAG_M);
        (-looks(BEHIND_M + lag)..=looks(AHEAD_M))
            .map(|k| {
                let distance = LOOK_STEP_M * k as f32;
                let share = self.progress + distance / length;
                if !(0.0..=1.0).contains(&share) {
                    return 0.0;
                }
                let carried = self.from.lerp(self.to, smoothstep(share));
                // Where the way leads past, beside the straight line from foothold to foothold as the foot is now.
                let aside = step.ankle - (self.lifted_at + way * self.progress);
                let place = self.lifted_at + way * share + aside + carried.shift;
                let missing = self.missing(step, place, carried);
                let beyond =
                    if distance > 0.0 { distance / AHEAD_M } else { (-distance - lag).max(0.0) / BEHIND_M };
                missing * (1.0 - beyond).max(0.0)
            })
            .fold(0.0, f32::max)
    }

    /// How much too low a sole would be at `place`.
    fn missing(&self, step: &Step<'_>, place: Vec2, carried: Carried) -> f32 {
        let Search { terrain, surface, sole, ahead, .. } = step.search;
        let level = surface.height(place.x, place.y) + carried.raise_m;
        let rise = (carried.lean + (step.shown_lean)(place - carried.shift)).tan();
        let missing = sole
            .length_m()
            .into_iter()
            .map(|along| {
                let at = place + ahead * along;
                terrain.height(at.x, at.y) - (level + rise * along)
            })
            .fold(0.0, f32::max);
        // Unevenness is for the clearance that the swing has anyway.
        if missing > 0.02 { missing + CLEARANCE_M } else { missing }
    }
}

/// What carries a foot that the module has at `ankle` to `foothold`.
fn at(step: &Step<'_>, ankle: Vec2, foothold: Vec2) -> Carried {
    on(step, ankle, foothold, step.search.support(foothold))
}

fn on(step: &Step<'_>, ankle: Vec2, foothold: Vec2, support: Support) -> Carried {
    Carried {
        shift: foothold - ankle,
        raise_m: support.height_m - step.search.surface.height(foothold.x, foothold.y),
        lean: support.lean - (step.shown_lean)(ankle),
    }
}

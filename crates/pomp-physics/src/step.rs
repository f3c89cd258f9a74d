//! A frame of all ragdolls of one world, of which there may be one.

use crate::balance::{Footing, Led};
use crate::drive::{DriveOutcome, DrivePlan, DriveState, ExpectedDrives};
use crate::frame::{Divergence, DivergenceReason, Frame};
use crate::module::WHOLE;
use crate::motion::Motion;
use crate::state::Pass;
use crate::world::{ContactImpulses, PerMember, World};
use crate::{DynamicModule, Expectation, GainScale, PhysicsError, PoseVelocity, Push};
use pomp_motion::glam::Vec3;
use pomp_motion::{PerJoint, Pose};
use std::sync::Arc;

/// Most work that the ground does on a body in a step, J/kg. It does none on what touches it, but centres of mass rise over feet that
/// push off.
const MOST_WORK_J_KG: f32 = 3.0;

/// A step whose drives exceed their limits is solved again, softer, at most this many times in all.
const ATTEMPTS: usize = 6;

/// What one ragdoll of several is to do in a frame.
#[derive(Clone, Copy, Debug)]
pub struct MemberStep<'a> {
    /// The target at the start of the frame.
    pub from: &'a Pose,
    /// The target at its end.
    pub to: &'a Pose,
    /// Pushes during it.
    pub pushes: &'a [Push],
    /// What it asks of the drives, as for [`DynamicModule::step_expecting`].
    pub expected: Option<&'a Expectation>,
}

/// [`MemberStep`] as the drives take it.
pub(crate) struct Aim<'a> {
    pub(crate) from: Pose,
    pub(crate) to: Pose,
    pub(crate) velocity: PoseVelocity,
    pushes: &'a [Push],
    pub(crate) expected: Option<&'a Expectation>,
    /// How the target moves, for a body that balances by its legs.
    pub(crate) led: Option<Led>,
}

/// Sums over the steps of a frame, of one ragdoll.
struct Totals {
    contacts: ContactImpulses,
    assist_impulse: Vec3,
    assist_angular_impulse: Vec3,
    joint_impulse: PerJoint<Vec3>,
    saturated: usize,
}

impl Totals {
    fn none(joints: usize) -> Self {
        Self {
            contacts: ContactImpulses::none(joints),
            assist_impulse: Vec3::ZERO,
            assist_angular_impulse: Vec3::ZERO,
            joint_impulse: PerJoint::from_elem(Vec3::ZERO, joints),
            saturated: 0,
        }
    }

    /// Adds a step of `h` seconds, in which so many joints were softened.
    fn add(&mut self, h: f32, outcome: &DriveOutcome, contacts: &ContactImpulses, saturated: usize) {
        let ContactImpulses { from_ground, ground_points, ground_weights, from_boxes, from_characters } =
            &mut self.contacts;
        let sums = [
            (from_ground, &contacts.from_ground),
            (ground_points, &contacts.ground_points),
            (from_boxes, &contacts.from_boxes),
            (from_characters, &contacts.from_characters),
        ];
        for (sums, impulses) in sums {
            sums.iter_mut().zip(impulses).for_each(|(sum, impulse)| *sum += *impulse);
        }
        ground_weights.iter_mut().zip(&contacts.ground_weights).for_each(|(sum, weight)| *sum += *weight);
        self.assist_impulse += outcome.assist_force * h;
        self.assist_angular_impulse += outcome.assist_torque * h;
        for (total, torque) in self.joint_impulse.iter_mut().zip(&outcome.joint_torque) {
            *total += *torque * h;
        }
        self.saturated = self.saturated.max(saturated);
    }
}

/// A ragdoll that diverged, and how.
type Diverged = (usize, DivergenceReason);

impl DynamicModule {
    /// Simulates one control frame; the target moves from `from` at its start to `to` at its end.
    ///
    /// A diverged simulation is no error: the pose at the start of the frame is restored at rest, on the ground and out of it, and
    /// [`Frame::recovered`] says so. Nothing that is not finite comes out.
    ///
    /// # Errors
    /// When a target or push is not finite, has the wrong size or names no body. The state is then unchanged.
    pub fn step(&mut self, from: &Pose, to: &Pose, pushes: &[Push]) -> Result<Frame, PhysicsError> {
        self.step_expecting(from, to, pushes, None)
    }

    /// As [`Self::step`]; the drives begin with the torques that the `expected` forces and accelerations ask for in the
    /// present pose, at most four fifths of their limits, and with the gains that it scales. It is about this frame
    /// alone.
    ///
    /// # Errors
    /// Those of [`Self::step`], and an expectation of the wrong size, that is not finite or names no body.
    pub fn step_expecting(
        &mut self,
        from: &Pose,
        to: &Pose,
        pushes: &[Push],
        expected: Option<&Expectation>,
    ) -> Result<Frame, PhysicsError> {
        let steps = [MemberStep { from, to, pushes, expected }];
        let mut frames = Self::step_members(&mut [self], &steps)?;
        Ok(frames.pop().expect("one frame per step"))
    }

    /// Simulates one frame of all ragdolls of one world, as [`Self::step`] does that of one. Bodies of different ragdolls meet
    /// as bodies and boxes do; [`Frame::character_impulse`] tells of it.
    ///
    /// When one diverges, the frame is given up for all: each is put back to where it was at the start of the frame, the one
    /// that diverged at rest, and every [`Frame::recovered`] says so.
    ///
    /// # Errors
    /// [`PhysicsError::NotTogether`] when `modules` are not those of one [`DynamicModule::together`], all and in its order;
    /// else those of [`Self::step_expecting`]. No state is changed then.
    pub fn step_together(
        modules: &mut [&mut Self],
        steps: &[MemberStep<'_>],
    ) -> Result<Vec<Frame>, PhysicsError> {
        Ok(Self::step_members(modules, steps)?.into_vec())
    }

    /// [`Self::step_together`], which asks for no memory where there is one ragdoll.
    fn step_members(
        modules: &mut [&mut Self],
        steps: &[MemberStep<'_>],
    ) -> Result<PerMember<Frame>, PhysicsError> {
        let not_together = |reason: &str| Err(PhysicsError::NotTogether { reason: reason.to_owned() });
        let Some(first) = modules.first() else { return not_together("none at all is to be stepped") };
        let shared = Arc::clone(&first.world);
        let mut world = shared.lock().expect(WHOLE);
        if modules.len() != world.ragdolls.len() || modules.len() != steps.len() {
            return not_together("a world is stepped with all of its ragdolls, and a step for each");
        }
        let in_order =
            |(i, module): (usize, &&mut Self)| module.member == i && Arc::ptr_eq(&module.world, &shared);
        if !modules.iter().enumerate().all(in_order) {
            return not_together("they are of several worlds, or not in the order in which they were made");
        }
        for (module, step) in modules.iter().zip(steps) {
            module.check_pose("target at the start of the frame", step.from)?;
            module.check_pose("target at the end of the frame", step.to)?;
            module.check_pushes(step.pushes)?;
            if let Some(expected) = step.expected {
                expected.check(module.names.len())?;
            }
        }
        let aims: PerMember<Aim<'_>> =
            modules.iter_mut().zip(steps).map(|(module, step)| module.aim(&world, step)).collect();
        for (module, step) in modules.iter_mut().zip(steps) {
            module.strike(step.pushes.iter().map(|push| push.impulse_ns).sum());
        }
        let frame_s = modules[0].frame_s();
        let count = modules[0].config.steps_per_frame;
        let mut totals: PerMember<Totals> =
            modules.iter().map(|module| Totals::none(module.names.len())).collect();
        let before: PerMember<Motion> = modules.iter().map(|module| module.motion.clone()).collect();
        world.begin_frame(frame_s);
        for k in 0..count {
            if let Err(diverged) = substep(&mut world, modules, &aims, k as f32 / count as f32, &mut totals) {
                return Ok(recover(&mut world, modules, before, diverged));
            }
        }
        // All count, the one that has been there for too long among them.
        let lost = modules.iter_mut().enumerate().fold(None, |first: Option<usize>, (member, module)| {
            let lost = module.is_lost_in_ground(&world);
            first.or(lost.then_some(member))
        });
        if let Some(member) = lost {
            let diverged = (member, DivergenceReason::InGround);
            return Ok(recover(&mut world, modules, before, diverged));
        }
        for (module, totals) in modules.iter_mut().zip(&totals) {
            module.settle_assist(totals.assist_impulse / frame_s);
            module.note_loads(&totals.contacts.from_ground);
            let blows = totals.contacts.from_boxes.iter().chain(&totals.contacts.from_characters);
            module.strike(blows.copied().sum());
        }
        let frames = modules.iter().zip(totals).map(|(module, totals)| {
            let motion = module.motion.clone();
            Frame {
                root_linear_velocity: motion.linear[0],
                velocities: motion.linear,
                root_angular_velocity: motion.angular[0],
                contact_point: totals.contacts.points(&motion.pose.positions),
                pose: motion.pose,
                contact_impulse: totals.contacts.from_ground,
                box_impulse: totals.contacts.from_boxes,
                character_impulse: totals.contacts.from_characters,
                assist_force: totals.assist_impulse / frame_s,
                assist_torque: totals.assist_angular_impulse / frame_s,
                joint_torque: totals.joint_impulse.iter().map(|v| v.length() / frame_s).collect(),
                saturated_joints: totals.saturated,
                recovered: None,
            }
        });
        Ok(frames.collect())
    }
}

impl DynamicModule {
    /// What a step asks of the drives.
    fn aim<'a>(&mut self, world: &World, step: &MemberStep<'a>) -> Aim<'a> {
        let (mut from, mut to) = (self.drives.allowed_pose(step.from), self.drives.allowed_pose(step.to));
        let balances = self.balances();
        if balances {
            let led = self.led_velocity((to.root_position - from.root_position) / self.frame_s());
            self.move_feet(world, led, &mut from, &mut to);
        }
        let velocity = PoseVelocity::between(&from, &to, self.frame_s());
        let mut aim = Aim { from, to, velocity, pushes: step.pushes, expected: step.expected, led: None };
        if balances {
            self.lead(world, &mut aim);
        }
        aim
    }

    /// Whether the legs hold the body up in place of the assist: not while the assist is scaled to nothing, which is what a body on
    /// the ground gets, nor while it is held.
    fn balances(&self) -> bool {
        self.config.balance.enabled && self.controls.assist_scale > 0.0 && !self.controls.held
    }
}

/// One step, which begins after the share `elapsed` of the frame.
fn substep(
    world: &mut World,
    modules: &mut [&mut DynamicModule],
    aims: &[Aim<'_>],
    elapsed: f32,
    totals: &mut [Totals],
) -> Result<(), Diverged> {
    let starts: PerMember<Motion> = modules.iter().map(|module| module.motion.clone()).collect();
    world.begin_step(aims.iter().map(|aim| aim.pushes), modules[0].frame_s());
    let balances = aims.iter().any(|aim| aim.led.is_some());
    let footings: PerMember<[Footing; 2]> =
        if balances { footings(world, modules, aims) } else { PerMember::new() };
    let mut plans: PerMember<DrivePlan> = modules
        .iter()
        .zip(aims)
        .enumerate()
        .map(|(member, (module, aim))| {
            let footing = footings.get(member).copied().unwrap_or_default();
            plan(world, module, member, aim, (&starts[member], footing), elapsed)
        })
        .collect();
    if balances {
        let stances: PerMember<[f32; 2]> =
            footings.iter().map(|footing| footing.map(|foot| foot.stands)).collect();
        balance(world, modules, aims, (&starts, &stances), elapsed, &mut plans)?;
    }
    let outcomes = solve(world, &starts, &mut plans)?;
    world.finish_step();
    let contacts = world.contact_impulses();
    for (member, module) in modules.iter_mut().enumerate() {
        module.motion = world.motion(member);
    }
    for (member, (outcome, contacts)) in outcomes.iter().zip(&contacts).enumerate() {
        check(world, modules[member], &starts[member], contacts).map_err(|reason| (member, reason))?;
        totals[member].add(world.step_s(), outcome, contacts, plans[member].saturated_joints());
    }
    Ok(())
}

/// How the feet of all ragdolls are on the ground; those of one that does not balance count for nothing.
fn footings(world: &World, modules: &[&mut DynamicModule], aims: &[Aim<'_>]) -> PerMember<[Footing; 2]> {
    let of = |(member, (module, aim)): (usize, (&&mut DynamicModule, &Aim<'_>))| match &aim.led {
        Some(led) => world.footing(module, member, led),
        None => <[Footing; 2]>::default(),
    };
    modules.iter().zip(aims).enumerate().map(of).collect()
}

/// The springs of ragdoll `member`, which is in the state `start`, for the next step.
fn plan(
    world: &World,
    module: &DynamicModule,
    member: usize,
    aim: &Aim<'_>,
    (start, footing): (&Motion, [Footing; 2]),
    elapsed: f32,
) -> DrivePlan {
    let state = DriveState {
        root_position: start.pose.positions[0],
        assist_given_n: module.controls.assist_given_n.length(),
        struck: module.controls.struck,
        local_rotations: &start.local_rotations,
    };
    let scales = (module.controls.strength_scale, module.controls.assist_scale);
    let joints = module.names.len();
    let expected = aim
        .expected
        .map(|expected| (world.expected_torques(member, start, expected), expected.gains.clone()));
    let expected = match (expected, &aim.led) {
        (None, None) => None,
        (expected, led) => {
            let (torques, mut gains) =
                expected.unwrap_or_else(|| (vec![Vec3::ZERO; joints], vec![GainScale::NONE; joints]));
            if let Some(led) = led {
                let ragdoll = &world.ragdolls[member];
                let slip = led.velocity - ragdoll.momentum(start) / ragdoll.total_mass();
                let undisturbed = led.undisturbed(slip);
                module.soften_stance(footing, undisturbed, &mut gains);
            }
            Some(ExpectedDrives { torques, gains })
        }
    };
    let target = if elapsed == 0.0 { aim.from.clone() } else { aim.from.lerp(&aim.to, elapsed) };
    module.drives.plan(&state, &target, &aim.velocity, scales, expected.as_ref())
}

/// Takes the springs of the root out of the plans of those that balance, and lets the legs press on the ground in their stead.
fn balance(
    world: &mut World,
    modules: &mut [&mut DynamicModule],
    aims: &[Aim<'_>],
    (starts, stances): (&[Motion], &[[f32; 2]]),
    elapsed: f32,
    plans: &mut [DrivePlan],
) -> Result<(), Diverged> {
    let h = world.step_s();
    let mut held = PerMember::from(&*plans);
    let mut wanted = PerMember::with_capacity(plans.len());
    for (member, (module, aim)) in modules.iter().zip(aims).enumerate() {
        let start = &starts[member];
        wanted.push(aim.led.as_ref().map(|led| {
            let wanted = world.wanted_motion(module, (member, start), led, stances[member], elapsed);
            let (linear, angular) =
                (start.linear[0] + wanted.linear * h, start.angular[0] + wanted.angular * h);
            held[member] = plans[member].holding_root(module.config.mass_kg, h, linear, angular);
            wanted
        }));
    }
    world.solve_step(&held, starts, Pass::RootsHeld);
    for (member, wanted) in wanted.into_iter().enumerate() {
        let (Some(wanted), Some(led)) = (wanted, &aims[member].led) else { continue };
        let outcome = outcome(world, member, &held[member])?;
        let state = (member, &starts[member]);
        let bears = modules[member].bear(stances[member], h);
        let led = (led, elapsed);
        world.balance(modules[member], state, (&outcome, &wanted), led, bears, &mut plans[member]);
    }
    Ok(())
}

/// What the drives of ragdoll `member` did in the step as solved.
fn outcome(world: &World, member: usize, plan: &DrivePlan) -> Result<DriveOutcome, Diverged> {
    let (root_linear, relative) = world.solved_velocity(member);
    if !(root_linear.is_finite() && relative.iter().all(|rate| rate.is_finite())) {
        return Err((member, DivergenceReason::NotFinite));
    }
    Ok(plan.outcome(world.step_s(), root_linear, &relative))
}

/// Solves the step, and solves it again with softer drives while one of them exceeds its limit.
fn solve(
    world: &mut World,
    starts: &[Motion],
    plans: &mut [DrivePlan],
) -> Result<PerMember<DriveOutcome>, Diverged> {
    let mut attempt = 1;
    loop {
        world.solve_step(plans, starts, Pass::Real);
        let mut outcomes = PerMember::with_capacity(plans.len());
        for (member, plan) in plans.iter().enumerate() {
            outcomes.push(outcome(world, member, plan)?);
        }
        if attempt == ATTEMPTS || outcomes.iter().all(|outcome| !outcome.exceeded) {
            return Ok(outcomes);
        }
        attempt += 1;
        for (plan, outcome) in plans.iter_mut().zip(&outcomes) {
            if outcome.exceeded {
                plan.soften(outcome);
            }
        }
    }
}

/// Checks what a step made of a ragdoll, which was in the state `start`.
fn check(
    world: &World,
    module: &DynamicModule,
    start: &Motion,
    contacts: &ContactImpulses,
) -> Result<(), DivergenceReason> {
    let ragdoll = &module.ragdoll;
    module.check_state(world)?;
    let speeds = ragdoll.center_velocities(start).zip(ragdoll.center_velocities(&module.motion));
    let work: f32 =
        contacts.from_ground.iter().zip(speeds).map(|(on, (from, to))| 0.5 * on.dot(from + to)).sum();
    if work > MOST_WORK_J_KG * ragdoll.total_mass() {
        return Err(DivergenceReason::ThrownOff);
    }
    Ok(())
}

/// Restores the poses `before`, that of the one that diverged at rest, on the ground and out of it. What made it diverge, its velocities
/// and all contacts, is not restored.
fn recover(
    world: &mut World,
    modules: &mut [&mut DynamicModule],
    mut before: PerMember<Motion>,
    (diverged, reason): Diverged,
) -> PerMember<Frame> {
    world.ground.bring_back(&mut before[diverged].pose);
    world.ground.lift_out(&mut before[diverged].pose);
    let poses: Vec<(Pose, PoseVelocity)> = before
        .iter()
        .enumerate()
        .map(|(member, motion)| {
            let joints = motion.local_rotations.len();
            let pose = Pose {
                root_position: motion.pose.positions[0],
                local_rotations: motion.local_rotations.clone(),
            };
            let velocity = if member == diverged {
                PoseVelocity::zero(joints)
            } else {
                PoseVelocity { root_linear: motion.linear[0], angular: motion.relative.clone() }
            };
            (pose, velocity)
        })
        .collect();
    world.reset(&poses);
    let frames = modules.iter_mut().zip(before).enumerate().map(|(member, (module, before))| {
        let joints = module.names.len();
        module.motion = world.motion(member);
        module.controls.divergences += 1;
        module.controls.frames_in_ground = 0;
        let moves = member != diverged;
        let of_before = |velocity: Vec3| if moves { velocity } else { Vec3::ZERO };
        let none = PerJoint::from_elem(Vec3::ZERO, joints);
        Frame {
            contact_point: before.pose.positions.clone(),
            pose: before.pose,
            velocities: before.linear.iter().map(|velocity| of_before(*velocity)).collect(),
            root_linear_velocity: of_before(before.linear[0]),
            root_angular_velocity: of_before(before.angular[0]),
            contact_impulse: none.clone(),
            box_impulse: none.clone(),
            character_impulse: none,
            assist_force: Vec3::ZERO,
            assist_torque: Vec3::ZERO,
            joint_torque: PerJoint::from_elem(0.0, joints),
            saturated_joints: 0,
            recovered: Some(Divergence { reason, count: module.controls.divergences }),
        }
    });
    frames.collect()
}

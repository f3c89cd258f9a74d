// Generated from the Rust types of crates/pomp-studio; do not edit. After a change of those types run
// `UPDATE_TYPES=1 cargo test --release -p pomp-studio --lib the_types_of_the_page_are_current`.

/** MessagePack's extension type of a row of f32, little-endian. */
export const FLOATS_EXTENSION = 1;

/**
 * A bump that is pressed on the ground, or out of it.
 */
export type Bump = { 
/**
 * Middle, world, metres.
 */
x: number, 
/**
 * Middle, world, metres.
 */
z: number, 
/**
 * Where it ends, metres, 0.2 to 4.
 */
radius_m: number, 
/**
 * By how much it raises its middle, metres, within ±0.05: a ground that rises by more than a foot is thick in one frame
 * leaves the foot below it.
 */
height_m: number, };

/**
 * The answer to a request for a card.
 */
export type CardAnswer = ClipCard | { 
/**
 * The reason.
 */
error: string, };

/**
 * Numbers frame by frame; what a recording does not hold is absent.
 */
export type ClipArrays = { 
/**
 * Joint positions, world, metres, 3 per joint.
 */
positions: Floats, 
/**
 * Joint rotations, world, x y z w, 4 per joint.
 */
quaternions: Floats, 
/**
 * Weights of the gaits.
 */
gait: Floats, 
/**
 * 1 for contact: left heel and toe, right heel and toe.
 */
foot_contact: Floats, 
/**
 * Contact impulses, N·s, world, 3 per body.
 */
contact_impulse?: Floats, 
/**
 * Force of the root assist, N, world, 3.
 */
assist_force?: Floats, 
/**
 * Joint positions of the simulator's replay, where they differ from the motion.
 */
sim_positions?: Floats, 
/**
 * Joint rotations of the simulator's replay.
 */
sim_quaternions?: Floats, 
/**
 * Phase code, 2 per channel.
 */
phase?: Floats, 
/**
 * Command: x, z, heading, speed.
 */
control?: Floats, 
/**
 * Vertical force of each foot, body weights: plates left and right, predicted left and right; may end before the motion.
 */
plates?: Floats, };

/**
 * What the list of clips shows of one.
 */
export type ClipCard = { 
/**
 * Its length.
 */
seconds: number, 
/**
 * Names of its gaits, the most frequent first.
 */
gaits: Array<string>, 
/**
 * `level`, `uneven` or `unknown`.
 */
ground: string, 
/**
 * Its licence; empty where none is known.
 */
license: string, 
/**
 * Where it is from; empty where that is not known.
 */
source: string, 
/**
 * A picture of its middle, as a data URL.
 */
picture: string, };

/**
 * A recording as the page reads it, in MessagePack. Ground far from the motion is left out.
 */
export type ClipPackage = { name: string, frame_rate_hz: number, frames: number, joints: Array<JointInfo>, 
/**
 * One per joint, or none.
 */
shapes: Array<Shape>, gait_names: Array<string>, source: string, license: string, has_contacts: boolean, 
/**
 * The closed loop has made it.
 */
generated: boolean, 
/**
 * Names of the simulated bodies; empty without a simulation.
 */
bodies: Array<string>, 
/**
 * Masses of the simulated bodies.
 */
body_mass_kg: Array<number>, pushes: Array<PackedPush>, terrain?: TerrainGrid, arrays: ClipArrays, };

/**
 * Something that a person did, with the frame in which it began to act.
 */
export type Event = { "steer": [number, number, number, string] } | { "steer_facing": [number, number, number, string, [number, number]] } | { "push": [number, number, [number, number, number], [number, number, number]] } | { "assist": [number, number] } | { "denoise": [number, number] } | { "style": [number, number, number] } | { "throw": [number, number, number, [number, number, number], [number, number, number]] } | { "bump": [number, number, number, number, number] };

/**
 * A joint of the file.
 */
export type FileJoint = { name: string, 
/**
 * Index of its parent.
 */
parent: number | null, 
/**
 * Where the first frame has it in the picture of a body of height 1 that faces the viewer: to the right, and up.
 */
place: [number, number], };

/**
 * Many numbers in one piece: a MessagePack extension of type [`FLOATS_EXTENSION`] whose data are f32, little-endian. The page
 * reads it as one `Float32Array`.
 */
export type Floats = Float32Array;

/**
 * One frame of a world; J joints, B bodies, C channels of the phase code, E experts, K points of a path.
 */
export type FrameMessage = { 
/**
 * The scene.
 */
epoch: number, 
/**
 * Frames since the scene began.
 */
frame: number, 
/**
 * The last steering message that this frame knows of.
 */
input_sequence: number, 
/**
 * Wall time that the frame took, milliseconds.
 */
step_ms: number, 
/**
 * Commanded speed, m/s.
 */
speed_mps: number, 
/**
 * The character lies where it fell, or gets up.
 */
fallen: boolean, 
/**
 * The clock stands.
 */
paused: boolean, 
/**
 * The events of a link are being replayed.
 */
replaying: boolean, 
/**
 * The simulation diverged in this frame, and was set back by one frame.
 */
recovered: boolean, 
/**
 * Joint positions, world, metres, 3 J.
 */
positions: Floats, 
/**
 * Joint rotations, world, x y z w, 4 J.
 */
rotations: Floats, 
/**
 * Joint positions of the target, 3 J.
 */
target_positions: Floats, 
/**
 * Joint rotations of the target, 4 J.
 */
target_rotations: Floats, 
/**
 * Contact impulses, N·s, world, 3 B.
 */
impulses: Floats, 
/**
 * Force of the root assist, N, world, 3.
 */
assist_force: Floats, 
/**
 * Centre of mass, world, metres, 3.
 */
center_of_mass: Floats, 
/**
 * Weights of the gaits.
 */
gait: Floats, 
/**
 * Phase code, 2 C.
 */
phase: Floats, 
/**
 * Shares of the experts, E.
 */
gates: Floats, 
/**
 * Predicted path: x, z, heading, 3 K.
 */
predicted_path: Floats, 
/**
 * Wanted path: x, z, 2 K.
 */
wanted_path: Floats, 
/**
 * Boxes that lie or fly about.
 */
boxes: Array<ThrownBox>, };

/**
 * Something that the page asks for.
 */
export type FromPage = { "do": "steer", 
/**
 * Number of the message; it comes back in the first frame that knows of it.
 */
sequence: number, 
/**
 * Direction, world x and z; its length is the share of full speed.
 */
direction: [number, number], 
/**
 * Name of the gait.
 */
gait: string, 
/**
 * Where it faces meanwhile, world x and z; without it, where it goes.
 */
facing?: [number, number], } | { "do": "push" } & PushRequest | { "do": "throw" } & ThrowRequest | { "do": "bump" } & Bump | { "do": "reset", 
/**
 * The scene; without it the present one.
 */
scene?: SceneRequest, } | { "do": "pause", } | { "do": "resume", } | { "do": "step", } | { "do": "pace", 
/**
 * Share of real time, 0.05 to 1.
 */
factor: number, } | { "do": "rewind", 
/**
 * How far.
 */
seconds: number, } | { "do": "assist", 
/**
 * 0 to 1.
 */
scale: number, } | { "do": "denoise", 
/**
 * Steps.
 */
steps: number, } | { "do": "style", 
/**
 * Number of the style among those of the scene.
 */
style: number, 
/**
 * 0 to 1.
 */
weight: number, } | { "do": "link", };

/**
 * A joint of a skeleton.
 */
export type JointInfo = { 
/**
 * Its name.
 */
name: string, 
/**
 * Index of its parent; absent for the root.
 */
parent: number | null, 
/**
 * Its place in its parent's frame, metres.
 */
offset: [number, number, number], };

/**
 * How much a notice matters.
 */
export type Level = "info" | "warning" | "error";

/**
 * The clips that the page lists.
 */
export type LibraryList = { 
/**
 * The clips.
 */
entries: Array<ListedClip>, 
/**
 * A folder holds more clips than are listed.
 */
more: boolean, };

/**
 * A clip of the list.
 */
export type ListedClip = { 
/**
 * Its number in the server's addresses.
 */
number: number, 
/**
 * Name without ending.
 */
name: string, 
/**
 * Folder, relative to what was given; empty for a single file.
 */
folder: string, 
/**
 * Ending of its name, in lower case.
 */
kind: string, 
/**
 * Size of the file.
 */
bytes: number, };

/**
 * The model that moves the character.
 */
export type ModelInfo = { 
/**
 * Name of its training configuration.
 */
name: string, 
/**
 * Hash of its training data.
 */
data_hash: string, };

/**
 * A text for the user.
 */
export type Notice = { 
/**
 * How much it matters.
 */
level: Level, 
/**
 * The text.
 */
text: string, };

/**
 * A push of a rollout.
 */
export type PackedPush = { time_s: number, body: number, 
/**
 * Impulse, N·s, world.
 */
impulse_ns: [number, number, number], 
/**
 * Where it acted, world, metres.
 */
point: [number, number, number], };

/**
 * A push on a body.
 */
export type PushRequest = { 
/**
 * Index of the body.
 */
body: number, 
/**
 * Impulse, N·s, world; at most 2000.
 */
impulse_ns: [number, number, number], 
/**
 * Where it acts, in the body's own frame, metres; at most 1 from its joint.
 */
point_local: [number, number, number], };

/**
 * What is known of the joints of a file.
 */
export type RigChoice = { 
/**
 * The joints of the file, parents first.
 */
joints: Array<FileJoint>, 
/**
 * All joints of the project.
 */
roles: Array<RigRole>, 
/**
 * Name of the rig map that fits, or `inferred`; empty where none was found.
 */
rig: string, 
/**
 * Why there is no map; empty where there is one.
 */
refusal: string, 
/**
 * What a person should check.
 */
warnings: Array<string>, 
/**
 * The rig map as a file, for `--rig`; empty where there is none.
 */
toml: string, };

/**
 * A joint of the project.
 */
export type RigRole = { name: string, 
/**
 * The joint of the file that plays it.
 */
joint: string | null, 
/**
 * 0 to 1.
 */
confidence: number, 
/**
 * How it was found.
 */
reason: string, };

/**
 * All that the page has to know before the first frame of a scene.
 */
export type SceneInfo = { 
/**
 * Version of the program.
 */
version: string, 
/**
 * The scene.
 */
epoch: number, 
/**
 * Name of the world in the server's addresses.
 */
world: string, 
/**
 * The model that moves the character.
 */
model: ModelInfo, 
/**
 * Names of the models that may.
 */
models: Array<string>, 
/**
 * The controller that proposes its motion.
 */
controller: string, 
/**
 * Controllers that each of the models holds, in the order of the models.
 */
controllers: Array<Array<string>>, 
/**
 * Frames per second.
 */
frame_rate_hz: number, 
/**
 * Joints of the character.
 */
joints: Array<JointInfo>, 
/**
 * Shapes of its bodies, one per joint.
 */
shapes: Array<Shape>, 
/**
 * Names of its bodies.
 */
bodies: Array<string>, 
/**
 * Masses of its bodies, kg.
 */
body_mass_kg: Array<number>, 
/**
 * Weight of the character, N.
 */
weight_n: number, 
/**
 * Height of its root when it stands, metres.
 */
standing_height_m: number, 
/**
 * Names of the gait weights of a frame.
 */
gait_names: Array<string>, 
/**
 * Gaits that the model can be asked for.
 */
gaits: Array<string>, 
/**
 * Channels of the phase code.
 */
phase_channels: number, 
/**
 * Experts of the network.
 */
experts: number, 
/**
 * Points of the paths.
 */
path_keys: number, 
/**
 * Names of the terrain presets.
 */
terrains: Array<string>, 
/**
 * Most steps of the sampler.
 */
most_denoising_steps: number, 
/**
 * Names of the styles that the character can move in.
 */
styles: Array<string>, 
/**
 * How far one can go back, seconds.
 */
rewind_s: number, 
/**
 * Length of the recording, seconds.
 */
recording_s: number, 
/**
 * Largest upload, megabytes.
 */
max_upload_mb: number, 
/**
 * The scene as it was asked for.
 */
scene: SceneRequest, };

/**
 * A world to begin: what a link reproduces.
 */
export type SceneRequest = { 
/**
 * Name of the model that moves the character; without one the first of the program's.
 */
model?: string, 
/**
 * Name of the controller that proposes its motion, one that the model holds; without one that of the program's settings.
 */
controller?: string, 
/**
 * Name of a terrain preset.
 */
terrain: string, 
/**
 * Seed of terrain and noise, up to 2³² − 1.
 */
seed: number, 
/**
 * Friction of the ground, 0.02 to 2.
 */
friction: number, 
/**
 * Mass of the body, 40 to 150 kg.
 */
mass_kg: number, 
/**
 * Share of the configured root assist, 0 to 1.
 */
assist: number, 
/**
 * Steps of the sampler.
 */
denoising_steps: number, 
/**
 * Weights of the styles that it begins in, by name; without them those of the program's settings.
 */
style?: { [key in string]: number }, 
/**
 * What happens in it, in the order of frames.
 */
events?: Array<Event>, };

/**
 * The shape of a body in its joint's frame, metres.
 */
export type Shape = { 
/**
 * Centres of its caps.
 */
capsule: [[number, number, number], [number, number, number]], 
/**
 * Its radius.
 */
radius: number, } | { 
/**
 * Corners of its profile, y and z.
 */
prism: Array<[number, number]>, 
/**
 * Where it begins along x.
 */
from_x: number, 
/**
 * Where it ends along x.
 */
to_x: number, };

/**
 * Heights on a grid.
 */
export type TerrainGrid = { 
/**
 * Rows, along z.
 */
rows: number, 
/**
 * Columns, along x.
 */
columns: number, 
/**
 * x and z of the first height, metres.
 */
origin: [number, number], 
/**
 * Distance between heights, metres.
 */
cell_m: number, 
/**
 * Heights row by row, metres.
 */
heights: Floats, };

/**
 * Changed heights.
 */
export type TerrainPatch = { 
/**
 * The scene.
 */
epoch: number, 
/**
 * First row.
 */
row: number, 
/**
 * First column.
 */
column: number, 
/**
 * Rows.
 */
rows: number, 
/**
 * Columns.
 */
columns: number, 
/**
 * Heights row by row, metres.
 */
heights: Floats, };

/**
 * A cube to be thrown.
 */
export type ThrowRequest = { 
/**
 * Length of its sides, metres.
 */
side_m: number, 
/**
 * Mass, kg.
 */
mass_kg: number, 
/**
 * Where its centre begins, world, metres.
 */
position: [number, number, number], 
/**
 * Its velocity, m/s.
 */
velocity: [number, number, number], };

/**
 * A box that was thrown.
 */
export type ThrownBox = { 
/**
 * Its number: boxes are counted as they are thrown.
 */
number: number, 
/**
 * Lengths of its sides, metres.
 */
size_m: [number, number, number], 
/**
 * Its centre, world, metres.
 */
position: [number, number, number], 
/**
 * Its rotation, x y z w.
 */
rotation: [number, number, number, number], };

/**
 * Something that the server tells the page. Epochs count the scenes since the page connected.
 */
export type ToPage = { "kind": "scene" } & SceneInfo | { "kind": "terrain", 
/**
 * The scene.
 */
epoch: number, 
/**
 * The ground.
 */
terrain: TerrainGrid, } | { "kind": "patch" } & TerrainPatch | { "kind": "frame" } & FrameMessage | { "kind": "notice" } & Notice | { "kind": "state" } & WorldState | { "kind": "link", 
/**
 * The scene.
 */
scene: SceneRequest, };

/**
 * Clock and settings of a world.
 */
export type WorldState = { 
/**
 * The scene.
 */
epoch: number, 
/**
 * The clock stands.
 */
paused: boolean, 
/**
 * An error ended the scene.
 */
stopped: boolean, 
/**
 * Share of real time.
 */
pace: number, 
/**
 * Share of the root assist.
 */
assist: number, 
/**
 * Steps of the sampler.
 */
denoising_steps: number, 
/**
 * Weights of the styles, in the order of the scene's.
 */
style_weights: Array<number>, 
/**
 * The events of a link are being replayed.
 */
replaying: boolean, 
/**
 * Length of the recording so far, seconds.
 */
recorded_s: number, 
/**
 * How far one can go back now, seconds.
 */
can_rewind_s: number, 
/**
 * Frames that the page did not take in time.
 */
dropped_frames: number, };

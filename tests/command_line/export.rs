//! Datasets in other people's formats, read by their own readers where Python has them.

use crate::dataset::copied;
use crate::pomp;
use crate::program::{names, recordings};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const FORMATS: [&str; 6] = ["shards", "parquet", "protomotions", "mimickit", "glb", "bvh"];

/// Runs a script with numpy and `modules`, unless Python lacks them, which is printed on the terminal.
#[track_caller]
fn python(what: &str, modules: &[&str], script: &str, arguments: &[&Path]) {
    let imports = format!("import {}", [&["numpy"][..], modules].concat().join(", "));
    if pomp_testing::python_can(&imports, what) {
        let script = [Path::new("-c"), Path::new(script)];
        pomp_testing::python(&crate::program::repository(), [&script[..], arguments].concat());
    }
}

fn exported(format: &str) -> TempDir {
    let out = TempDir::new().unwrap();
    let ran = pomp!("export", recordings(), "--format", format, "--out", out.path()).succeeds();
    assert!(ran.stdout.contains("of 6 recordings"), "{ran:#?}");
    out
}

#[test]
fn every_export_gives_the_same_bytes_goes_on_where_it_stopped_and_mends_what_is_damaged() {
    for format in FORMATS {
        let (first, again) = (exported(format), exported(format));
        let read = |folder: &Path| -> Vec<(String, Vec<u8>)> {
            names(folder)
                .into_iter()
                .map(|name| (name.clone(), fs::read(folder.join(name)).unwrap()))
                .collect()
        };
        let whole = read(first.path());
        assert!(whole == read(again.path()), "{format}");
        // As if it had been killed: a file without its line, a line cut short, a damaged file.
        let journal = first.path().join("export.jsonl");
        let text = fs::read_to_string(&journal).unwrap();
        fs::write(&journal, &text[..text.len() - 20]).unwrap();
        let victim = names(first.path()).into_iter().find(|name| name != "export.jsonl").unwrap();
        fs::write(first.path().join(&victim), "damaged").unwrap();
        pomp!("export", recordings(), "--format", format, "--out", first.path()).succeeds();
        for (name, bytes) in whole.iter().filter(|(name, _)| name != "export.jsonl") {
            assert!(fs::read(first.path().join(name)).unwrap() == *bytes, "{format}: {name}");
        }
        let ran = pomp!("export", recordings(), "--format", format, "--out", first.path(), "--json");
        assert_eq!(ran.succeeds().json()["written"], 0, "{format}");
    }
}

#[test]
fn changed_recordings_are_exported_again() {
    let (data, out) = (copied(), TempDir::new().unwrap());
    pomp!("export", data.path(), "--format", "bvh", "--out", out.path()).succeeds();
    let path = data.path().join(names(data.path()).into_iter().find(|name| name.ends_with(".npz")).unwrap());
    let mut recording = pomp_formats::read_recording(&path).unwrap();
    recording.license = "another".to_owned();
    pomp_formats::write_recording(&path, &recording).unwrap();
    let ran = pomp!("export", data.path(), "--format", "bvh", "--out", out.path(), "--json").succeeds();
    assert_eq!(ran.json()["written"], 1);
}

#[test]
fn rejects_exports_of_nothing_into_itself_beside_another_and_in_unknown_formats() {
    let (empty, out) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    pomp!("export", empty.path(), "--format", "bvh", "--out", out.path()).refuses(&["no recordings"]);
    pomp!("export", empty.path().join("none"), "--format", "bvh", "--out", out.path()).refuses(&["none"]);
    let data = copied();
    pomp!("export", data.path(), "--format", "glb", "--out", data.path()).refuses(&["the dataset itself"]);
    pomp!("export", data.path(), "--format", "bvh", "--out", out.path()).succeeds();
    pomp!("export", data.path(), "--format", "glb", "--out", out.path()).refuses(&["in the format bvh"]);
    let ran = pomp!("export", data.path(), "--format", "hdf5", "--out", out.path());
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert!(ran.stderr.contains("hdf5") && ran.stderr.contains("shards"), "{ran:#?}");
    fs::write(data.path().join("damaged.npz"), "damaged").unwrap();
    pomp!("export", data.path(), "--format", "glb", "--out", out.path().join("b")).refuses(&["damaged.npz"]);
}

#[test]
fn exported_bvh_files_are_read_back_by_this_program() {
    let out = exported("bvh");
    let name = names(out.path()).into_iter().find(|name| name.starts_with("11_walk")).unwrap();
    let json = pomp!("inspect", "--json", out.path().join(name)).succeeds().json();
    assert_eq!(json["files"][0]["frames"], 241);
}

#[test]
fn shards_are_plain_tar_files_of_pairs_that_python_reads() {
    let script = r#"
import io, json, sys, tarfile, numpy as np
names = tarfile.open(sys.argv[1]).getnames()
assert len(names) == 12 and names == sorted(names), names
with tarfile.open(sys.argv[1]) as tar:
    for name in names[::2]:
        told = json.load(tar.extractfile(name))
        data = np.load(io.BytesIO(tar.extractfile(name.replace(".json", ".npz")).read()), allow_pickle=False)
        assert told["frames"] == len(data["positions"]) and told["name"] == str(data["name"])
        assert sum(told["gait_frames"].values()) == told["frames"] and told["license"]
"#;
    let out = exported("shards");
    python("shards with numpy", &[], script, &[&out.path().join("shard-000000.tar")]);
}

#[test]
fn shards_hold_recordings_whose_names_are_longer_than_a_header_of_tar_has_room_for() {
    let (data, out) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let stem = "a_walk_".repeat(30);
    let walk = crate::program::recording("11_walk");
    fs::copy(&walk, data.path().join(format!("{stem}.npz"))).unwrap();
    pomp!("export", data.path(), "--format", "shards", "--out", out.path()).succeeds();
    let shard = fs::read(out.path().join("shard-000000.tar")).unwrap();
    let text = String::from_utf8_lossy(&shard);
    assert!(text.contains(&format!("{stem}.json")) && text.contains(&format!("{stem}.npz")));
    let script = r#"
import sys, tarfile
tar = tarfile.open(sys.argv[1])
assert [len(name) for name in tar.getnames()] == [215, 214], tar.getnames()
assert tar.extractfile(tar.getnames()[1]).read() == open(sys.argv[2], "rb").read()
"#;
    python("shards with long names", &[], script, &[&out.path().join("shard-000000.tar"), &walk]);
}

#[test]
fn shards_are_samples_to_webdataset() {
    let script = r#"
import io, json, sys, numpy as np, webdataset as wds
samples = list(wds.WebDataset(sys.argv[1], shardshuffle=False).decode())
assert len(samples) == 6
for sample in samples:
    assert sample["npz"]["positions"].shape == (sample["json"]["frames"], 22, 3)
"#;
    let out = exported("shards");
    python("shards with webdataset", &["webdataset"], script, &[&out.path().join("shard-000000.tar")]);
}

/// Reads PyTorch's zip without PyTorch, and with it where it is installed; then checks the motion's laws.
const PROTOMOTIONS: &str = r#"
import io, math, pickle, sys, zipfile, numpy as np
kinds = {"FloatStorage": np.float32, "BoolStorage": np.bool_}
class Reader(pickle.Unpickler):
    def __init__(self, zip): self.zip = zip; super().__init__(io.BytesIO(zip.read("motion/data.pkl")))
    def find_class(self, module, name):
        if module == "torch": return name
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            def rebuild(storage, offset, size, stride, gradient, hooks):
                expected = [math.prod(size[i + 1:]) for i in range(len(size))]
                assert list(stride) == expected and offset == 0 and gradient is False and hooks == {}
                return storage.reshape(size)
            return rebuild
        if (module, name) == ("collections", "OrderedDict"): return dict
        raise ValueError((module, name))
    def persistent_load(self, told):
        what, kind, key, device, count = told
        values = np.frombuffer(self.zip.read(f"motion/data/{key}"), kinds[kind])
        assert what == "storage" and device == "cpu" and len(values) == count
        return values
zip = zipfile.ZipFile(sys.argv[1])
assert all(entry.compress_type == zipfile.ZIP_STORED for entry in zip.infolist())
assert zip.read("motion/version") == b"3\n" and zip.read("motion/byteorder") == b"little"
motion = Reader(zip).load()
try:
    import torch
    for name, value in torch.load(sys.argv[1], weights_only=True).items():
        assert np.array_equal(np.asarray(value), motion[name]), name
    print("torch")
except ImportError:
    print("no torch")
clip = np.load(sys.argv[2])
T, J = clip["positions"].shape[:2]
shapes = dict(rigid_body_pos=(T,J,3), rigid_body_rot=(T,J,4), rigid_body_vel=(T,J,3), rigid_body_ang_vel=(T,J,3),
    dof_pos=(T,3*J-3), dof_vel=(T,3*J-3), local_rigid_body_rot=(T,J,4), rigid_body_contacts=(T,J),
    rigid_body_contact_forces=(T,J,3))
assert {k: v.shape for k, v in motion.items() if k != "fps"} == shapes and motion["fps"] == 60.0
pos, rot = motion["rigid_body_pos"], motion["rigid_body_rot"]
x, y, z = np.moveaxis(clip["positions"], -1, 0)
assert np.array_equal(pos, np.stack([z, x, y], -1)), "Z up, X ahead"
def turn(q, v):
    u, w = q[..., :3], q[..., 3:]
    return v + 2 * np.cross(u, np.cross(u, v) + w * v)
names, parents = clip["bone_names"].tolist(), clip["parent_names"].tolist()
for j in range(1, J):
    p = names.index(parents[j])
    a, b, c = clip["bone_offsets"][j]
    offset = np.broadcast_to(np.array([c, a, b]), (T, 3))
    assert np.abs(pos[:, p] + turn(rot[:, p], offset) - pos[:, j]).max() < 2e-3, names[j]
def product(a, b):
    u, v, s, t = a[..., :3], b[..., :3], a[..., 3:], b[..., 3:]
    return np.concatenate([s * v + t * u + np.cross(u, v), s * t - (u * v).sum(-1, keepdims=True)], -1)
local, dof = motion["local_rigid_body_rot"], motion["dof_pos"].reshape(T, J - 1, 3)
angle = np.linalg.norm(dof, axis=-1, keepdims=True)
of_dof = np.concatenate([dof * np.sinc(angle / 2 / np.pi) / 2, np.cos(angle / 2)], -1)
assert np.abs((of_dof * local[:, 1:]).sum(-1)).min() > 1 - 1e-5
for j in range(1, J):
    world = product(rot[:, names.index(parents[j])], local[:, j])
    assert np.abs((world * rot[:, j]).sum(-1)).min() > 1 - 1e-5
fast = np.gradient(pos, axis=0) * 60
assert np.abs(fast - motion["rigid_body_vel"])[1:-1].max() < 0.3
force = motion["rigid_body_contact_forces"].sum(1)[:, 2].mean()
weight = clip["body_mass"].sum() * 9.81
assert abs(force / weight - 1) < 0.1, (force, weight)
assert motion["rigid_body_contacts"].any() and not motion["rigid_body_contacts"].all()
"#;

#[test]
fn protomotions_hold_the_same_motion_with_z_up_and_forces_that_carry_the_body() {
    let out = exported("protomotions");
    let name = names(out.path()).into_iter().find(|name| name.starts_with("11_walk")).unwrap();
    let clip = recordings().join(name.replace(".motion", ".npz"));
    python("ProtoMotions with numpy", &[], PROTOMOTIONS, &[&out.path().join(&name), &clip]);
    // The script compares with torch.load where there is one; this says so where there is none. `.ci/run` installs no PyTorch,
    // which takes 5 GB.
    python("torch.load of a .motion file", &["torch"], "", &[]);
}

#[test]
fn mimickit_motions_put_the_joints_of_their_character_where_the_recording_has_them() {
    let script = r#"
import pickle, sys, numpy as np, xml.etree.ElementTree as tree
motion = pickle.load(open(sys.argv[1], "rb"))
assert set(motion) == {"loop_mode", "fps", "frames"} and motion["loop_mode"] == 0 and motion["fps"] == 60
frames, clip = np.array(motion["frames"], np.float32), np.load(sys.argv[2])
T, J = clip["positions"].shape[:2]
assert frames.shape == (T, 3 + 3 * J)
def rotation(v):
    angle = np.linalg.norm(v); k = v / angle if angle > 0 else v
    K = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
bodies = []
def walk(body, parent):
    bodies.append((body.get("name"), parent, np.array(body.get("pos").split(), float), len(body.findall("joint"))))
    index = len(bodies) - 1
    for child in body.findall("body"): walk(child, index)
walk(tree.parse(sys.argv[3]).getroot().find("worldbody").find("body"), None)
assert [b[0] for b in bodies] == clip["bone_names"].tolist()
assert [b[3] for b in bodies] == [0] + [3] * (J - 1)
for t in range(0, T, 30):
    place, turn = [], []
    for j, (name, parent, offset, _) in enumerate(bodies):
        local = rotation(frames[t, 3 + 3 * j: 6 + 3 * j])
        place.append(frames[t, :3] if parent is None else place[parent] + turn[parent] @ offset)
        turn.append(local if parent is None else turn[parent] @ local)
    x, y, z = clip["positions"][t].T
    assert np.abs(np.array(place) - np.stack([z, x, y], -1)).max() < 2e-3
"#;
    let out = exported("mimickit");
    let name = names(out.path()).into_iter().find(|name| name.starts_with("20_jog")).unwrap();
    let clip = recordings().join(name.replace(".pkl", ".npz"));
    let character = out.path().join("character.xml");
    python("MimicKit with numpy", &[], script, &[&out.path().join(&name), &clip, &character]);
}

#[test]
fn glb_files_are_valid_to_pygltflib() {
    let script = r#"
import sys, pygltflib
gltf = pygltflib.GLTF2().load(sys.argv[1])
assert len(gltf.animations) == 1 and len(gltf.skins[0].joints) == 22
"#;
    let out = exported("glb");
    let name = names(out.path()).into_iter().find(|name| name.ends_with(".glb")).unwrap();
    python("glTF with pygltflib", &["pygltflib"], script, &[&out.path().join(name)]);
}

#[test]
fn parquet_files_hold_the_arrays_of_the_recording_for_pyarrow() {
    let script = r#"
import json, sys, numpy as np, pyarrow as pa, pyarrow.parquet as pq
table, clip = pq.read_table(sys.argv[1]), np.load(sys.argv[2])
T = len(clip["positions"])
assert table.num_rows == T
for name in table.column_names:
    array, field = table[name].combine_chunks(), table.schema.field(name)
    assert array.null_count == 0 and not field.nullable
    assert pa.types.is_fixed_size_list(field.type) and field.type.list_size == clip[name][0].size, field
    assert json.loads(field.metadata[b"shape"]) == list(clip[name].shape[1:]), field
    values = array.flatten().to_numpy(zero_copy_only=False).reshape(clip[name].shape)
    assert values.dtype == clip[name].dtype and np.array_equal(values, clip[name]), name
framed = {name for name in clip.files if clip[name].ndim > 1 and len(clip[name]) == T}
assert set(table.column_names) == framed, set(table.column_names) ^ framed
told = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
of_file = {key.decode(): value.decode() for key, value in pq.read_metadata(sys.argv[1]).metadata.items()}
assert of_file == of_file | told, set(told) - set(of_file)
assert told["name"] == str(clip["name"]) and json.loads(told["bone_names"]) == clip["bone_names"].tolist()
assert np.allclose(json.loads(told["body_mass"]), clip["body_mass"]) and float(told["framerate"]) == 60
meta = pq.ParquetFile(sys.argv[1]).metadata.row_group(0)
for column in map(meta.column, range(meta.num_columns)):
    values = clip[column.path_in_schema.split(".")[0]]
    assert column.compression == "ZSTD" and "DICTIONARY" not in str(column.encodings), column
    assert column.physical_type == "BOOLEAN" or "BYTE_STREAM_SPLIT" in column.encodings, column
    assert (column.statistics.min, column.statistics.max) == (values.min(), values.max()), column
    assert column.statistics.null_count == 0, column
"#;
    let out = exported("parquet");
    let name = names(out.path()).into_iter().find(|name| name.starts_with("11_walk")).unwrap();
    let clip = recordings().join(name.replace(".parquet", ".npz"));
    python("Parquet with pyarrow", &["pyarrow"], script, &[&out.path().join(&name), &clip]);
}

#[test]
fn long_recordings_are_several_row_groups_of_a_parquet_file() {
    let (data, out) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let path = data.path().join("long.npz");
    let short = pomp_formats::read_recording(&crate::program::recording("11_walk")).unwrap();
    let mut long = pomp_motion::Recording { simulation: None, ..short.clone() };
    while long.frames() <= 16_384 {
        for frame in 0..short.frames() {
            long.positions.push(&short.positions[frame]);
            long.quaternions.push(&short.quaternions[frame]);
            long.velocities.push(&short.velocities[frame]);
        }
        long.root.extend(&short.root);
        long.gait.extend(&short.gait);
        long.foot_contact.extend(&short.foot_contact);
    }
    pomp_formats::write_recording(&path, &long).unwrap();
    pomp!("export", data.path(), "--format", "parquet", "--out", out.path()).succeeds();
    let script = r#"
import sys, numpy as np, pyarrow.parquet as pq
file, clip = pq.ParquetFile(sys.argv[1]), np.load(sys.argv[2])
rows = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
assert rows == [16384, len(clip["root"]) - 16384], rows
for name in ["positions", "root", "foot_contact"]:
    second = file.read_row_group(1, columns=[name])[name].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    assert np.array_equal(second.reshape(clip[name][16384:].shape), clip[name][16384:]), name
"#;
    python("row groups with pyarrow", &["pyarrow"], script, &[&out.path().join("long.parquet"), &path]);
}

#[test]
fn parquet_files_are_a_dataset_to_hugging_face_and_a_table_to_pandas() {
    let script = r#"
import glob, sys, numpy as np, pandas as pd, datasets
files = sorted(glob.glob(sys.argv[1] + "/*.parquet"))
clips = [np.load(path.replace(sys.argv[1], sys.argv[2]).replace(".parquet", ".npz")) for path in files]
data = datasets.load_dataset("parquet", data_files=files, split="train", cache_dir=sys.argv[3])
assert len(files) == 6 and len(data) == sum(len(clip["root"]) for clip in clips)
positions = np.array(data.with_format("numpy")["positions"]).reshape(len(data), 22, 3)
assert np.array_equal(positions, np.concatenate([clip["positions"] for clip in clips]))
frame = pd.read_parquet(files[0])
assert np.array_equal(np.stack(frame["root"]), clips[0]["root"])
"#;
    let (out, cache) = (exported("parquet"), TempDir::new().unwrap());
    let folders = [out.path(), recordings(), cache.path()];
    python("Parquet with datasets and pandas", &["pandas", "datasets"], script, &folders);
}

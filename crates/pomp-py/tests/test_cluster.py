"""The scripts for Slurm and Kubernetes, which need the command line alone."""

import json
import os
import pathlib
import shlex
import subprocess

import pytest
from conftest import ROOT, contents

SCRIPTS = pathlib.Path(__file__).resolve().parents[1] / "examples" / "cluster"


@pytest.fixture
def task(program, tmp_path):
    """Runs a script as Slurm would run a task of an array."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    binary = os.environ.get("POMP", str(target / "release" / "pomp"))

    def run(script, *arguments, task=None, count=None, **environment):
        own = {key: value for key, value in os.environ.items() if not key.startswith("SLURM")}
        own |= {"POMP": binary, "SLURM_CPUS_PER_TASK": "1"} | environment
        if task is not None:
            own |= {"SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_COUNT": str(count)}
        words = ["bash", str(SCRIPTS / script), *map(str, arguments)]
        return subprocess.run(words, env=own, cwd=tmp_path, capture_output=True, text=True)

    return run


def test_an_array_of_slurm_preprocesses_to_the_bytes_of_one_process(task, clips, program, tmp_path):
    program("preprocess", clips, "--out", tmp_path / "one")
    places = {"MOCAP": str(clips), "OUT": str(tmp_path / "out")}
    for number in (2, 0, 1):
        ran = task("preprocess.slurm", task=number, count=3, **places)
        assert ran.returncode == 0, ran.stderr
    whole = task("preprocess.slurm", **places)
    assert whole.returncode == 0, whole.stderr
    assert contents(tmp_path / "out") == contents(tmp_path / "one")
    # A task that was lost is given again alone: the number of ranks is no longer that of its array.
    again = task("preprocess.slurm", task=1, count=1, POMP_RANKS="3", **places)
    assert again.returncode == 0, again.stderr


def test_an_array_of_slurm_makes_rollouts_to_the_bytes_of_one_process(task, program, tmp_path):
    wanted = ["--seconds", "0.2", "--terrain", "flat", "--push", "none"]
    program("generate", "--count", 5, *wanted, "--out", tmp_path / "one")
    places = {"COUNT": "5", "OUT": str(tmp_path / "out")}
    for number in (1, 0):
        ran = task("generate.slurm", *wanted, task=number, count=2, **places)
        assert ran.returncode == 0, ran.stderr
    ran = task("generate.slurm", *wanted, **places)
    assert ran.returncode == 0, ran.stderr
    assert contents(tmp_path / "out") == contents(tmp_path / "one")


def test_refused_clips_do_not_fail_a_task_and_a_missing_folder_does(task, bvh, tmp_path):
    mocap = tmp_path / "mocap"
    mocap.mkdir()
    (mocap / "good.bvh").write_bytes(bvh.read_bytes())
    (mocap / "broken.bvh").write_text("HIERARCHY\n")
    ran = task("preprocess.slurm", MOCAP=str(mocap), OUT=str(tmp_path / "out"))
    assert ran.returncode == 0, ran.stderr
    assert len(json.loads((tmp_path / "out" / "manifest.json").read_text())["failures"]) == 1
    assert task("preprocess.slurm", MOCAP=str(tmp_path / "nowhere"), OUT=str(tmp_path / "out")).returncode != 0
    assert task("preprocess.slurm", OUT=str(tmp_path / "out")).returncode != 0


def test_manifests_of_kubernetes_are_jobs_whose_ranks_are_their_completions(task, clips, program, tmp_path):
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    for path in sorted(SCRIPTS.glob("*.yaml")):
        job = yaml.safe_load(path.read_text())
        assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job"), path
        pod = job["spec"]["template"]["spec"]
        assert pod["restartPolicy"] in ("Never", "OnFailure")
        (container,) = pod["containers"]
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        assert mounted == {volume["name"] for volume in pod["volumes"]}
        assert not {"image", "resources", "command"} - container.keys()
        command = " ".join([*container["command"], *container.get("args", [])])
        for number, mount in enumerate(container["volumeMounts"]):
            assert mount["mountPath"] in command, number
        if "--ranks" not in command:
            assert "completions" not in job["spec"]
            continue
        assert job["spec"]["completionMode"] == "Indexed"
        assert f"--ranks {job['spec']['completions']}" in command
        assert '--rank "$JOB_COMPLETION_INDEX"' in command
        assert job["spec"]["parallelism"] <= job["spec"]["completions"]
        assert "backoffLimitPerIndex" in job["spec"] and pod["restartPolicy"] == "Never"
        # The pod's own command, with the folders of this test and two ranks in place of its own.
        binary = os.environ.get("POMP", "target/release/pomp")
        for index in (0, 1):
            text = container["args"][0].replace("--ranks 16", "--ranks 2").replace("pomp preprocess", f"{shlex.quote(binary)} preprocess")
            text = text.replace("/motion/mocap", str(clips)).replace("/motion/recordings", str(tmp_path / "out"))
            environment = os.environ | {"JOB_COMPLETION_INDEX": str(index)}
            subprocess.run([*container["command"], text], env=environment, check=True, capture_output=True, cwd=ROOT)
        program("preprocess", clips, "--out", tmp_path / "out")
        program("preprocess", clips, "--out", tmp_path / "one")
        assert contents(tmp_path / "out") == contents(tmp_path / "one")

"""Characters frame by frame and together."""

import pickle
import warnings

import numpy as np
import pytest

import pomp


def positions(character, frames, **how):
    return np.stack([character.step(**how).positions for _ in range(frames)])


def test_the_same_seed_gives_the_same_frames_and_another_one_others():
    made = [positions(pomp.Generator(terrain="hills", seed=seed), 20, direction=(0, 1)) for seed in (4, 4, 5)]
    assert made[0].tobytes() == made[1].tobytes()
    assert made[0].tobytes() != made[2].tobytes()


def test_a_character_walks_where_it_is_sent():
    character = pomp.Generator(seed=1)
    for _ in range(180):
        step = character.step(direction=(1, 0))
    x, z, yaw = character.root
    assert x > 1.5 and abs(z) < 1.5 and abs(yaw - np.pi / 2) < 0.4, character.root
    assert not step.fallen and character.frames == 180
    assert step.control[3] > 1.0


def test_a_character_turns_on_the_spot_to_what_it_faces():
    character = pomp.Generator(seed=1)
    positions(character, 120, facing=(1, 0))
    x, z, yaw = character.root
    assert yaw > 0.8 and abs(x) + abs(z) < 0.5, character.root
    many = pomp.VecGenerator(2, seed=1)
    for _ in range(120):
        many.step(facing=[(1, 0), (0, 1)])
    apart = many.step().quaternions[:, 0]
    assert abs(apart[0] @ apart[1]) < 0.95, "one turned and the other did not"
    with pytest.raises(pomp.InputError, match="facing"):
        character.step(facing=(1, 0, 0))


def test_on_its_own_feet_a_character_goes_aside_and_nothing_outside_holds_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        character = pomp.Generator(seed=1)
        many = pomp.VecGenerator(2, seed=1)
    for _ in range(180):
        step = character.step(direction=(1, 0), facing=(0, 1))
        both = many.step([(1, 0), (0, 0)], facing=[(0, 1), (0, 1)])
        assert not step.fallen and not step.assist_force.any() and not step.assist_torque.any()
        assert not both.assist_force.any()
    x, z, yaw = character.root
    assert x > 0.8 and abs(yaw) < 0.4, character.root
    assert both.positions[0].tobytes() == step.positions.tobytes(), "both are led by the model of all directions"
    with pytest.raises(pomp.InputError, match="a configuration file"):
        pomp.Generator(support="own-feet", config="loop.toml")


def test_a_push_moves_the_character_to_its_side():
    pushed, left_alone = pomp.Generator(seed=1), pomp.Generator(seed=1)
    positions(pushed, 30)
    positions(left_alone, 30)
    pushed.step(pushes=[("Spine2", (60, 0, 0))])
    left_alone.step()
    sideways = positions(pushed, 20)[-1, 0, 0] - positions(left_alone, 20)[-1, 0, 0]
    assert sideways > 0.02, sideways


def test_a_snapshot_is_gone_on_from_bit_for_bit():
    character = pomp.Generator(terrain="hills", seed=2)
    positions(character, 15, direction=(0, 1))
    saved = character.save()
    first = positions(character, 25, direction=(0.5, 1), gait="jog")
    character.restore(saved)
    assert character.frames == saved.frames == 15
    assert positions(character, 25, direction=(0.5, 1), gait="jog").tobytes() == first.tobytes()
    other = pomp.Generator(terrain="hills", settings={"position_bias": 0.5})
    with pytest.raises(pomp.InputError, match="other settings"):
        other.restore(saved)


def hands(positions):
    """Mean height of the hands above the pelvis, metres; a zombie lifts them."""
    joints = pomp.Generator().joint_names
    of = [joints.index(name) for name in ("LeftHand", "RightHand")]
    return float((positions[:, of, 1] - positions[:, [joints.index("Hips")], 1]).mean())


def test_a_style_is_that_of_the_settings_and_may_change_on_the_way():
    ahead = {"direction": (0, 1)}
    given = pomp.Generator(seed=4, start="walk", style={"zombie": 1})
    by_settings = pomp.Generator(seed=4, start="walk", settings={"style.zombie": 1.0})
    plain = pomp.Generator(seed=4, start="walk")
    assert given.style == {"zombie": 1.0} and plain.style == {}
    zombie, own = positions(given, 180, **ahead), positions(plain, 180, **ahead)
    assert zombie.tobytes() == positions(by_settings, 180, **ahead).tobytes()
    assert hands(zombie[-60:]) > hands(own[-60:]) + 0.1, (hands(zombie[-60:]), hands(own[-60:]))

    saved = given.save()
    on = positions(given, 30, **ahead)
    given.set_style({"stealthy": 0.5, "march": 0.3})
    assert given.style == pytest.approx({"march": 0.3, "stealthy": 0.5})
    assert positions(given, 30, **ahead).tobytes() != on.tobytes()
    given.restore(saved)
    assert given.style == {"zombie": 1.0}, "a snapshot holds the style"
    assert positions(given, 30, **ahead).tobytes() == on.tobytes()
    given.set_style({})
    last = positions(given, 180, **ahead)[-60:]
    assert hands(last) < hands(zombie[-60:]) - 0.1, "back to its own walk"


def test_rejects_styles_that_there_are_not_and_changes_nothing():
    character = pomp.Generator(seed=4, style={"zombie": 0.5})
    for wrong, words in [
        ({"zmobie": 0.5}, "zmobie.*zombie, stealthy"),
        ({"zombie": 1.5}, "style.zombie"),
        ({"zombie": 0.8, "march": 0.8}, "at most 1"),
        ("zombie:0.5", "give a dict"),
    ]:
        with pytest.raises(pomp.InputError, match=words):
            character.set_style(wrong)
        with pytest.raises(pomp.InputError, match=words):
            pomp.Generator(style=wrong)
    assert character.style == {"zombie": 0.5}
    matching = pomp.Generator(settings={"controller": "learned-matching"})
    with pytest.raises(pomp.Error, match="controller"):
        matching.set_style({"zombie": 0.5})
    with pytest.raises(pomp.InputError, match="zmobie"):
        pomp.generate(0.1, style={"zmobie": 1})


def test_a_rollout_in_a_style_is_that_of_the_settings():
    made = pomp.generate(0.5, terrain="flat", style={"march": 0.7})
    assert made.positions.tobytes() == pomp.generate(0.5, terrain="flat", settings={"style.march": 0.7}).positions.tobytes()
    assert made.positions.tobytes() != pomp.generate(0.5, terrain="flat").positions.tobytes()


def test_every_character_of_many_has_a_style_of_its_own():
    ahead = np.tile((0.0, 1.0), (3, 1))
    many = pomp.VecGenerator(3, seed=4, start="walk", style={"zombie": 0.7})
    many.set_style({}, [1])
    made = np.stack([many.step(ahead).positions for _ in range(60)])
    for index, style in enumerate([{"zombie": 0.7}, {}, {"zombie": 0.7}]):
        alone = pomp.Generator(seed=4 + index, start="walk", style=style, support="assist")
        assert made[:, index].tobytes() == positions(alone, 60, direction=(0, 1)).tobytes(), index
    many.reset()
    again = np.stack([many.step(ahead).positions for _ in range(20)])
    assert again.tobytes() != made[:20].tobytes(), "reset starts from standing"
    many.reset(start="walk")
    again = np.stack([many.step(ahead).positions for _ in range(20)])
    assert again.tobytes() == made[:20].tobytes(), "characters keep their styles"
    with pytest.raises(pomp.InputError, match="no character 3"):
        many.set_style({}, [3])
    with pytest.raises(pomp.InputError, match="zmobie"):
        many.set_style({"zmobie": 1})


def test_a_run_is_the_rollout_of_the_same_name(walk):
    character = pomp.Generator(terrain=walk.terrain, seed=7, start="walk", support="assist")
    made = character.run(2.0, "walk", ["1,Spine2,50,left"])
    assert made.positions.tobytes() == walk.positions.tobytes()
    assert made.contact_impulse.tobytes() == walk.contact_impulse.tobytes()
    assert made.push.tobytes() == walk.push.tobytes()


def test_a_run_begins_where_the_character_is():
    character = pomp.Generator(seed=3)
    x, _, z = positions(character, 120, direction=(1, 0))[-1, 0]
    made = character.run(1.0, "walk")
    assert np.hypot(made.positions[0, 0, 0] - x, made.positions[0, 0, 2] - z) < 0.1
    assert made.positions[-1, 0, 0] - x > 0.5, "it goes on to its left, where it faces"
    assert made.frames == 60 and character.frames == 180


def test_a_command_may_be_an_array(walk):
    rows = np.array([[0, 0.02 * frame, 0, 1.2, 1] for frame in range(200)], dtype=np.float64)
    made = pomp.Generator(seed=1, start="walk").run(1.0, rows)
    assert made.control.shape == (60, 4) and 0.5 < made.positions[-1, 0, 2] < 2.0
    again = pomp.Generator(terrain=walk.terrain, seed=7, start="walk", support="assist")
    again = again.run(2.0, walk.plan, ["1,Spine2,50,left"])
    assert again.positions.tobytes() == walk.positions.tobytes()


def test_many_move_as_one_does_with_any_number_of_threads():
    directions = np.array([[0, 1], [1, 0], [0, 0], [-0.5, 0.5], [0, 0.3]])
    gaits = [1, 1, 0, 2, 3]
    alone = [pomp.Generator(terrain="hills", seed=10 + index) for index in range(5)]
    many = [pomp.VecGenerator(5, terrain="hills", seed=10, threads=threads) for threads in (1, 2, 5)]
    push = (3, "Spine2", (0, 0, 40))
    for frame in range(40):
        pushes = [push] if frame == 20 else []
        steps = [vec.step(directions, gaits, pushes) for vec in many]
        for index, character in enumerate(alone):
            own = [push[1:]] if pushes and index == 3 else None
            step = character.step(directions[index], pomp.GAITS[gaits[index]], own)
            for name in ["positions", "quaternions", "velocities", "contact_impulse", "joint_torque", "phase", "gait"]:
                expected = getattr(step, name).tobytes()
                assert all(getattr(vec, name)[index].tobytes() == expected for vec in steps), (frame, index, name)
            assert tuple(steps[0].control[index]) == pytest.approx(step.control)
            assert steps[0].fallen[index] == step.fallen


def test_a_character_that_is_reset_begins_again_and_the_others_go_on():
    vec = pomp.VecGenerator(3, seed=5, threads=2)
    first = vec.step([[0, 1]] * 3)
    for _ in range(60):
        before = vec.step([[0, 1]] * 3)
    vec.reset([1], seeds=[6])
    after = vec.step([[0, 1]] * 3)
    assert after.positions[1].tobytes() == first.positions[1].tobytes()
    assert np.abs(after.positions[0] - before.positions[0]).max() < 0.1 < np.abs(after.positions[1] - before.positions[1]).max()
    vec.reset()
    assert vec.step([[0, 1]] * 3).positions.shape == (3, 22, 3)


def test_a_reset_without_seeds_repeats_the_start():
    vec = pomp.VecGenerator(3, terrain="hills", seed=5)
    first = vec.step([[0, 1]] * 3)
    vec.step([[0, 1]] * 3)
    vec.reset()
    assert vec.step([[0, 1]] * 3).positions.tobytes() == first.positions.tobytes()


def test_each_character_has_the_ground_of_its_own_seed():
    vec = pomp.VecGenerator(2, terrain="hills", seed=5)
    points = np.array([[1.0, 2.0], [-3.0, 0.5], [0.0, 4.0]])
    heights = vec.ground_heights([points, points])
    for index in range(2):
        ground = pomp.Generator(terrain="hills", seed=5 + index).terrain
        assert heights[index].tolist() == [ground.height(x, z) for x, z in points]
    assert np.abs(heights[0] - heights[1]).max() > 0.01
    assert vec.ground_heights(np.zeros((2, 0, 2))).shape == (2, 0)


def test_shapes_and_types_are_those_that_are_documented(walk):
    step = pomp.Generator().step()
    shapes = {
        "positions": (22, 3),
        "quaternions": (22, 4),
        "velocities": (22, 3),
        "contact_impulse": (22, 3),
        "contact_point": (22, 3),
        "assist_force": (3,),
        "assist_torque": (3,),
        "joint_torque": (22,),
        "target_positions": (22, 3),
        "target_quaternions": (22, 4),
        "gait": (8,),
    }
    for name, shape in shapes.items():
        array = getattr(step, name)
        assert array.shape == shape and array.dtype == np.float32, name
    vec = pomp.VecGenerator(2).step()
    for name, shape in shapes.items():
        if name not in ("contact_point", "target_quaternions"):
            assert getattr(vec, name).shape == (2, *shape), name
    assert vec.fallen.dtype == bool and vec.fallen.shape == (2,)
    assert walk.positions is walk.positions, "arrays are made once"
    with pytest.raises(ValueError, match="read-only"):
        walk.positions[0] = 0


def test_a_recording_survives_pickling_and_shows_itself(walk, tmp_path):
    again = pickle.loads(pickle.dumps(walk))
    assert again.to_bytes() == walk.to_bytes() and repr(again) == repr(walk)
    assert walk._repr_html_().startswith("<iframe srcdoc=")
    assert "positions" in dir(walk) and "positions" in walk and "nothing" not in walk
    assert walk.metadata["name"] == "rollout" and walk.frames == 120 and walk.seconds == 2.0
    with pytest.raises(AttributeError, match="ground_offset"):
        walk.ground_offset
    with pytest.raises(KeyError):
        walk["ground_offset"]


def test_lists_and_folders_become_columns(walk, tmp_path):
    walk.save(tmp_path / "a.npz")
    walk.save(tmp_path / "b.npz")
    for table in [pomp.evaluate([walk, tmp_path / "a.npz"]), pomp.evaluate(tmp_path)]:
        assert len(table["motion"]) == 2 and table["track"] == ["simulated", "simulated"]
        assert all(len(column) == 2 for column in table.values())


def test_what_holds_the_character_up_is_chosen_and_told():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own_feet = pomp.generate(0.5, terrain="flat")
        held = pomp.generate(0.5, terrain="flat", support="assist")
    assert not own_feet.assist_force.any() and held.assist_force.any()
    with pytest.warns(UserWarning, match="a run on this ground"):
        pomp.generate(0.2, "run", "hills")
    with pytest.warns(UserWarning, match='a steered character on the ground "stairs"'):
        assert pomp.Generator(terrain="stairs", start="walk").step().assist_force.any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not pomp.Generator(terrain=own_feet.terrain, start="walk").step().assist_force.any()
    steps = pomp.Terrain(np.tile(0.5 * (np.arange(60) // 20), (60, 1)), cell=0.1)
    with pytest.warns(UserWarning, match="this ground"):
        pomp.VecGenerator(2, terrain=steps)
    with pytest.raises(pomp.InputError, match="own-feet"):
        pomp.generate(0.1, support="feet")

use super::*;
use crate::errors::is_misuse;
use pomp_embedded::Device;
use std::sync::LazyLock;

fn models() -> &'static Models {
    static MODELS: LazyLock<Models> =
        LazyLock::new(|| Models::find(None, &Device::flex()).expect("they are embedded"));
    &MODELS
}

fn chosen_of(
    models: &'static Models,
    support: Option<Support>,
    (terrain, control): (&str, &str),
    set: &[&str],
) -> Chosen<'static> {
    let set: Vec<String> = set.iter().map(|&setting| setting.to_owned()).collect();
    let asked = LoopSettings { config: None, set: &set, support };
    let situation = Situation::Given { terrain, control, seconds: 10.0 };
    asked.choose(models, situation, |_| Ok(())).expect("all of it can be used")
}

fn chosen(terrain: &str, control: &str, set: &[&str]) -> Chosen<'static> {
    chosen_of(models(), None, (terrain, control), set)
}

/// A model that is given, as the compact one.
fn given() -> &'static Models {
    static GIVEN: LazyLock<Models> =
        LazyLock::new(|| Models { unrolled: None, first: Arc::clone(&models().first) });
    &GIVEN
}

#[test]
fn the_model_of_all_directions_leads_where_it_holds() {
    let mut wanted = GeneratorConfig::own_feet_unrolled();
    wanted.dynamic.friction = 0.5;
    for (support, ground, control) in [
        (None, "flat", "walk"),
        (None, "hills", "walk"),
        (None, "gaps", "walk"),
        (None, "flat", "circle"),
        (None, "flat", "stop-and-go"),
        (None, "flat", "stand"),
        (None, "flat", "jog"),
        (None, "flat", "reach:1.5,4,90"),
        (None, "flat", "sideways"),
        (None, "hills", "turn"),
        (None, "flat", "crouch"),
        (None, "rough", "backward"),
        (None, "slope", "sideways"),
        (None, "gaps", "turn"),
        (None, "mixed", "jog"),
        (None, "flat", "run"),
        (None, "rough", "crouch"),
        (Some(Support::OwnFeet), "hills", "run"),
        (Some(Support::OwnFeet), "stairs", "backward"),
    ] {
        let chosen = chosen_of(models(), support, (ground, control), &["dynamic.friction=0.5"]);
        assert_eq!((chosen.note, chosen.name), (None, OWN_FEET_UNROLLED), "{ground} {control}");
        assert_eq!(chosen.settings, wanted, "{ground} {control}");
        assert!(Arc::ptr_eq(chosen.model, models().unrolled.as_ref().expect("it is embedded")));
    }
}

#[test]
fn the_compact_model_leads_with_its_own_parts() {
    for (ground, control, set) in
        [("flat", "turn", "controller=\"learned-matching\""), ("flat", "walk", "controller=\"nsm\"")]
    {
        let chosen = chosen_of(models(), Some(Support::OwnFeet), (ground, control), &[set]);
        let by_first = Arc::ptr_eq(chosen.model, &models().first);
        assert_eq!((chosen.name, by_first), (OWN_FEET, true), "{ground} {control} {set}");
    }
    assert_eq!(chosen("flat", "walk", &["controller=\"nsm\""]).name, OWN_FEET);
}

#[test]
fn in_a_style_the_compact_model_leads_where_it_holds_and_on_own_feet_that_are_asked_for_else_that_of_all_directions()
 {
    for (support, ground, control, by_compact) in [
        (None, "flat", "walk", true),
        (None, "flat", "stop-and-go", true),
        (Some(Support::OwnFeet), "flat", "circle", true),
        (Some(Support::OwnFeet), "flat", "sideways", false),
        (Some(Support::OwnFeet), "rough", "walk", false),
    ] {
        let chosen = chosen_of(models(), support, (ground, control), &["style.zombie=0.7"]);
        let name = if by_compact { OWN_FEET_STYLED } else { OWN_FEET_UNROLLED };
        assert_eq!((chosen.name, chosen.note), (name, None), "{ground} {control}");
        assert_eq!(Arc::ptr_eq(chosen.model, &models().first), by_compact);
        let mut wanted =
            if by_compact { GeneratorConfig::own_feet() } else { GeneratorConfig::own_feet_unrolled() };
        wanted.layers.reference_tracking.return_share = 0.2;
        wanted.style = [("zombie".to_owned(), 0.7)].into();
        assert_eq!(chosen.settings, wanted, "{ground} {control}");
    }
}

#[test]
fn a_model_that_is_given_leads_whatever_is_commanded() {
    let walk = chosen_of(given(), None, ("hills", "walk"), &[]);
    assert_eq!((walk.name, walk.note, walk.settings), (OWN_FEET, None, GeneratorConfig::own_feet()));
    let own_feet = chosen_of(given(), Some(Support::OwnFeet), ("flat", "turn"), &[]);
    assert_eq!((own_feet.name, own_feet.settings), (OWN_FEET, GeneratorConfig::own_feet()));
    let nothing_asked = chosen_of(given(), None, ("flat", "turn"), &[]);
    assert_eq!((nothing_asked.name, nothing_asked.note.is_some()), (ASSIST, true));
}

#[test]
fn elsewhere_the_assist_holds_it_and_the_reason_is_told() {
    for (terrain, control, set, said) in [
        ("stairs", "jog", "dynamic.friction=0.6", "a jog on this ground"),
        ("hills", "run", "dynamic.friction=0.6", "a run on this ground"),
        ("stairs", "backward", "dynamic.friction=0.6", "backward"),
        ("stairs", "sideways", "dynamic.friction=0.6", "a walk aside"),
        ("stairs", "turn", "dynamic.friction=0.6", "turn on the spot"),
        ("stairs", "crouch", "dynamic.friction=0.6", "a crouch"),
        ("flat", "walk", "controller=\"learned-matching\"", "learned-matching"),
        ("rough", "walk", "style.zombie=0.7", "a style in a walk on this ground"),
        ("flat", "jog", "style.zombie=0.7", "a style in a jog"),
    ] {
        let chosen = chosen(terrain, control, &[set]);
        let reason = chosen.note.unwrap_or_default();
        assert!(reason.contains(said), "{terrain} {control} {set}: {reason}");
        assert!(!chosen.settings.dynamic.balance.enabled);
    }
}

#[test]
fn a_character_that_is_steered_stands_on_its_own_feet_where_all_directions_hold() {
    let steered = |ground, set: &[String]| {
        LoopSettings { config: None, set, support: None }
            .choose(models(), Situation::Steered { ground }, |_| Ok(()))
            .expect("all of it can be used")
    };
    for ground in ["flat", "slope", "rough", "hills", "gaps", "mixed"] {
        let chosen = steered(Ground::Named(ground), &[]);
        assert_eq!((chosen.note, chosen.name), (None, OWN_FEET_UNROLLED), "{ground}");
    }
    let level = HeightMap::flat(20.0, 0.5).expect("it is not empty");
    assert_eq!(steered(Ground::Given(&level), &[]).name, OWN_FEET_UNROLLED);
    let style = ["style.zombie=0.7".to_owned()];
    let steps = HeightMap::from_fn(101, 101, [-5.0; 2], 0.1, |x, _| x.floor()).expect("it is not empty");
    for (ground, set, said) in [
        (Ground::Named("stairs"), &[][..], "the ground \"stairs\""),
        (Ground::Given(&steps), &[], "this ground"),
        (Ground::Named("flat"), &style, "a style"),
    ] {
        let chosen = steered(ground, set);
        assert!(chosen.note.is_some_and(|note| note.contains(said)), "{said}");
        assert_eq!(chosen.name, ASSIST);
    }
}

#[test]
fn on_the_ground_of_a_file_a_character_does_what_it_does_on_the_preset_that_is_as_uneven() {
    let folder = tempfile::tempdir().expect("a folder");
    for (ground, shape, held, otherwise) in [
        ("flat", "kind = \"flat\"", "jog", None),
        ("rough", "kind = \"rough\"\namplitude_m = 0.04\nwavelength_m = 0.8", "sideways", None),
        (
            "hills",
            "kind = \"hills\"\namplitude_m = 0.5\nwavelength_m = 7.0",
            "sideways",
            Some(("jog", OWN_FEET_THOROUGH)),
        ),
        (
            "slope",
            "kind = \"slope\"\nangle_deg = 7.0\nheading_deg = 30.0",
            "sideways",
            Some(("crouch", OWN_FEET_THOROUGH)),
        ),
        (
            "steep",
            "kind = \"slope\"\nangle_deg = 13.7\nheading_deg = 134.0",
            "sideways",
            Some(("jog", OWN_FEET_THOROUGH)),
        ),
        (
            "cliffs",
            "kind = \"stairs\"\nrise_m = 0.5\nrun_m = 3.0\ncount = 2\nlanding_m = 2.0",
            "",
            Some(("walk", ASSIST)),
        ),
    ] {
        let path = folder.path().join(format!("{ground}.toml"));
        std::fs::write(&path, format!("size_m = 40.0\n\n[shape]\n{shape}\n")).expect("it can be written");
        let path = path.to_str().expect("a plain name");
        if !held.is_empty() {
            let chosen = chosen(path, held, &[]);
            assert_eq!((chosen.note, chosen.name), (None, OWN_FEET_UNROLLED), "{ground} {held}");
        }
        if let Some((control, name)) = otherwise {
            let chosen = chosen(path, control, &[]);
            assert_eq!((chosen.note.is_some(), chosen.name), (name == ASSIST, name), "{ground} {control}");
        }
        let asked = chosen_of(models(), Some(Support::OwnFeet), (path, "walk"), &[]);
        assert_eq!(asked.name, OWN_FEET_UNROLLED, "{ground}");
    }
}

#[test]
fn characters_of_a_scene_stand_on_their_own_feet_where_each_of_them_would_alone() {
    let scene = |support, terrain, controls: &[&str], styled| {
        let plans: Vec<ControlPlan> =
            controls.iter().map(|control| control::find(control, 10.0).expect("a preset")).collect();
        let situation = Situation::Together { terrain, plans: &plans, styled };
        LoopSettings { config: None, set: &[], support }
            .choose(models(), situation, |_| Ok(()))
            .expect("a scene")
    };
    let held = scene(None, "flat", &["walk", "sideways"], false);
    assert_eq!((held.name, held.note), (OWN_FEET_UNROLLED, None));
    for (terrain, controls, styled, said) in [
        ("rough", ["walk", "run"], false, "a run on this ground"),
        ("flat", ["walk", "walk"], true, "a style"),
        ("hills", ["walk", "run"], false, "a run"),
        ("stairs", ["walk", "walk"], false, "several characters on stairs"),
    ] {
        let chosen = scene(None, terrain, &controls, styled);
        assert_eq!(chosen.name, ASSIST, "{terrain} {controls:?}");
        assert!(chosen.note.is_some_and(|note| note.contains(said)), "{terrain} {controls:?}");
    }
    for support in [None, Some(Support::OwnFeet)] {
        assert_eq!(scene(support, "hills", &["walk", "jog"], false).name, OWN_FEET_THOROUGH);
    }
    assert_eq!(scene(Some(Support::OwnFeet), "stairs", &["walk", "walk"], false).name, OWN_FEET_STAIRS);
}

#[test]
fn on_stairs_the_model_of_all_directions_has_settings_of_its_own() {
    for support in [None, Some(Support::OwnFeet)] {
        let chosen = chosen_of(models(), support, ("stairs", "walk"), &[]);
        assert_eq!((chosen.name, chosen.note), (OWN_FEET_STAIRS, None));
        assert_eq!(chosen.settings, GeneratorConfig::own_feet_stairs());
        assert!(Arc::ptr_eq(chosen.model, models().unrolled.as_ref().expect("it is embedded")));
    }
}

#[test]
fn on_stairs_a_bounded_wrench_helps_a_model_that_is_given_and_is_told() {
    let chosen = chosen_of(given(), None, ("stairs", "walk"), &["dynamic.balance.residual_force_bw=0.05"]);
    assert_eq!(chosen.name, RESIDUAL);
    let told = chosen.note.unwrap_or_default();
    assert!(told.contains("0.05 body weights") && told.contains("100 N·m"), "{told}");
    let balance = &chosen.settings.dynamic.balance;
    assert!(balance.enabled);
    assert_eq!((balance.residual_force_bw, balance.residual_torque_bw_m), (0.05, RESIDUAL_WRENCH.1));
}

#[test]
fn jogs_and_crouched_walks_on_uneven_ground_are_planned_thoroughly() {
    for (ground, control, support) in [
        ("slope", "jog", None),
        ("hills", "jog", None),
        ("hills", "jog", Some(Support::OwnFeet)),
        ("gaps", "jog", None),
        ("hills", "crouch", None),
        ("gaps", "crouch", Some(Support::OwnFeet)),
    ] {
        let chosen = chosen_of(models(), support, (ground, control), &[]);
        assert_eq!((chosen.name, chosen.note), (OWN_FEET_THOROUGH, None), "{ground} {control}");
        assert_eq!(chosen.settings, GeneratorConfig::own_feet_thorough(), "{ground} {control}");
        assert!(Arc::ptr_eq(chosen.model, models().unrolled.as_ref().expect("it is embedded")));
        assert_eq!(chosen_of(given(), None, (ground, control), &[]).name, ASSIST, "{ground} {control}");
    }
}

#[test]
fn each_drawn_scene_has_the_support_that_it_needs() {
    let plan = |control| control::find(control, 10.0).expect("a preset");
    let asked_of = |models, set: &[String], support| {
        LoopSettings { config: None, set, support }
            .choose_drawn(models, |_| Ok(()))
            .expect("all of it can be used")
    };
    let asked = |set: &[String], support| asked_of(models(), set, support);
    let set = ["dynamic.friction=0.5".to_owned()];
    let supports = asked(&set, None);
    assert!(supports.loops.values().all(|with| with.settings.dynamic.friction == 0.5));
    for (ground, control, support) in [
        ("hills", "walk", OWN_FEET_UNROLLED),
        ("flat", "jog", OWN_FEET_UNROLLED),
        ("stairs", "walk", OWN_FEET_STAIRS),
        ("hills", "jog", OWN_FEET_THOROUGH),
        ("flat", "crouch", OWN_FEET_UNROLLED),
        ("hills", "backward", OWN_FEET_UNROLLED),
        ("gaps", "crouch", OWN_FEET_THOROUGH),
        ("rough", "run", ASSIST),
        ("stairs", "jog", ASSIST),
    ] {
        let name = supports.name_for(ground, &plan(control));
        assert_eq!(name, support, "{ground} {control}");
        assert!(supports.loops.contains_key(name));
    }
    assert!(supports.note.is_some_and(|note| note.starts_with("the external root assist")));
    let helped = |with: &Loop<'_>| with.settings.dynamic.balance.residual_force_bw > 0.0;
    assert!(!supports.loops.values().any(helped));

    for alone in [asked_of(given(), &[], None), asked(&["controller=\"nsm\"".to_owned()], None)] {
        assert_eq!(alone.name_for("hills", &plan("walk")), OWN_FEET);
        assert_eq!(alone.name_for("hills", &plan("backward")), ASSIST);
        assert_eq!(alone.name_for("stairs", &plan("walk")), RESIDUAL);
        assert!(helped(&alone.loops[RESIDUAL]));
        assert!(alone.note.is_some_and(|note| note.contains("on stairs")));
    }

    let only = asked(&[], Some(Support::Assist));
    assert_eq!((only.loops.len(), only.name_for("flat", &plan("walk")), only.note), (1, ASSIST, None));
    let style = asked(&["style.zombie=0.7".to_owned()], None);
    assert_eq!(style.name_for("flat", &plan("walk")), ASSIST);
    assert!(style.note.expect("the assist was not asked for").contains("a style"));
}

#[test]
fn where_nothing_is_simulated_nothing_is_told() {
    let chosen = chosen("flat", "jog", &["dynamics=\"kinematic_only\""]);
    assert_eq!(chosen.note, None);
    assert_eq!(chosen.settings, GeneratorConfig { dynamics: Dynamics::KinematicOnly, ..Default::default() });
}

#[test]
fn a_configuration_file_and_a_support_contradict_each_other() {
    let config = Some(Path::new("loop.toml"));
    let asked = LoopSettings { config, set: &[], support: Some(Support::OwnFeet) };
    let error = asked.choose_drawn(models(), |_| Ok(())).expect_err("two say it");
    assert!(is_misuse(&error) && error.to_string().contains("own-feet"), "{error}");
}

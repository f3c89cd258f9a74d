//! What a joint's name says: side and part of the body, whatever the convention.
//!
//! A name is cut at namespaces, split at separators, capitals and digits, and read word by word; words that say nothing of
//! the body (prefixes, numbers) are passed over. What a word leaves open (`LeftShoulder` is a collar bone in one
//! convention and an upper arm in another) stays open: the place in the chain decides.

/// Side of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// Part of the body that a joint begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Hips,
    Spine,
    Neck,
    Head,
    Collar,
    UpperArm,
    ForeArm,
    Hand,
    Thigh,
    Shin,
    Foot,
    Toe,
}

/// The parts of an arm and of a leg, from the trunk outwards.
pub(super) const ARM: [Part; 4] = [Part::Collar, Part::UpperArm, Part::ForeArm, Part::Hand];
pub(super) const LEG: [Part; 4] = [Part::Thigh, Part::Shin, Part::Foot, Part::Toe];

/// What a name says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Meaning {
    pub side: Option<Side>,
    /// Possible parts, each with a weight up to 1.
    pub parts: Vec<(Part, f32)>,
    /// Kind of a joint that no role needs: `finger`, `twist` ...
    pub extra: Option<&'static str>,
}

impl Meaning {
    pub fn weight(&self, part: Part) -> f32 {
        self.parts.iter().find(|(p, _)| *p == part).map_or(0.0, |(_, weight)| *weight)
    }
}

/// Words of the body and what each may be. A word that qualifies another (`upper`, `fore`) is treated in [`meaning`].
const WORDS: [(&str, &[(Part, f32)]); 53] = [
    ("hips", &[(Part::Hips, 1.0)]),
    ("pelvis", &[(Part::Hips, 1.0)]),
    ("hip", &[(Part::Hips, 0.8), (Part::Thigh, 0.8)]),
    ("root", &[(Part::Hips, 0.3)]),
    ("spine", &[(Part::Spine, 1.0)]),
    ("chest", &[(Part::Spine, 1.0)]),
    ("torso", &[(Part::Spine, 0.9)]),
    ("thorax", &[(Part::Spine, 0.9)]),
    ("abdomen", &[(Part::Spine, 1.0)]),
    ("waist", &[(Part::Spine, 0.9)]),
    ("stomach", &[(Part::Spine, 0.9)]),
    ("back", &[(Part::Spine, 0.8)]),
    ("lowerback", &[(Part::Spine, 0.9)]),
    ("upperback", &[(Part::Spine, 0.9)]),
    ("ribcage", &[(Part::Spine, 0.9)]),
    ("neck", &[(Part::Neck, 1.0)]),
    ("upperneck", &[(Part::Neck, 1.0)]),
    ("lowerneck", &[(Part::Neck, 0.9)]),
    ("head", &[(Part::Head, 1.0)]),
    ("skull", &[(Part::Head, 1.0)]),
    ("collar", &[(Part::Collar, 1.0)]),
    ("clavicle", &[(Part::Collar, 1.0)]),
    ("clav", &[(Part::Collar, 1.0)]),
    ("scapula", &[(Part::Collar, 0.7)]),
    ("shoulder", &[(Part::Collar, 0.8), (Part::UpperArm, 0.8)]),
    ("shldr", &[(Part::UpperArm, 1.0)]),
    ("humerus", &[(Part::UpperArm, 1.0)]),
    ("bicep", &[(Part::UpperArm, 0.9)]),
    ("arm", &[(Part::UpperArm, 0.9)]),
    ("uparm", &[(Part::UpperArm, 1.0)]),
    ("upperarm", &[(Part::UpperArm, 1.0)]),
    ("forearm", &[(Part::ForeArm, 1.0)]),
    ("lowerarm", &[(Part::ForeArm, 1.0)]),
    ("elbow", &[(Part::ForeArm, 1.0)]),
    ("radius", &[(Part::ForeArm, 0.9)]),
    ("ulna", &[(Part::ForeArm, 1.0)]),
    ("hand", &[(Part::Hand, 1.0)]),
    ("wrist", &[(Part::Hand, 1.0)]),
    ("thigh", &[(Part::Thigh, 1.0)]),
    ("femur", &[(Part::Thigh, 1.0)]),
    ("leg", &[(Part::Thigh, 0.7), (Part::Shin, 0.8)]),
    ("knee", &[(Part::Shin, 1.0)]),
    ("shin", &[(Part::Shin, 1.0)]),
    ("calf", &[(Part::Shin, 1.0)]),
    ("tibia", &[(Part::Shin, 1.0)]),
    ("shank", &[(Part::Shin, 1.0)]),
    ("foot", &[(Part::Foot, 0.9), (Part::Toe, 0.5)]),
    ("ankle", &[(Part::Foot, 1.0)]),
    ("talus", &[(Part::Foot, 1.0)]),
    ("toe", &[(Part::Toe, 1.0)]),
    ("toes", &[(Part::Toe, 1.0)]),
    ("toebase", &[(Part::Toe, 1.0)]),
    ("ball", &[(Part::Toe, 0.9)]),
];

/// Words of joints that no role needs.
const EXTRAS: [(&str, &str); 58] = [
    ("thumb", "finger"),
    ("index", "finger"),
    ("middle", "finger"),
    ("ring", "finger"),
    ("pinky", "finger"),
    ("pinkie", "finger"),
    ("little", "finger"),
    ("finger", "finger"),
    ("fingers", "finger"),
    ("metacarpal", "finger"),
    ("carpal", "finger"),
    ("palm", "finger"),
    ("eye", "face"),
    ("eyes", "face"),
    ("jaw", "face"),
    ("tongue", "face"),
    ("teeth", "face"),
    ("brow", "face"),
    ("lip", "face"),
    ("cheek", "face"),
    ("nose", "face"),
    ("ear", "face"),
    ("lid", "face"),
    ("face", "face"),
    ("facial", "face"),
    ("mouth", "face"),
    ("chin", "face"),
    ("twist", "twist"),
    ("roll", "twist"),
    ("share", "twist"),
    ("helper", "twist"),
    ("tail", "tail"),
    ("end", "end"),
    ("nub", "end"),
    ("site", "end"),
    ("tip", "end"),
    ("top", "end"),
    ("effector", "end"),
    ("weapon", "prop"),
    ("prop", "prop"),
    ("sword", "prop"),
    ("gun", "prop"),
    ("holster", "prop"),
    ("attach", "prop"),
    ("socket", "prop"),
    ("hair", "cloth"),
    ("breast", "cloth"),
    ("skirt", "cloth"),
    ("cape", "cloth"),
    ("cloth", "cloth"),
    ("wing", "wing"),
    ("ik", "control"),
    ("pole", "control"),
    ("target", "control"),
    ("ctrl", "control"),
    ("control", "control"),
    ("heel", "heel"),
    ("buttock", "other"),
];

/// Words that qualify the part that follows.
const QUALIFIERS: [&str; 6] = ["up", "upper", "low", "lower", "fore", "joint"];
const SIDES: [(&str, Side); 7] = [
    ("left", Side::Left),
    ("l", Side::Left),
    ("lt", Side::Left),
    ("lf", Side::Left),
    ("right", Side::Right),
    ("r", Side::Right),
    ("rt", Side::Right),
];

/// What every name of a skeleton says.
pub(super) fn meanings(names: &[&str]) -> Vec<Meaning> {
    let plain: Vec<String> = names.iter().map(|name| unescaped(name)).collect();
    let cut = shared_prefix(&plain);
    let numbered = numbered_by_exporter(&plain);
    plain
        .iter()
        .map(|name| {
            let name = if name.starts_with(&cut) { &name[cut.len()..] } else { name };
            let name = name.rsplit([':', '|']).next().unwrap_or(name);
            let name = if numbered { name.trim_end_matches(|c: char| c.is_ascii_digit()) } else { name };
            meaning(&words(name))
        })
        .collect()
}

/// `FBXASC` and three decimal digits are how FBX writes a sign that it does not allow in names.
fn unescaped(name: &str) -> String {
    let mut plain = String::new();
    let mut parts = name.split("FBXASC");
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let code = part.get(..3).and_then(|digits| digits.parse::<u8>().ok());
        if let (Some(code), Some(rest)) = (code, part.get(3..)) {
            plain.push(char::from(code));
            plain.push_str(rest);
        } else {
            plain.push_str(part);
        }
    }
    plain
}

/// The longest beginning, up to a separator, of nine in ten names.
fn shared_prefix(names: &[String]) -> String {
    let mut best = String::new();
    for name in names {
        for (at, sign) in name.char_indices().filter(|(_, c)| !c.is_alphanumeric()) {
            let prefix = &name[..at + sign.len_utf8()];
            let sharing = names.iter().filter(|other| other.starts_with(prefix)).count();
            if prefix.len() > best.len() && sharing * 10 >= names.len() * 9 && sharing > 2 {
                prefix.clone_into(&mut best);
            }
        }
    }
    best
}

/// Some exporters append `_` and a running number to every name.
fn numbered_by_exporter(names: &[String]) -> bool {
    let numbered = names.iter().filter(|name| {
        name.rsplit_once('_')
            .is_some_and(|(_, tail)| tail.len() >= 2 && tail.bytes().all(|byte| byte.is_ascii_digit()))
    });
    numbered.count() * 10 >= names.len() * 9
}

/// The words of a name, lower case: cut at signs, digits and capitals, and where known words are written together.
fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut cut = vec![String::new()];
    for (i, &c) in chars.iter().enumerate() {
        let before = i.checked_sub(1).map(|b| chars[b]);
        let capital_begins = c.is_uppercase()
            && (before.is_some_and(char::is_lowercase)
                || (before.is_some_and(char::is_uppercase)
                    && chars.get(i + 1).is_some_and(|n| n.is_lowercase())));
        if !c.is_alphabetic() || capital_begins {
            cut.push(String::new());
        }
        if c.is_alphabetic()
            && let Some(last) = cut.last_mut()
        {
            last.extend(c.to_lowercase());
        }
    }
    cut.iter().filter(|word| !word.is_empty()).flat_map(|word| split(word)).collect()
}

fn is_known(word: &str) -> bool {
    WORDS.iter().any(|(known, _)| *known == word)
        || EXTRAS.iter().any(|(known, _)| *known == word)
        || QUALIFIERS.contains(&word)
        || matches!(word, "left" | "right" | "bone")
}

/// A word as known words that make it up (`leftupleg`, `lfemur`), else as it is.
fn split(word: &str) -> Vec<String> {
    if is_known(word) || !word.is_ascii() {
        return vec![word.to_owned()];
    }
    for side in ["l", "r"] {
        let whole = |rest: Option<&str>| rest.filter(|rest| rest.len() > 2).and_then(known_words);
        if let Some(mut rest) = whole(word.strip_prefix(side)).or_else(|| whole(word.strip_suffix(side))) {
            rest.insert(0, side.to_owned());
            return rest;
        }
    }
    known_words(word).unwrap_or_else(|| vec![word.to_owned()])
}

/// The word as known words alone; the longest ones first.
fn known_words(word: &str) -> Option<Vec<String>> {
    if word.is_empty() {
        return Some(Vec::new());
    }
    (2..=word.len()).rev().filter(|&end| is_known(&word[..end])).find_map(|end| {
        let mut rest = known_words(&word[end..])?;
        rest.insert(0, word[..end].to_owned());
        Some(rest)
    })
}

fn meaning(words: &[String]) -> Meaning {
    let side =
        words.iter().find_map(|word| SIDES.iter().find(|(name, _)| name == word)).map(|(_, side)| *side);
    let extra =
        words.iter().find_map(|word| EXTRAS.iter().find(|(name, _)| name == word)).map(|(_, kind)| *kind);
    if extra.is_some() {
        return Meaning { side, parts: Vec::new(), extra };
    }
    let mut parts = Vec::new();
    for (i, word) in words.iter().enumerate().rev() {
        let Some((_, found)) = WORDS.iter().find(|(name, _)| name == word) else { continue };
        // `LeftUpperArm`, or else `LeftArmUpper`.
        let around = [i.checked_sub(1).and_then(|before| words.get(before)), words.get(i + 1)];
        let qualifier = around.into_iter().flatten().find(|word| QUALIFIERS.contains(&word.as_str()));
        let qualifier = qualifier.map_or("", String::as_str);
        let upper = matches!(qualifier, "up" | "upper");
        let lower = matches!(qualifier, "low" | "lower" | "fore");
        parts = match word.as_str() {
            "arm" if upper => vec![(Part::UpperArm, 1.0)],
            "arm" if lower => vec![(Part::ForeArm, 1.0)],
            "leg" if upper => vec![(Part::Thigh, 1.0)],
            "leg" if lower => vec![(Part::Shin, 1.0)],
            "hip" if words.iter().any(|w| w == "joint") && side.is_some() => vec![(Part::Thigh, 0.4)],
            _ => found.to_vec(),
        };
        break;
    }
    parts.retain(|(part, _)| side.is_some() == (ARM.contains(part) || LEG.contains(part)));
    Meaning { side, parts, extra: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(name: &str) -> Meaning {
        meaning(&words(name))
    }

    #[test]
    fn names_of_all_conventions_are_read_word_by_word() {
        let cases = [
            ("LeftUpLeg", Some(Side::Left), Part::Thigh),
            ("LeftLowLeg", Some(Side::Left), Part::Shin),
            ("LowerArm_R", Some(Side::Right), Part::ForeArm),
            ("Bip01 L UpperArm", Some(Side::Left), Part::UpperArm),
            ("Bip001 R Toe0", Some(Side::Right), Part::Toe),
            ("ValveBiped.Bip01_R_Calf", Some(Side::Right), Part::Shin),
            ("DEF-upper_arm.L", Some(Side::Left), Part::UpperArm),
            ("lfemur", Some(Side::Left), Part::Thigh),
            ("rThigh", Some(Side::Right), Part::Thigh),
            ("lTorso_Clavicle", Some(Side::Left), Part::Collar),
            ("lToeJoint", Some(Side::Left), Part::Toe),
            ("J_Bip_L_LowerLeg", Some(Side::Left), Part::Shin),
            ("leftforearm", Some(Side::Left), Part::ForeArm),
            ("ball_l", Some(Side::Left), Part::Toe),
            ("CC_Base_R_ToeBase", Some(Side::Right), Part::Toe),
            ("Hips", None, Part::Hips),
            ("torso_head", None, Part::Head),
            ("spine_03", None, Part::Spine),
            ("Body_LeftArmLower", Some(Side::Left), Part::ForeArm),
            ("Rt_Leg_Up", Some(Side::Right), Part::Thigh),
            ("Lf_Leg_Low", Some(Side::Left), Part::Shin),
            ("lower_arm_up_l", Some(Side::Left), Part::ForeArm),
        ];
        for (name, side, part) in cases {
            let found = only(name);
            assert_eq!(found.side, side, "{name}");
            assert!(found.weight(part) > 0.3, "{name}: {found:?}");
        }
    }

    #[test]
    fn what_a_word_leaves_open_stays_open() {
        let shoulder = only("LeftShoulder");
        assert!(shoulder.weight(Part::Collar) > 0.0 && shoulder.weight(Part::UpperArm) > 0.0);
        let leg = only("RightLeg");
        assert!(leg.weight(Part::Thigh) > 0.0 && leg.weight(Part::Shin) > 0.0);
        assert!(only("LeftHip").weight(Part::Thigh) > 0.0 && only("LeftHip").weight(Part::Hips) == 0.0);
        assert!(only("hip").weight(Part::Hips) > 0.0 && only("hip").weight(Part::Thigh) == 0.0);
    }

    #[test]
    fn fingers_twists_and_ends_play_no_part() {
        for name in
            ["LeftHandIndex1", "upperarm_twist_01_l", "HeadTop_End", "L_ThighTwist01", "Bip01 HeadNub"]
        {
            let found = only(name);
            assert!(found.parts.is_empty() && found.extra.is_some(), "{name}: {found:?}");
        }
    }

    #[test]
    fn namespaces_prefixes_escapes_and_running_numbers_are_cut() {
        let names =
            ["hero:mixamorig:Hips_01", "hero:mixamorig:LeftUpLeg_055", "hero:mixamorig:HeadTop_End_06"];
        let found = meanings(&names);
        assert!(found[0].weight(Part::Hips) > 0.9 && found[1].weight(Part::Thigh) > 0.9);
        assert_eq!(unescaped("Bip01FBXASC032LFBXASC032Thigh"), "Bip01 L Thigh");
        assert_eq!(meanings(&["Hand_Hips", "Hand_LeftFoot", "Hand_Spine"])[1].weight(Part::Foot), 0.9);
    }
}

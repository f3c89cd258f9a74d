use super::problem::BvhProblem;
use super::scanner::{Scanner, Token};
use super::warning::BvhWarning;
use crate::FormatError;
use bvh_anim::ChannelType;
use glam::Vec3;
use std::collections::HashSet;
use std::fmt::Write;

/// More joints than any body; a bound on what a hostile header can ask for.
const MAX_JOINTS: usize = 4096;
/// Three positions and three rotations.
const MAX_CHANNELS: usize = 6;

/// A joint whose every line was checked.
pub(super) struct CheckedJoint {
    pub name: String,
    pub parent: Option<usize>,
    pub line: usize,
    pub offset: Vec3,
    channels: Option<Vec<ChannelType>>,
    pub end_sites: Vec<Vec3>,
    has_children: bool,
}

/// A joint of the finished header: its channels with their columns in a row of motion.
pub(super) struct HeaderJoint {
    pub parent: Option<usize>,
    pub channels: Vec<(ChannelType, usize)>,
}

/// An open brace.
#[derive(Clone, Copy)]
enum Open {
    Joint(usize),
    EndSite { joint: usize, offset: Option<Vec3> },
}

/// Reads everything up to `MOTION`, strict about truth and lenient about dialect.
pub(super) fn check_header(
    scanner: &mut Scanner<'_>,
    warnings: &mut Vec<BvhWarning>,
) -> Result<Vec<CheckedJoint>, FormatError> {
    let first = scanner.expect("HIERARCHY")?;
    if !first.is("HIERARCHY") {
        return Err(scanner.error(first, BvhProblem::Expected { expected: "HIERARCHY" }));
    }
    let root = scanner.expect("ROOT")?;
    if !root.is("ROOT") {
        return Err(scanner.error(root, BvhProblem::Expected { expected: "ROOT" }));
    }
    let mut guard = Guard { joints: Vec::new(), offsets_seen: Vec::new(), open: Vec::new(), warnings };
    guard.open_joint(scanner, None)?;
    while !guard.open.is_empty() {
        guard.statement(scanner)?;
    }
    let Guard { mut joints, warnings, .. } = guard;
    report_oddities(&joints, warnings);
    make_names_unique(&mut joints, warnings);
    Ok(joints)
}

struct Guard<'w> {
    joints: Vec<CheckedJoint>,
    offsets_seen: Vec<bool>,
    open: Vec<Open>,
    warnings: &'w mut Vec<BvhWarning>,
}

impl Guard<'_> {
    fn statement(&mut self, scanner: &mut Scanner<'_>) -> Result<(), FormatError> {
        const EXPECTED: &str = "OFFSET, CHANNELS, JOINT, End Site or }";
        let token = scanner.expect(EXPECTED)?;
        let top = *self.open.last().expect("statements are read while a brace is open");
        match top {
            _ if token.is("}") => self.close(scanner, token),
            _ if token.is("OFFSET") => self.offset(scanner, token),
            Open::Joint(joint) if token.is("CHANNELS") => self.channels(scanner, token, joint),
            Open::Joint(joint) if token.is("JOINT") => {
                self.joints[joint].has_children = true;
                self.open_joint(scanner, Some(joint))
            }
            Open::Joint(joint) if token.is("End") || token.is("EndSite") => {
                self.open_end_site(scanner, token, joint)
            }
            _ if token.is("ROOT") => Err(scanner.error(token, BvhProblem::SecondRoot)),
            Open::Joint(_) => Err(scanner.error(token, BvhProblem::Expected { expected: EXPECTED })),
            Open::EndSite { joint, .. } if token.is("CHANNELS") => self.end_site_channels(scanner, joint),
            Open::EndSite { .. } => {
                Err(scanner.error(token, BvhProblem::Expected { expected: "OFFSET or }" }))
            }
        }
    }

    fn open_joint(&mut self, scanner: &mut Scanner<'_>, parent: Option<usize>) -> Result<(), FormatError> {
        let written = scanner.rest_as_name();
        if written.text.is_empty() {
            return Err(scanner.error(written, BvhProblem::NoName));
        }
        if self.joints.len() == MAX_JOINTS {
            return Err(scanner.error(written, BvhProblem::TooManyJoints { limit: MAX_JOINTS }));
        }
        let name = String::from_utf8_lossy(written.text).into_owned();
        if name.as_bytes() != written.text {
            self.warnings.push(BvhWarning::NameNotUtf8 { line: written.line, name: name.clone() });
        }
        open_brace(scanner)?;
        self.open.push(Open::Joint(self.joints.len()));
        self.offsets_seen.push(false);
        self.joints.push(CheckedJoint {
            name,
            parent,
            line: written.line,
            offset: Vec3::ZERO,
            channels: None,
            end_sites: Vec::new(),
            has_children: false,
        });
        Ok(())
    }

    fn open_end_site(
        &mut self,
        scanner: &mut Scanner<'_>,
        keyword: Token<'_>,
        joint: usize,
    ) -> Result<(), FormatError> {
        if keyword.is("End") {
            let site = scanner.expect("Site")?;
            if !site.is("Site") {
                return Err(scanner.error(site, BvhProblem::Expected { expected: "Site" }));
            }
        }
        let name = scanner.rest_as_name();
        if !name.text.is_empty() {
            let written = String::from_utf8_lossy(name.text).into_owned();
            self.warnings.push(BvhWarning::EndSiteName { line: name.line, name: written });
        }
        open_brace(scanner)?;
        self.open.push(Open::EndSite { joint, offset: None });
        Ok(())
    }

    fn close(&mut self, scanner: &Scanner<'_>, brace: Token<'_>) -> Result<(), FormatError> {
        match self.open.pop() {
            Some(Open::Joint(joint)) if self.offsets_seen[joint] => Ok(()),
            Some(Open::EndSite { joint, offset: Some(offset) }) => {
                self.joints[joint].end_sites.push(offset);
                Ok(())
            }
            _ => Err(scanner.error(brace, BvhProblem::NoOffset)),
        }
    }

    fn offset(&mut self, scanner: &mut Scanner<'_>, keyword: Token<'_>) -> Result<(), FormatError> {
        let mut read = [0.0_f32; 3];
        for value in &mut read {
            let token = scanner.expect("a number of an OFFSET")?;
            *value = scanner.number(token)? as f32;
        }
        let read = Vec3::from_array(read);
        let twice = BvhProblem::Twice { keyword: "OFFSET" };
        match self.open.last_mut() {
            Some(Open::EndSite { offset, .. }) if offset.is_none() => *offset = Some(read),
            Some(Open::Joint(joint)) if !self.offsets_seen[*joint] => {
                self.offsets_seen[*joint] = true;
                self.joints[*joint].offset = read;
            }
            _ => return Err(scanner.error(keyword, twice)),
        }
        Ok(())
    }

    /// Some exporters state of an end site what is true of every one: `CHANNELS 0`.
    fn end_site_channels(&self, scanner: &mut Scanner<'_>, joint: usize) -> Result<(), FormatError> {
        let count = scanner.expect("the number of CHANNELS")?;
        if count.text == b"0" {
            return Ok(());
        }
        Err(scanner.error(count, BvhProblem::EndSiteChannels { joint: self.joints[joint].name.clone() }))
    }

    fn channels(
        &mut self,
        scanner: &mut Scanner<'_>,
        keyword: Token<'_>,
        joint: usize,
    ) -> Result<(), FormatError> {
        let joint = &mut self.joints[joint];
        if joint.channels.is_some() {
            return Err(scanner.error(keyword, BvhProblem::Twice { keyword: "CHANNELS" }));
        }
        let count = scanner.expect("the number of CHANNELS")?;
        let declared: usize =
            std::str::from_utf8(count.text).ok().and_then(|text| text.parse().ok()).ok_or_else(|| {
                scanner.error(count, BvhProblem::Expected { expected: "the number of CHANNELS" })
            })?;
        let mut channels = Vec::new();
        loop {
            let mut ahead = *scanner;
            let Some(channel) = ahead.next().and_then(|token| channel_of(token.text)) else { break };
            if channels.len() == MAX_CHANNELS || (channel.is_position() && channels.contains(&channel)) {
                return Err(scanner.error(count, BvhProblem::BadChannels { joint: joint.name.clone() }));
            }
            channels.push(channel);
            *scanner = ahead;
        }
        if channels.len() != declared {
            // The token that should have been a channel is the better place to look at when one is misspelt.
            let next = (*scanner).next().filter(|_| channels.len() < declared).unwrap_or(count);
            let problem =
                BvhProblem::ChannelCount { joint: joint.name.clone(), declared, found: channels.len() };
            return Err(scanner.error(next, problem));
        }
        joint.channels = Some(channels);
        Ok(())
    }
}

fn open_brace(scanner: &mut Scanner<'_>) -> Result<(), FormatError> {
    let brace = scanner.expect("{")?;
    if brace.is("{") { Ok(()) } else { Err(scanner.error(brace, BvhProblem::Expected { expected: "{" })) }
}

/// The channel of this name in any case.
fn channel_of(text: &[u8]) -> Option<ChannelType> {
    let (axis, kind) = text.split_first()?;
    let position = kind.eq_ignore_ascii_case(b"position");
    if !position && !kind.eq_ignore_ascii_case(b"rotation") {
        return None;
    }
    match (axis.to_ascii_uppercase(), position) {
        (b'X', true) => Some(ChannelType::PositionX),
        (b'Y', true) => Some(ChannelType::PositionY),
        (b'Z', true) => Some(ChannelType::PositionZ),
        (b'X', false) => Some(ChannelType::RotationX),
        (b'Y', false) => Some(ChannelType::RotationY),
        (b'Z', false) => Some(ChannelType::RotationZ),
        _ => None,
    }
}

fn report_oddities(joints: &[CheckedJoint], warnings: &mut Vec<BvhWarning>) {
    for joint in joints {
        let (line, name) = (joint.line, || joint.name.clone());
        if joint.channels.is_none() {
            warnings.push(BvhWarning::MissingChannels { line, joint: name() });
        }
        match joint.end_sites.len() {
            0 if !joint.has_children => warnings.push(BvhWarning::MissingEndSite { line, joint: name() }),
            0 | 1 => {}
            count => warnings.push(BvhWarning::SeveralEndSites { line, joint: name(), count }),
        }
    }
}

fn make_names_unique(joints: &mut [CheckedJoint], warnings: &mut Vec<BvhWarning>) {
    let written: HashSet<String> = joints.iter().map(|joint| joint.name.clone()).collect();
    let mut taken = HashSet::new();
    for joint in joints {
        if taken.insert(joint.name.clone()) {
            continue;
        }
        let name = joint.name.clone();
        let mut number = 2;
        joint.name = loop {
            let candidate = format!("{name}_{number}");
            if !written.contains(&candidate) && taken.insert(candidate.clone()) {
                break candidate;
            }
            number += 1;
        };
        warnings.push(BvhWarning::DuplicateName { line: joint.line, name, renamed: joint.name.clone() });
    }
}

/// Tree and channel columns of a checked header, as the `bvh_anim` parser sees them.
pub(super) fn parse_checked(
    scanner: &Scanner<'_>,
    joints: &[CheckedJoint],
) -> Result<Vec<HeaderJoint>, FormatError> {
    let failed = |reason: String| {
        scanner.error(Token { text: b"", line: 1, column: 1 }, BvhProblem::Parser { reason })
    };
    let parsed = bvh_anim::from_bytes(normalised(joints)).map_err(|refusal| failed(refusal.to_string()))?;
    let header: Vec<HeaderJoint> = parsed
        .joints()
        .map(|joint| HeaderJoint {
            parent: joint.data().parent_index(),
            channels: joint.data().channels().iter().map(|c| (c.channel_type(), c.motion_index())).collect(),
        })
        .collect();
    if header.len() == joints.len() && header.iter().zip(joints).all(|(a, b)| a.parent == b.parent) {
        Ok(header)
    } else {
        Err(failed(format!("it sees {} joints where the file has {}", header.len(), joints.len())))
    }
}

/// The header in the one dialect that `bvh_anim` reads without loss: plain names, one end site per leaf.
fn normalised(joints: &[CheckedJoint]) -> Vec<u8> {
    let mut text = String::from("HIERARCHY\n");
    let mut open: Vec<usize> = Vec::new();
    for (index, joint) in joints.iter().enumerate() {
        while open.last().copied() != joint.parent {
            open.pop();
            text.push_str("}\n");
        }
        open.push(index);
        let keyword = if joint.parent.is_none() { "ROOT" } else { "JOINT" };
        let channels = joint.channels.as_deref().unwrap_or_default();
        // Offsets are the checked ones: the parser overwrites a lone root's offset with its end site's.
        let _infallible = write!(text, "{keyword} j{index}\n{{\nOFFSET 0 0 0\nCHANNELS {}", channels.len());
        for channel in channels {
            text.push(' ');
            text.push_str(channel.as_str());
        }
        text.push('\n');
        if !joint.has_children {
            text.push_str("End Site\n{\nOFFSET 0 0 0\n}\n");
        }
    }
    for _ in open {
        text.push_str("}\n");
    }
    text.push_str("MOTION\nFrames: 0\nFrame Time: 1\n");
    text.into_bytes()
}

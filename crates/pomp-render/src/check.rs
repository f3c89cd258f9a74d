use crate::{RenderError, RenderOptions, View};
use pomp_motion::{MotionError, Recording};

/// Checks options and every part of the recording that is drawn.
pub(crate) fn check(recording: &Recording, options: &RenderOptions) -> Result<(), RenderError> {
    options.validate()?;
    recording.validate()?;
    let frames = recording.frames();
    if !(recording.frame_rate_hz.is_finite() && recording.frame_rate_hz > 0.0) {
        let reason = format!("its frame rate is {} Hz", recording.frame_rate_hz);
        return Err(MotionError::BadClip { name: recording.name.clone(), reason }.into());
    }
    if let Some(range) = &options.frames {
        if range.is_empty() {
            let reason = "an empty part of the recording shows nothing";
            return Err(RenderError::BadOption { option: "frames", value: format!("{range:?}"), reason });
        }
        if range.end > frames {
            return Err(RenderError::FrameOutOfRange { frame: range.end - 1, frames });
        }
    }
    let lacks = |view, part| RenderError::NothingToDraw { recording: recording.name.clone(), view, part };
    match (options.view, &recording.simulation) {
        (View::Simulated, None) => return Err(lacks("the simulated view", "a simulated motion")),
        (View::SideBySide, None) => return Err(lacks("the side-by-side view", "a simulated motion")),
        _ => {}
    }
    finite("root", &recording.root)?;
    finite("gait", &recording.gait)?;
    check_terrain(recording)?;
    check_simulation(recording)?;
    check_generation(recording)
}

fn finite<const N: usize>(what: &str, rows: &[[f32; N]]) -> Result<(), RenderError> {
    match rows.iter().position(|row| row.iter().any(|v| !v.is_finite())) {
        Some(index) => Err(RenderError::NotFinite { what: what.to_owned(), index }),
        None => Ok(()),
    }
}

fn check_terrain(recording: &Recording) -> Result<(), RenderError> {
    let Some(terrain) = &recording.terrain else { return Ok(()) };
    for (what, found) in [
        ("rows of the terrain", terrain.heights.frames()),
        ("columns of the terrain", terrain.heights.columns()),
    ] {
        if found < 2 {
            return Err(MotionError::SizeMismatch { what: what.to_owned(), expected: 2, found }.into());
        }
    }
    finite("origin of the terrain", &[terrain.origin])?;
    if !(terrain.cell_m.is_finite() && terrain.cell_m > 0.0) {
        return Err(RenderError::NotFinite {
            what: "cell of the terrain, or its inverse,".to_owned(),
            index: 0,
        });
    }
    match terrain.heights.values().iter().position(|h| !h.is_finite()) {
        Some(index) => Err(RenderError::NotFinite { what: "height of the terrain".to_owned(), index }),
        None => Ok(()),
    }
}

fn check_simulation(recording: &Recording) -> Result<(), RenderError> {
    let Some(simulation) = &recording.simulation else { return Ok(()) };
    for (frame, row) in simulation.quaternions.rows().enumerate() {
        if let Some(column) = row.iter().position(|q| !q.is_finite()) {
            return Err(MotionError::NotFinite { what: "sim_quaternions".to_owned(), frame, column }.into());
        }
    }
    if let Some(index) = simulation.assist_force.iter().position(|f| !f.is_finite()) {
        return Err(RenderError::NotFinite { what: "assist_force".to_owned(), index });
    }
    if let Some(index) = simulation.body_mass_kg.iter().position(|&m| !(m.is_finite() && m > 0.0)) {
        return Err(RenderError::NotFinite { what: "body mass, or its inverse,".to_owned(), index });
    }
    Ok(())
}

fn check_generation(recording: &Recording) -> Result<(), RenderError> {
    let Some(generation) = &recording.generation else { return Ok(()) };
    finite("control", &generation.control)?;
    let bodies = recording.simulation.as_ref().map_or(0, |s| s.body_names.len());
    for (index, push) in generation.pushes.iter().enumerate() {
        if !(push.time_s.is_finite() && push.impulse_ns.is_finite() && push.point.is_finite()) {
            return Err(RenderError::NotFinite { what: "push".to_owned(), index });
        }
        if recording.simulation.is_some() && push.body >= bodies {
            return Err(RenderError::BadPush { push: index, body: push.body, bodies });
        }
    }
    Ok(())
}

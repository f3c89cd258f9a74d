use crate::StudioError;
use pomp_motion::retarget::RigLibrary;
use pomp_preprocess::PreprocessConfig;
use pomp_preprocess::validation::{Forces, trials, validate};
use std::path::Path;

/// Columns that the manifest of a folder with force plates has.
const PLATES_COLUMN: &str = "grf";

/// Vertical forces of the left and the right foot in body weights, frame by frame, as plates measured them and as
/// preprocessing predicts them from the motion alone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlateCurves {
    /// Measured left and right, predicted left and right.
    pub rows: Vec<[f32; 4]>,
}

impl PlateCurves {
    /// Those of a clip, if its folder's manifest names plates for it.
    ///
    /// # Errors
    /// A manifest, plates or clip that cannot be used.
    pub fn beside(
        clip: &Path,
        config: &PreprocessConfig,
        rigs: &RigLibrary,
    ) -> Result<Option<Self>, StudioError> {
        let Some(folder) = clip.parent() else { return Ok(None) };
        let manifest = folder.join("manifest.csv");
        if !manifest.is_file() {
            return Ok(None);
        }
        let text = std::fs::read_to_string(&manifest)
            .map_err(|source| StudioError::Read { path: manifest.clone(), source })?;
        // Manifests of other folders say other things.
        let head = text.lines().next().unwrap_or_default();
        if !head.split(',').any(|column| column.trim() == PLATES_COLUMN) {
            return Ok(None);
        }
        let refused = |reason: String| StudioError::BadClip { name: manifest.display().to_string(), reason };
        let all = trials(folder).map_err(|error| refused(error.to_string()))?;
        let Some(trial) = all.iter().find(|trial| trial.clip.file_name() == clip.file_name()) else {
            return Ok(None);
        };
        let result = validate(trial, config, rigs).map_err(|error| refused(error.to_string()))?;
        let curves = result.curves;
        // The first estimator is what recordings hold.
        let predicted = curves.predicted.first();
        let feet =
            |forces: &Forces, frame: usize| forces.feet_bw.as_ref().and_then(|feet| feet.get(frame)).copied();
        let rows = (0..curves.measured.total_bw.len()).map_while(|frame| {
            let measured = feet(&curves.measured, frame)?;
            let predicted = feet(predicted?, frame)?;
            Some([measured[0].y, measured[1].y, predicted[0].y, predicted[1].y].map(|force| force as f32))
        });
        Ok(Some(Self { rows: rows.collect() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside(clip: &Path) -> Result<Option<PlateCurves>, StudioError> {
        PlateCurves::beside(clip, &PreprocessConfig::default(), &RigLibrary::builtin())
    }

    #[test]
    fn a_trial_brings_its_plates_and_the_predicted_forces_are_near_them() {
        let wanted = "grf/nimble_Subject4__walking1.bvh";
        let Some(clip) = pomp_testing::recorded(wanted, "forces beside those of plates") else { return };
        let curves = beside(&clip).unwrap().expect("the manifest names plates");
        let error: f32 = curves.rows.iter().map(|r| (r[0] - r[2]).abs() + (r[1] - r[3]).abs()).sum();
        let load: f32 = curves.rows.iter().map(|r| r[0] + r[1]).sum();
        println!(
            "{}: {} frames, mean error over mean load {:.3}",
            clip.display(),
            curves.rows.len(),
            error / load
        );
        assert!(curves.rows.len() > 30 && load > 0.0 && error < 0.5 * load);
    }

    #[test]
    fn clips_without_plates_bring_none_and_broken_manifests_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let clip = folder.path().join("walk.bvh");
        assert_eq!(beside(&clip).unwrap(), None);
        std::fs::write(folder.path().join("manifest.csv"), "path,license\nwalk.bvh,CC0\n").unwrap();
        assert_eq!(beside(&clip).unwrap(), None);
        std::fs::write(folder.path().join("manifest.csv"), "path,grf,mass_kg_use\nwalk.bvh,walk.csv,heavy\n")
            .unwrap();
        let message = beside(&clip).unwrap_err().to_string();
        assert!(message.contains("mass_kg_use") && message.contains("heavy"), "{message}");
    }
}

use thiserror::Error;

/// Why no terrain could be fitted to a clip.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TerrainFitError {
    /// Input arrays of different lengths, none at all, or numbers that are not finite.
    #[error("the motion \"{name}\" {reason}")]
    BadInput {
        /// Clip name.
        name: String,
        /// What is wrong, with frame and column.
        reason: String,
    },
    /// A configuration value out of range.
    #[error("terrain fit: {0}")]
    OutOfRange(#[from] pomp_config::OutOfRange),
    /// A variant that the configuration does not make.
    #[error(
        "terrain variant {variant} was asked for, but the fit keeps {kept} besides variant 0; raise terrain.variants"
    )]
    NoSuchVariant {
        /// The variant asked for.
        variant: usize,
        /// Variants besides 0.
        kept: usize,
    },
    /// The feet stand at several heights in the same places: no height map carries that motion.
    #[error(
        "the feet of \"{name}\" stand at different heights in the same place, or above room that feet pass through, for \
         {share_percent:.0} % of the time on the ground{first}; a ladder, or a moving floor? Leave the clip out, or raise \
         terrain.max_contradiction_share"
    )]
    Contradicting {
        /// Clip name.
        name: String,
        /// Percentage of the planted time that is in contradiction.
        share_percent: f32,
        /// The first place with its two heights, in brackets; empty when there is no such pair.
        first: String,
    },
    /// A trajectory larger than a map may be.
    #[error(
        "the motion \"{name}\" spans {span_m:.0} m, more than terrain.max_span_m = {max_m:.0} m; check its unit"
    )]
    TooLarge {
        /// Clip name.
        name: String,
        /// Larger side of the ground that it covers, metres.
        span_m: f32,
        /// The limit.
        max_m: f32,
    },
    /// The height map refuses the fitted heights.
    #[error(transparent)]
    Terrain(#[from] pomp_terrain::TerrainError),
}

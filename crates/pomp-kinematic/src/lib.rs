//! The kinematic module: OrthoMoE encoder and diffusion decoder with Analytic-DPM covariance.

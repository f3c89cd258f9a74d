//! Configurations as people write them.

use pomp_kinematic::{GateInput, KinematicConfig, KinematicError, KinematicModel, SamplerConfig};

fn compact() -> KinematicConfig {
    KinematicConfig::compact(541, 388, GateInput { start: 300, len: 130 })
}

#[test]
fn presets_are_valid_and_survive_a_file() {
    let gate = GateInput { start: 300, len: 130 };
    for config in [compact(), KinematicConfig::paper(541, 388, gate)] {
        config.validate().unwrap();
        let text = toml::to_string(&config).unwrap();
        assert_eq!(toml::from_str::<KinematicConfig>(&text).unwrap(), config);
    }
    let sampler = SamplerConfig::analytic_ddim(4);
    assert_eq!(toml::from_str::<SamplerConfig>(&toml::to_string(&sampler).unwrap()).unwrap(), sampler);
}

#[test]
fn rejects_an_unknown_field_and_a_missing_one() {
    let text = toml::to_string(&compact()).unwrap();
    let unknown = text.replace("experts = 8", "experts = 8\nexpert = 9");
    assert!(toml::from_str::<KinematicConfig>(&unknown).unwrap_err().to_string().contains("expert"));
    let missing = text.replace("experts = 8\n", "");
    assert!(toml::from_str::<KinematicConfig>(&missing).unwrap_err().to_string().contains("experts"));
}

fn rejected(field: &str, change: impl FnOnce(&mut KinematicConfig)) {
    let mut config = compact();
    change(&mut config);
    match config.validate() {
        Err(KinematicError::OutOfRange(refused)) => assert_eq!(refused.field, field),
        other => panic!("{field}: {other:?}"),
    }
    let device = burn::tensor::Device::flex();
    assert!(KinematicModel::new(&config, 0, &device).is_err());
}

#[test]
fn rejects_sizes_of_zero() {
    rejected("input_size", |c| c.input_size = 0);
    rejected("output_size", |c| c.output_size = 0);
    rejected("experts", |c| c.experts = 0);
    rejected("condition_size", |c| c.condition_size = 0);
    rejected("diffusion_steps", |c| c.diffusion_steps = 0);
    rejected("gate_input.len", |c| c.gate_input.len = 0);
    rejected("decoder_hidden", |c| c.decoder_hidden.clear());
    rejected("expert_hidden", |c| c.expert_hidden = vec![0]);
}

#[test]
fn rejects_a_gate_block_outside_x() {
    rejected("gate_input", |c| c.gate_input.start = 541 - 129);
}

#[test]
fn rejects_more_experts_than_orthogonal_directions() {
    rejected("experts", |c| c.condition_size = 7);
}

#[test]
fn rejects_an_odd_time_embedding() {
    rejected("time_embedding", |c| c.time_embedding = 31);
}

#[test]
fn rejects_an_independence_or_a_dropout_outside_its_range() {
    rejected("independence", |c| c.independence = 0.0);
    rejected("independence", |c| c.independence = f64::NAN);
    rejected("expert_dropout", |c| c.expert_dropout = 1.0);
}

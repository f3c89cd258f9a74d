//! A kinematic module that is told nothing of phases ([`Phases::None`](crate::Phases::None)).
//!
//! Training shows it 0 where phases are, so the weights that meet them get no gradient; they begin as 0, and what an
//! optimiser without gradients does to 0, decay included, leaves it 0. A trained module therefore ignores whatever phases it
//! is shown, and needs nothing of those who run it.

use burn::module::Param;
use burn::tensor::Tensor;
use pomp_kinematic::KinematicModel;
use pomp_motion::features::{BlockName, FeatureLayout};
use std::ops::Range;

/// Sets the phases of a normalised row of x and of y to their means.
pub(crate) fn hide(layout: &FeatureLayout, x: &mut [f32], y: &mut [f32]) {
    x[layout.x_range(BlockName::PhaseCodes)].fill(0.0);
    for name in [BlockName::PhaseCodes, BlockName::PhaseParameters] {
        y[layout.y_range(name)].fill(0.0);
    }
}

/// Sets every weight that the phases of x meet first to 0.
pub(crate) fn deafen(mut model: KinematicModel, layout: &FeatureLayout) -> KinematicModel {
    let phases = layout.x_range(BlockName::PhaseCodes);
    if let Some(first) = model.encoder.gate.first_mut() {
        // The gate sees the whole of x.
        first.weight = without_rows(&first.weight, 0, &phases);
    }
    if let Some(first) = model.encoder.experts.first_mut() {
        first.weight = without_rows(&first.weight, 1, &phases);
    }
    if let Some(state) = &mut model.decoder.state_input {
        state.weight = without_rows(&state.weight, 0, &phases);
    }
    model
}

fn without_rows<const D: usize>(
    weight: &Param<Tensor<D>>,
    dimension: usize,
    rows: &Range<usize>,
) -> Param<Tensor<D>> {
    weight.clone().map(|weight| {
        let mut shape = weight.dims();
        shape[dimension] = rows.len();
        let mut place: [Range<usize>; D] = weight.dims().map(|size| 0..size);
        place[dimension] = rows.clone();
        let zeros = Tensor::zeros(shape, &weight.device());
        // A weight of its own again: as the result of an operation it would lead every step's gradients back to this one.
        let learns = weight.is_require_grad();
        weight.slice_assign(place, zeros).detach().set_require_grad(learns)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{Device, TensorData};
    use pomp_kinematic::{Conditioning, GateInput, KinematicConfig};
    use pomp_motion::features::Rotations;

    #[test]
    fn a_deafened_module_hears_no_phases_and_everything_else() {
        let layout = FeatureLayout::new(3, 3, 2, Rotations::SixD);
        let config = KinematicConfig {
            expert_hidden: vec![12],
            condition_size: 12,
            gate_hidden: vec![8],
            decoder_hidden: vec![24],
            conditioning: Conditioning::ExpertsAndState,
            ..KinematicConfig::compact(
                layout.x_len(),
                layout.y_len(),
                GateInput { start: 0, len: layout.x_len() },
            )
        };
        let device = Device::flex();
        let model = deafen(KinematicModel::new(&config, 3, &device).unwrap(), &layout);
        let answer = |x: &[f32]| {
            let x = Tensor::<2>::from_data(TensorData::new(x.to_vec(), [1, x.len()]), &device);
            let noisy = Tensor::<2>::ones([1, layout.y_len()], &device);
            model.predict_clean(&model.encode(&x, None), noisy, &[7]).try_into_vec_as::<f32>().unwrap()
        };
        let plain = vec![0.3; layout.x_len()];
        for block in layout.x_blocks() {
            let mut changed = plain.clone();
            changed[block.range.clone()].fill(-2.0);
            assert_eq!(
                answer(&plain) == answer(&changed),
                block.name == BlockName::PhaseCodes,
                "{:?}",
                block.name
            );
        }
    }
}

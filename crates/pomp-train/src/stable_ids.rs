//! Parameters with ids that do not change from run to run, so that an optimiser's state finds its parameters
//! again after a restart, and averaged weights find theirs.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::Tensor;
use std::collections::HashMap;

/// The module with its floating-point parameters numbered in the order of its fields.
pub(crate) fn with_stable_ids<M: Module>(module: M) -> M {
    struct Numbering(u64);
    impl ModuleMapper for Numbering {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            let (_, value, mapper) = param.consume();
            self.0 += 1;
            Param::from_mapped_value(ParamId::from(self.0), value, mapper)
        }
    }
    module.map(&mut Numbering(0))
}

/// An exponential moving average of a module's weights.
#[derive(Clone)]
pub(crate) struct AveragedWeights {
    memory: f32,
    values: HashMap<ParamId, Vec<f32>>,
}

impl AveragedWeights {
    /// Starts from the module's present weights.
    pub fn new<M: Module>(module: &M, memory: f32) -> Self {
        let mut average = Self { memory, values: HashMap::new() };
        average.visit(module, 0.0);
        average
    }

    /// Takes the module's present weights in.
    pub fn update<M: Module>(&mut self, module: &M) {
        let memory = self.memory;
        self.visit(module, memory);
    }

    fn visit<M: Module>(&mut self, module: &M, memory: f32) {
        struct Update<'a> {
            memory: f32,
            values: &'a mut HashMap<ParamId, Vec<f32>>,
        }
        impl ModuleVisitor for Update<'_> {
            fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
                let new = param
                    .val()
                    .without_autodiff()
                    .try_into_vec_as::<f32>()
                    .expect("weights are floating-point numbers");
                match self.values.get_mut(&param.id) {
                    None => {
                        self.values.insert(param.id, new);
                    }
                    Some(average) => {
                        for (a, v) in average.iter_mut().zip(new) {
                            *a = *a * self.memory + v * (1.0 - self.memory);
                        }
                    }
                }
            }
        }
        module.visit(&mut Update { memory, values: &mut self.values });
    }

    /// The module with the averaged weights.
    pub fn apply<M: Module>(&self, module: M) -> M {
        struct Replace<'a>(&'a HashMap<ParamId, Vec<f32>>);
        impl ModuleMapper for Replace<'_> {
            fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
                let (id, value, mapper) = param.consume();
                let Some(average) = self.0.get(&id) else {
                    return Param::from_mapped_value(id, value, mapper);
                };
                let data = burn::tensor::TensorData::new(average.clone(), value.dims());
                let tensor = Tensor::<D>::from_data(data, &value.device());
                Param::from_mapped_value(id, tensor, mapper)
            }
        }
        module.map(&mut Replace(&self.values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::nn::{Linear, LinearConfig};
    use burn::tensor::Device;

    fn values(module: &Linear) -> Vec<f32> {
        module.weight.val().try_into_vec_as::<f32>().unwrap()
    }

    #[test]
    fn the_average_forgets_the_first_weights_by_its_memory_to_the_number_of_updates() {
        let device = Device::flex();
        let [first, second] =
            [0, 1].map(|_| with_stable_ids(LinearConfig::new(5, 4).with_bias(false).init(&device)));
        let (memory, updates) = (0.9, 7);
        let mut average = AveragedWeights::new(&first, memory);
        for _ in 0..updates {
            average.update(&second);
        }
        let left = memory.powi(updates);
        let found = values(&average.apply(second.clone()));
        for ((found, first), second) in found.iter().zip(values(&first)).zip(values(&second)) {
            assert!((found - (left * first + (1.0 - left) * second)).abs() < 1e-6);
        }
    }
}

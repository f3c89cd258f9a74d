//! Losses and gradients that are no longer numbers, caught in the step in which they arise.

use crate::TrainError;
use crate::checkpoint::Checkpoint;
use crate::progress::Stage;
use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use std::fmt::Display;

/// The step that is looked at, for messages.
pub(crate) struct Step<'a> {
    pub stage: Stage,
    pub step: usize,
    /// What makes the same batch again.
    pub batch: &'a dyn Display,
    pub checkpoint: &'a Checkpoint,
}

impl Step<'_> {
    /// Refuses a loss that is not finite, and names the first parameter that is not, if there is one.
    pub fn check_loss<M: Module>(&self, loss: f32, module: &M) -> Result<(), TrainError> {
        if loss.is_finite() {
            return Ok(());
        }
        let search = Search::of(module, None);
        let blame = match (search.found, search.largest) {
            (Some(bad), _) => format!("the first bad weight is {bad}"),
            (None, Some((_, largest))) => format!("every weight is finite, the largest is {largest}"),
            (None, None) => "there are no weights".to_owned(),
        };
        Err(self.diverged(format!("loss is {loss}"), blame))
    }

    /// Refuses gradients that are not finite and names the first parameter that has one. Weights are still good then.
    pub fn check_gradients<M: Module>(
        &self,
        gradients: &GradientsParams,
        module: &M,
    ) -> Result<(), TrainError> {
        // One number for all gradients, read once: it is finite if all of them are, unless their sum overflows.
        let mut sum = Sum { gradients, total: None };
        module.visit(&mut sum);
        if sum.total.is_none_or(|total| total.into_scalar::<f32>().is_finite()) {
            return Ok(());
        }
        match Search::of(module, Some(gradients)).found {
            None => Ok(()),
            Some(bad) => Err(self.diverged(
                "gradient is not finite".to_owned(),
                format!("the first bad one is that of {bad}"),
            )),
        }
    }

    fn diverged(&self, what: String, blame: String) -> TrainError {
        TrainError::Diverged {
            stage: self.stage.name(),
            step: self.step,
            batch: self.batch.to_string(),
            what,
            blame,
            checkpoint: self.checkpoint.last_good(),
        }
    }
}

/// Sum over all gradients.
struct Sum<'a> {
    gradients: &'a GradientsParams,
    total: Option<Tensor<1>>,
}

impl ModuleVisitor for Sum<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.get::<D>(param.id) {
            let sum = gradient.sum();
            self.total = Some(match self.total.take() {
                None => sum,
                Some(total) => total + sum,
            });
        }
    }
}

/// Looks through the weights of a module (or their gradients, when these are given) in the order of its fields. A value
/// is named by the path of its tensor and its number in it, row by row.
struct Search<'a> {
    gradients: Option<&'a GradientsParams>,
    path: Vec<String>,
    /// The first value that is not finite.
    found: Option<String>,
    /// The largest magnitude, and its value by name.
    largest: Option<(f32, String)>,
}

impl<'a> Search<'a> {
    fn of<M: Module>(module: &M, gradients: Option<&'a GradientsParams>) -> Self {
        let mut search = Self { gradients, path: Vec::new(), found: None, largest: None };
        module.visit(&mut search);
        search
    }

    fn look(&mut self, values: &[f32]) {
        let named = |at: usize| format!("{}[{at}] = {:e}", self.path.join("."), values[at]);
        if self.found.is_none() {
            self.found = values.iter().position(|value| !value.is_finite()).map(named);
        }
        let largest = (0..values.len()).max_by(|&a, &b| values[a].abs().total_cmp(&values[b].abs()));
        if let Some(at) = largest
            && self.largest.as_ref().is_none_or(|(magnitude, _)| values[at].abs() > *magnitude)
        {
            self.largest = Some((values[at].abs(), named(at)));
        }
    }
}

impl ModuleVisitor for Search<'_> {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = match self.gradients {
            None => Some(param.val().without_autodiff()),
            Some(gradients) => gradients.get::<D>(param.id),
        };
        if let Some(tensor) = tensor {
            self.look(
                &tensor.try_into_vec_as::<f32>().expect("weights and gradients are floating-point numbers"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::nn::{Linear, LinearConfig};
    use burn::tensor::Device;

    #[derive(Module, Debug)]
    struct Network {
        first: Linear,
        second: Linear,
    }

    fn network(device: &Device) -> Network {
        let linear = || LinearConfig::new(3, 3).init(device);
        Network { first: linear(), second: linear() }
    }

    fn refused(check: impl FnOnce(&Step<'_>) -> Result<(), TrainError>) -> String {
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = Checkpoint::new(folder.path(), Stage::Phase, "run");
        let batch = "batch 4 of epoch 2, seed 7";
        let step = Step { stage: Stage::Phase, step: 12, batch: &batch, checkpoint: &checkpoint };
        check(&step).unwrap_err().to_string()
    }

    #[test]
    fn rejects_a_gradient_that_is_not_a_number_and_says_whose_it_is() {
        let device = Device::flex().autodiff();
        let network = network(&device);
        let x = Tensor::<2>::ones([2, 3], &device);
        // The square root has no slope at 0: the gradient of `second` is infinite times 0, that of `first` is not.
        let bad = network.second.forward(x.clone()).sum() * 0.0;
        let loss = network.first.forward(x).sum() + bad.sqrt();
        let gradients = GradientsParams::from_grads(loss.backward(), &network);
        let said = refused(|step| step.check_gradients(&gradients, &network));
        for words in ["step 12", "batch 4 of epoch 2, seed 7", "second.weight[0] = NaN", "no checkpoint"] {
            assert!(said.contains(words), "\"{words}\" is missing in: {said}");
        }
    }

    #[test]
    fn large_gradients_whose_sum_overflows_are_numbers() {
        let device = Device::flex().autodiff();
        let network = network(&device);
        let loss = network.first.forward(Tensor::<2>::ones([1, 3], &device)).sum() * 3e38;
        let gradients = GradientsParams::from_grads(loss.backward(), &network);
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = Checkpoint::new(folder.path(), Stage::Phase, "run");
        let step = Step { stage: Stage::Phase, step: 1, batch: &"any", checkpoint: &checkpoint };
        step.check_gradients(&gradients, &network).unwrap();
    }

    #[test]
    fn rejects_a_loss_that_is_not_a_number() {
        let network = network(&Device::flex());
        let said = refused(|step| step.check_loss(f32::INFINITY, &network));
        assert!(
            said.contains("loss is inf") && said.contains("every weight is finite, the largest is "),
            "{said}"
        );
    }
}

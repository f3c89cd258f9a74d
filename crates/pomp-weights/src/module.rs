use crate::{WeightFile, WeightTensor, WeightsError};
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Bool, Int, Tensor, TensorData};
use std::collections::BTreeSet;

/// Copies every floating-point parameter and running statistic of a module, named `prefix.path.to.it`.
pub(crate) fn collect<M: Module>(
    prefix: &str,
    module: &M,
) -> Result<Vec<(String, WeightTensor)>, WeightsError> {
    // A snapshot for validation also folds pending updates into running statistics.
    let snapshot = module.valid();
    let mut collector = Collector { path: vec![prefix.to_owned()], tensors: Vec::new(), problem: None };
    snapshot.visit(&mut collector);
    match collector.problem {
        None => Ok(collector.tensors),
        Some(problem) => Err(problem),
    }
}

/// Replaces every floating-point parameter and running statistic of a module by the file's.
pub(crate) fn apply<M: Module>(prefix: &str, module: M, file: &WeightFile) -> Result<M, WeightsError> {
    let mut loader = Loader { path: vec![prefix.to_owned()], file, used: BTreeSet::new(), problem: None };
    let module = module.map(&mut loader);
    if let Some(problem) = loader.problem {
        return Err(problem);
    }
    let under = format!("{prefix}.");
    match file.names().find(|name| name.starts_with(&under) && !loader.used.contains(*name)) {
        None => Ok(module),
        Some(name) => Err(WeightsError::UnknownTensor {
            source_name: file.source_name().to_owned(),
            name: name.to_owned(),
        }),
    }
}

struct Collector {
    path: Vec<String>,
    tensors: Vec<(String, WeightTensor)>,
    problem: Option<WeightsError>,
}

impl Collector {
    fn refuse(&mut self) {
        let name = self.path.join(".");
        self.problem.get_or_insert(WeightsError::NotAFloat { name });
    }
}

impl ModuleVisitor for Collector {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let shape = tensor.dims().to_vec();
        match tensor.try_into_vec_as::<f32>() {
            Ok(values) => self.tensors.push((self.path.join("."), WeightTensor { shape, values })),
            Err(_) => self.refuse(),
        }
    }

    fn visit_int<const D: usize>(&mut self, _param: &Param<Tensor<D, Int>>) {
        self.refuse();
    }

    fn visit_bool<const D: usize>(&mut self, _param: &Param<Tensor<D, Bool>>) {
        self.refuse();
    }
}

struct Loader<'a> {
    path: Vec<String>,
    file: &'a WeightFile,
    used: BTreeSet<String>,
    problem: Option<WeightsError>,
}

impl ModuleMapper for Loader<'_> {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let name = self.path.join(".");
        let expected = param.lazy_shape().as_slice().to_vec();
        match self.file.tensor_of_shape(&name, &expected) {
            Ok(tensor) => {
                let data = TensorData::new(tensor.values.clone(), expected);
                let loaded = Tensor::from_data(data, &param.lazy_device());
                self.used.insert(name);
                let id = param.id;
                param.transform_for_load(loaded, id)
            }
            Err(problem) => {
                self.problem.get_or_insert(problem);
                param
            }
        }
    }

    fn map_int<const D: usize>(&mut self, param: Param<Tensor<D, Int>>) -> Param<Tensor<D, Int>> {
        self.problem.get_or_insert(WeightsError::NotAFloat { name: self.path.join(".") });
        param
    }

    fn map_bool<const D: usize>(&mut self, param: Param<Tensor<D, Bool>>) -> Param<Tensor<D, Bool>> {
        self.problem.get_or_insert(WeightsError::NotAFloat { name: self.path.join(".") });
        param
    }
}

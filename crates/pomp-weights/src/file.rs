use crate::{WeightsError, module};
use burn::module::Module;
use half::f16;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use std::collections::BTreeMap;
use std::path::Path;

/// How many bits a weight takes in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightPrecision {
    /// Half precision: relative error 5e-4, half the size. For weights that are only run.
    F16,
    /// Single precision: exact. For weights that are trained further.
    F32,
}

/// One tensor: its shape and its values, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightTensor {
    /// Sizes of the axes.
    pub shape: Vec<usize>,
    /// Row-major values, as many as the product of the shape.
    pub values: Vec<f32>,
}

/// Named tensors and metadata: the content of one safetensors file.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightFile {
    source_name: String,
    metadata: BTreeMap<String, String>,
    tensors: BTreeMap<String, WeightTensor>,
}

impl WeightFile {
    /// A file without tensors, with one entry of metadata or none: several would be written in an order that is another one
    /// in every run.
    pub fn new(metadata: Option<(&str, &str)>) -> Self {
        let metadata = metadata.map(|(key, value)| (key.to_owned(), value.to_owned())).into_iter().collect();
        Self { source_name: "the network".to_owned(), metadata, tensors: BTreeMap::new() }
    }

    /// Copies the floating-point parameters and running statistics of a module; their names are the prefix,
    /// a dot, and the path of fields within the module.
    ///
    /// # Errors
    /// [`WeightsError::NotFinite`] names the first weight that is NaN or infinite; [`WeightsError::NotAFloat`];
    /// [`WeightsError::DuplicateName`].
    pub fn add_module<M: Module>(&mut self, prefix: &str, module: &M) -> Result<(), WeightsError> {
        for (name, tensor) in module::collect(prefix, module)? {
            self.add_tensor(&name, tensor)?;
        }
        Ok(())
    }

    /// Adds one tensor, for statistics that belong to no module.
    ///
    /// # Errors
    /// As [`Self::add_module`], and [`WeightsError::WrongLength`].
    pub fn add_tensor(&mut self, name: &str, tensor: WeightTensor) -> Result<(), WeightsError> {
        if tensor.shape.iter().product::<usize>() != tensor.values.len() {
            return Err(WeightsError::WrongLength {
                name: name.to_owned(),
                shape: tensor.shape,
                found: tensor.values.len(),
            });
        }
        check_finite(&self.source_name, name, &tensor.values)?;
        match self.tensors.insert(name.to_owned(), tensor) {
            None => Ok(()),
            Some(_) => Err(WeightsError::DuplicateName { name: name.to_owned() }),
        }
    }

    /// Gives `module` the tensors under `prefix`. Training state, devices and parameter ids stay the module's.
    ///
    /// Clones of a module share the running statistics of its batch norms: load into a freshly made one.
    ///
    /// # Errors
    /// [`WeightsError::MissingTensor`], [`WeightsError::WrongShape`], [`WeightsError::UnknownTensor`] when the
    /// file has more under this prefix than the module takes.
    pub fn load_into<M: Module>(&self, prefix: &str, module: M) -> Result<M, WeightsError> {
        module::apply(prefix, module, self)
    }

    /// A tensor by name.
    ///
    /// # Errors
    /// [`WeightsError::MissingTensor`].
    pub fn tensor(&self, name: &str) -> Result<&WeightTensor, WeightsError> {
        self.tensors.get(name).ok_or_else(|| WeightsError::MissingTensor {
            source_name: self.source_name.clone(),
            name: name.to_owned(),
        })
    }

    /// A tensor by name, which must have this shape.
    ///
    /// # Errors
    /// [`WeightsError::MissingTensor`], [`WeightsError::WrongShape`].
    pub fn tensor_of_shape(&self, name: &str, shape: &[usize]) -> Result<&WeightTensor, WeightsError> {
        let tensor = self.tensor(name)?;
        if tensor.shape == shape {
            return Ok(tensor);
        }
        Err(WeightsError::WrongShape {
            source_name: self.source_name.clone(),
            name: name.to_owned(),
            expected: shape.to_vec(),
            found: tensor.shape.clone(),
        })
    }

    /// A metadata value.
    ///
    /// # Errors
    /// [`WeightsError::MissingMetadata`].
    pub fn metadata(&self, key: &str) -> Result<&str, WeightsError> {
        self.metadata.get(key).map(String::as_str).ok_or_else(|| WeightsError::MissingMetadata {
            source_name: self.source_name.clone(),
            key: key.to_owned(),
        })
    }

    /// Names of all tensors, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// How many numbers the tensors under `prefix` hold.
    pub fn numbers_under(&self, prefix: &str) -> usize {
        let under = format!("{prefix}.");
        self.tensors.iter().filter(|(name, _)| name.starts_with(&under)).map(|(_, t)| t.values.len()).sum()
    }

    /// Where the weights came from, for messages.
    pub fn source_name(&self) -> &str {
        &self.source_name
    }

    /// The bytes of the safetensors file: metadata and tensors in the order of their names, so that equal
    /// weights give equal bytes.
    ///
    /// # Errors
    /// [`WeightsError::TooLargeForHalf`].
    pub fn to_bytes(&self, precision: WeightPrecision) -> Result<Vec<u8>, WeightsError> {
        let elements: Vec<(&str, &[usize], Vec<u8>)> = self
            .tensors
            .iter()
            .map(|(name, tensor)| {
                Ok((name.as_str(), tensor.shape.as_slice(), tensor.elements(name, precision)?))
            })
            .collect::<Result<_, WeightsError>>()?;
        let dtype = match precision {
            WeightPrecision::F16 => Dtype::F16,
            WeightPrecision::F32 => Dtype::F32,
        };
        let views = elements.iter().map(|(name, shape, bytes)| {
            let view = TensorView::new(dtype, shape.to_vec(), bytes).expect("the values fill the shape");
            (*name, view)
        });
        let metadata = (!self.metadata.is_empty()).then(|| self.metadata.clone().into_iter().collect());
        Ok(safetensors::serialize(views, metadata).expect("a network's header is below the library's 100 MB"))
    }

    /// Writes the file: beside its place first, synced, then renamed, so that no partial file bears the name.
    ///
    /// # Errors
    /// [`WeightsError::Io`], and as [`Self::to_bytes`].
    pub fn save(&self, path: &Path, precision: WeightPrecision) -> Result<(), WeightsError> {
        let bytes = self.to_bytes(precision)?;
        let failed = |error| WeightsError::Io { action: "write", path: path.to_owned(), error };
        pomp_files::replace_file(path, |file| file.write_all(&bytes)).map_err(failed)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`WeightsError::Io`], and as [`Self::from_bytes`].
    pub fn open(path: &Path) -> Result<Self, WeightsError> {
        let bytes = std::fs::read(path).map_err(|error| WeightsError::Io {
            action: "read",
            path: path.to_owned(),
            error,
        })?;
        Self::from_bytes(&bytes, &path.display().to_string())
    }

    /// Reads the bytes of a file; `source_name` is where they came from, for messages.
    ///
    /// # Errors
    /// [`WeightsError::Broken`] for bytes that are no whole safetensors file, [`WeightsError::UnsupportedType`],
    /// [`WeightsError::NotFinite`].
    pub fn from_bytes(bytes: &[u8], source_name: &str) -> Result<Self, WeightsError> {
        let broken = |error: safetensors::SafeTensorError| WeightsError::Broken {
            source_name: source_name.to_owned(),
            reason: error.to_string(),
        };
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let views = SafeTensors::deserialize(bytes).map_err(broken)?;
        let mut file = Self {
            source_name: source_name.to_owned(),
            metadata: header.metadata().clone().unwrap_or_default().into_iter().collect(),
            tensors: BTreeMap::new(),
        };
        for (name, view) in views.iter() {
            let values: Vec<f32> = match view.dtype() {
                Dtype::F32 => {
                    let (words, _) = view.data().as_chunks::<4>();
                    words.iter().map(|&word| f32::from_le_bytes(word)).collect()
                }
                Dtype::F16 => {
                    let (words, _) = view.data().as_chunks::<2>();
                    words.iter().map(|&word| f16::from_le_bytes(word).to_f32()).collect()
                }
                other => {
                    return Err(WeightsError::UnsupportedType {
                        source_name: source_name.to_owned(),
                        name: name.to_owned(),
                        found: format!("{other:?}"),
                    });
                }
            };
            check_finite(source_name, name, &values)?;
            file.tensors.insert(name.to_owned(), WeightTensor { shape: view.shape().to_vec(), values });
        }
        Ok(file)
    }
}

impl WeightTensor {
    /// The bytes of the values.
    fn elements(&self, name: &str, precision: WeightPrecision) -> Result<Vec<u8>, WeightsError> {
        match precision {
            WeightPrecision::F32 => Ok(self.values.iter().flat_map(|value| value.to_le_bytes()).collect()),
            WeightPrecision::F16 => {
                let mut bytes = Vec::with_capacity(2 * self.values.len());
                for (index, &value) in self.values.iter().enumerate() {
                    let small = f16::from_f32(value);
                    if !small.is_finite() {
                        return Err(WeightsError::TooLargeForHalf { name: name.to_owned(), index, value });
                    }
                    bytes.extend(small.to_le_bytes());
                }
                Ok(bytes)
            }
        }
    }
}

fn check_finite(source_name: &str, name: &str, values: &[f32]) -> Result<(), WeightsError> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(index) => {
            Err(WeightsError::NotFinite { source_name: source_name.to_owned(), name: name.to_owned(), index })
        }
    }
}

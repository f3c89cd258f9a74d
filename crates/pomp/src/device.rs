//! Where networks are trained: the processor, or an NVIDIA card.

use anyhow::Result;
use burn::tensor::Device;
use std::str::FromStr;

/// A device as it is named on the command line: `cpu`, `cuda` (the first card) or `cuda:N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceName {
    /// The processor.
    Cpu,
    /// The NVIDIA card of this index.
    Cuda(usize),
}

impl FromStr for DeviceName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name.split_once(':') {
            None if name == "cpu" => Ok(Self::Cpu),
            None if name == "cuda" => Ok(Self::Cuda(0)),
            Some(("cuda", index)) => index
                .parse()
                .map(Self::Cuda)
                .map_err(|_| format!("\"{index}\" is not the number of a card; the first is cuda:0")),
            _ => Err("give cpu, cuda or cuda:N with the number of a card".to_owned()),
        }
    }
}

/// Opens a device.
///
/// # Errors
/// This program has no support for the device, or the machine does not have it.
pub fn open(name: DeviceName) -> Result<Device> {
    match name {
        DeviceName::Cpu => Ok(Device::flex()),
        DeviceName::Cuda(index) => cuda(index),
    }
}

#[cfg(not(feature = "cuda"))]
fn cuda(_index: usize) -> Result<Device> {
    anyhow::bail!(
        "this pomp was built without the cuda feature; build with `cargo build --release --features cuda`, or train \
         with --device cpu"
    )
}

#[cfg(feature = "cuda")]
fn cuda(index: usize) -> Result<Device> {
    use anyhow::{anyhow, bail, ensure};
    use burn::tensor::{DeviceType, Tensor};

    // Without a driver there are no cards; one that is broken panics when it is loaded.
    let cards = without_panic_message(|| Device::enumerate(DeviceType::Cuda).len()).map_err(|said| {
        anyhow!("the NVIDIA driver cannot be used: {said}; install it anew, or train with --device cpu")
    })?;
    ensure!(
        cards > 0,
        "there is no NVIDIA card to train on: the driver (libcuda.so.1, on Windows nvcuda.dll) is not installed or \
         sees no card; see whether `nvidia-smi` lists one, or train with --device cpu"
    );
    ensure!(
        index < cards,
        "--device cuda:{index}: there is no such card; the driver sees {cards}, counted from cuda:0"
    );
    let headers = cubecl::cuda::install::cuda_path().map(|toolkit| toolkit.join("include"));
    if !headers.as_ref().is_some_and(|folder| folder.is_dir()) {
        bail!(
            "the CUDA toolkit is not there, with whose headers kernels are compiled as they are needed: install it, set \
             CUDA_PATH to its folder, or train with --device cpu"
        );
    }
    // Everything else that can be wrong (no NVRTC, a card too old) shows when a kernel is compiled and run.
    let device = Device::cuda(index);
    let trial = without_panic_message(|| {
        let ones = Tensor::<1>::ones([64], &device);
        (ones.clone() + ones).sum().into_scalar::<f32>()
    });
    match trial {
        Ok(128.0) => Ok(device),
        Ok(other) => {
            Err(anyhow!("card cuda:{index} does not compute: 64 times 1 + 1 gives {other}, not 128"))
        }
        Err(said) => Err(anyhow!(
            "card cuda:{index} cannot be used: {said}; check the driver, NVRTC and CUDA_PATH, or train with --device cpu"
        )),
    }
}

/// What `work` gives, or the first line of what its panic says; nothing is printed.
#[cfg(feature = "cuda")]
fn without_panic_message<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    std::panic::set_hook(report);
    result.map_err(|payload| {
        let said = payload.downcast_ref::<String>().map(String::as_str);
        let said =
            said.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("the driver gave no reason");
        said.lines().next().unwrap_or_default().to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_as_the_help_says() {
        assert_eq!("cpu".parse(), Ok(DeviceName::Cpu));
        assert_eq!("cuda".parse(), Ok(DeviceName::Cuda(0)));
        assert_eq!("cuda:2".parse(), Ok(DeviceName::Cuda(2)));
    }

    #[test]
    fn rejects_devices_that_are_none() {
        for name in ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "cpu:0", "CUDA"] {
            assert!(name.parse::<DeviceName>().is_err(), "{name}");
        }
    }

    #[cfg(feature = "cuda")]
    #[test]
    fn a_panic_becomes_its_first_line() {
        assert_eq!(
            without_panic_message(|| -> u8 { panic!("no {}\nmore", "NVRTC") }),
            Err("no NVRTC".to_owned())
        );
        assert_eq!(without_panic_message(|| 3), Ok(3));
    }
}

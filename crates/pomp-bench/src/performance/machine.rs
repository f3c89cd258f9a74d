use serde::{Deserialize, Serialize};

/// The machine that the measurement ran on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// What the processor calls itself; its architecture where the system does not say.
    pub processor: String,
    /// The system.
    pub system: String,
    /// Instruction sets that matter to the networks and that the processor has.
    pub instruction_sets: Vec<String>,
    /// Width of the registers that the networks use, bits.
    pub register_bits: usize,
    /// Cores that the program may use.
    pub cores: usize,
    /// Caches of the first core; empty where the system does not say.
    pub caches: Vec<Cache>,
    /// Memory, bytes.
    pub memory_bytes: Option<u64>,
}

/// A cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// 1 is the one next to the core.
    pub level: u32,
    /// Its size as the system writes it, such as `48K`.
    pub size: String,
}

impl Machine {
    /// This one.
    pub fn this() -> Self {
        let processor = line_of("/proc/cpuinfo", "model name").or_else(|| line_of("/proc/cpuinfo", "Model"));
        Self {
            processor: processor.unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            instruction_sets: instruction_sets(),
            register_bits: super::limits::register_bits(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            caches: caches(),
            memory_bytes: line_of("/proc/meminfo", "MemTotal").and_then(|told| {
                let kibibytes: u64 = told.strip_suffix("kB")?.trim().parse().ok()?;
                Some(1024 * kibibytes)
            }),
        }
    }
}

/// What a file of `NAME: VALUE` lines says of a name.
fn line_of(path: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let values = text.lines().filter_map(|line| line.split_once(':'));
    values.into_iter().find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
}

fn instruction_sets() -> Vec<String> {
    #[cfg(target_arch = "x86_64")]
    let found = [
        ("AVX", std::arch::is_x86_feature_detected!("avx")),
        ("AVX2", std::arch::is_x86_feature_detected!("avx2")),
        ("FMA", std::arch::is_x86_feature_detected!("fma")),
        ("F16C", std::arch::is_x86_feature_detected!("f16c")),
        ("AVX-512F", std::arch::is_x86_feature_detected!("avx512f")),
        ("AVX-512BW", std::arch::is_x86_feature_detected!("avx512bw")),
        ("AVX-512VL", std::arch::is_x86_feature_detected!("avx512vl")),
        ("AVX512_BF16", std::arch::is_x86_feature_detected!("avx512bf16")),
        ("AVX-512FP16", std::arch::is_x86_feature_detected!("avx512fp16")),
        ("AMX-BF16", matches!(pomp_lanes::Lanes::detect(), pomp_lanes::Lanes::Tiles(..))),
    ];
    #[cfg(target_arch = "aarch64")]
    let found = [("NEON", std::arch::is_aarch64_feature_detected!("neon"))];
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let found: [(&str, bool); 0] = [];
    found.into_iter().filter(|(_, there)| *there).map(|(name, _)| name.to_owned()).collect()
}

/// The caches for data of the first core, as Linux tells them.
fn caches() -> Vec<Cache> {
    let of = |index: usize, what: &str| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{what}");
        std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
    };
    let mut found = Vec::new();
    for index in 0.. {
        let Some(kind) = of(index, "type") else { break };
        let level = of(index, "level").and_then(|level| level.parse().ok());
        if let (true, Some(level), Some(size)) = (kind != "Instruction", level, of(index, "size")) {
            found.push(Cache { level, size });
        }
    }
    found
}

/// Processes that ran or waited to run over the last minute, on average; `None` where the system does not say.
pub(super) fn load_average() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// Memory of this process that is resident, bytes; `None` where the system does not say.
pub(super) fn resident_bytes() -> Option<u64> {
    let kibibytes: u64 = line_of("/proc/self/status", "VmRSS")?.strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024 * kibibytes)
}

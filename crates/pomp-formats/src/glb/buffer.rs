use serde_json::{Value, json};

/// Component type codes of glTF 2.0, section 3.6.2.2.
const UNSIGNED_SHORT: u32 = 5123;
const FLOAT: u32 = 5126;

/// The binary chunk, or what is appended to one, and the accessors into it.
#[derive(Default)]
pub(super) struct Buffer {
    /// Bytes, views and accessors that lie before those of this buffer.
    pub before: Before,
    pub bytes: Vec<u8>,
    pub views: Vec<Value>,
    pub accessors: Vec<Value>,
}

/// Numbers of bytes, views and accessors.
#[derive(Clone, Copy, Default)]
pub(super) struct Before {
    pub bytes: usize,
    pub views: usize,
    pub accessors: usize,
}

impl Buffer {
    /// Appends float vectors and returns their accessor. `bounded` adds the least and greatest components,
    /// which glTF demands of positions and key times.
    pub fn floats<const N: usize>(&mut self, kind: &str, values: &[[f32; N]], bounded: bool) -> usize {
        let bytes: Vec<u8> = values.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
        let mut accessor = json!({"componentType": FLOAT, "count": values.len(), "type": kind, "bufferView": self.view(&bytes)});
        if bounded {
            let bound = |pick: fn(f32, f32) -> f32| -> Vec<f32> {
                (0..N).map(|i| values.iter().map(|v| v[i]).reduce(pick).unwrap_or(0.0)).collect()
            };
            accessor["min"] = json!(bound(f32::min));
            accessor["max"] = json!(bound(f32::max));
        }
        self.accessors.push(accessor);
        self.before.accessors + self.accessors.len() - 1
    }

    /// Appends vectors of four joint indices and returns their accessor.
    pub fn joint_indices(&mut self, values: &[[u16; 4]]) -> usize {
        let bytes: Vec<u8> = values.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
        let view = self.view(&bytes);
        self.accessors.push(
            json!({"componentType": UNSIGNED_SHORT, "count": values.len(), "type": "VEC4", "bufferView": view}),
        );
        self.before.accessors + self.accessors.len() - 1
    }

    fn view(&mut self, bytes: &[u8]) -> usize {
        let first = self.before.bytes + self.bytes.len();
        self.views.push(json!({"buffer": 0, "byteOffset": first, "byteLength": bytes.len()}));
        self.bytes.extend_from_slice(bytes);
        self.before.views + self.views.len() - 1
    }
}

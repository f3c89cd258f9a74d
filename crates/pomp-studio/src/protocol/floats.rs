use glam::{Quat, Vec3};
use serde::{Serialize, Serializer};
use serde_bytes::Bytes;
use ts_rs::TS;

/// MessagePack's extension type of [`Floats`].
pub const FLOATS_EXTENSION: i8 = 1;

/// Many numbers in one piece: a MessagePack extension of type [`FLOATS_EXTENSION`] whose data are f32, little-endian. The page
/// reads it as one `Float32Array`.
#[derive(Clone, Debug, Default, PartialEq, Eq, TS)]
#[ts(type = "Float32Array")]
pub struct Floats(Vec<u8>);

impl Floats {
    /// Numbers as they are.
    pub fn of(values: &[f32]) -> Self {
        values.iter().copied().collect()
    }

    /// Three numbers each.
    pub fn of_vectors(values: &[Vec3]) -> Self {
        values.iter().flat_map(Vec3::to_array).collect()
    }

    /// Four numbers each, x y z w.
    pub fn of_rotations(values: &[Quat]) -> Self {
        values.iter().flat_map(Quat::to_array).collect()
    }

    /// The numbers.
    pub fn values(&self) -> impl Iterator<Item = f32> {
        let (numbers, _) = self.0.as_chunks::<4>();
        numbers.iter().map(|bytes| f32::from_le_bytes(*bytes))
    }
}

impl FromIterator<f32> for Floats {
    fn from_iter<I: IntoIterator<Item = f32>>(values: I) -> Self {
        let values = values.into_iter();
        let mut bytes = Vec::with_capacity(4 * values.size_hint().0);
        values.for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
        Self(bytes)
    }
}

impl Serialize for Floats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let extension = (FLOATS_EXTENSION, Bytes::new(&self.0));
        serializer.serialize_newtype_struct(rmp_serde::MSGPACK_EXT_STRUCT_NAME, &extension)
    }
}

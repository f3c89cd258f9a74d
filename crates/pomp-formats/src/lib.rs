//! Readers and writers of motion files: BVH, GLB, npz.

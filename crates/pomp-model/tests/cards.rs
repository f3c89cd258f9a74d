//! Models in the repository: whole, of a size that a repository can bear, and those that their cards tell of.

use pomp_files::Digest;
use pomp_model::{Model, ModelStyles};
use std::fs;
use std::path::Path;

/// Largest file, bytes.
const LARGEST: usize = 25_000_000;

#[test]
fn the_card_of_every_model_names_its_files_with_their_hashes() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/models");
    let mut names: Vec<String> = fs::read_dir(&models)
        .unwrap()
        .map(|folder| folder.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["compact", "compact_unrolled", "paper_size"]);
    for name in names {
        let folder = models.join(&name);
        let card = fs::read_to_string(folder.join("README.md")).unwrap();
        let optional = folder.join(ModelStyles::FILE).is_file().then_some(ModelStyles::FILE);
        let files = ["model.json", "phase.safetensors", "aligned_phase.safetensors", "kinematic.safetensors"];
        for file in files.into_iter().chain(optional) {
            let bytes = fs::read(folder.join(file)).unwrap();
            assert!(bytes.len() <= LARGEST, "{name}/{file}: {} bytes", bytes.len());
            let hash = Digest::of(&bytes).to_string();
            assert!(
                card.contains(&format!("| `{file}` | `{hash}` |")),
                "the card of {name} has another hash for {file}: {hash}"
            );
        }
        let model = Model::load(&folder, &Default::default()).unwrap();
        assert!(model.kinematic.is_some(), "{name}");
        assert!(optional.is_none() || model.styles().is_ok(), "the styles of {name} are of another model");
    }
}

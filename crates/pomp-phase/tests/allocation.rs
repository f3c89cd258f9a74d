//! A frame of the phase encoding module asks for no memory once there were as many characters.

use burn::tensor::Device;
use pomp_motion::glam::Vec3;
use pomp_phase::{
    FrameDecoder, FrameEncoder, PeriodicAutoencoder, PeriodicAutoencoderConfig, PhaseState, TargetSpan,
};

#[test]
fn a_frame_of_as_many_characters_as_before_allocates_nothing() {
    let config = PeriodicAutoencoderConfig::new(22);
    let model = PeriodicAutoencoder::new(&config, 1, &Device::flex()).expect("the sizes are valid");
    let span = TargetSpan { key_spacing: 10, first_frame: 21, last_frame: 60 };
    let mut encoder = FrameEncoder::new(&model.encoder, &config).expect("the sizes are valid");
    let mut decoder = FrameDecoder::new(&model.decoder, &config, span).expect("the sizes are valid");
    let rows: Vec<Vec<Vec3>> = (0..140).map(|t| vec![Vec3::splat((t as f32 * 0.1).sin()); 22]).collect();
    let mut read = PhaseState::default();
    encoder.encode(|frame| &rows[frame], &mut read).expect("sines are finite");
    let keys = vec![read.clone(); 7];
    // The control: the counter sees this thread's allocations.
    let seen = allocation_counter::measure(|| drop(std::hint::black_box(vec![0.0f32; 480])));
    assert_eq!(seen.count_total, 1);
    let mut most = 0;
    for characters in [1, 6, 3, 6] {
        for frame in 0..4 {
            let counted = allocation_counter::measure(|| {
                decoder.begin();
                encoder.begin();
                for character in 0..characters {
                    decoder.add(&keys, &rows[character]).expect("the sizes agree");
                    encoder.add(|at| &rows[at + character]).expect("sines are finite");
                }
                decoder.run();
                encoder.run();
                for character in 0..characters {
                    assert_eq!(decoder.targets(character).frames(), 40);
                    encoder.read(character, &mut read).expect("the weights are finite");
                }
            });
            let grows = characters > most;
            most = most.max(characters);
            assert_eq!(counted.count_total > 0, grows, "frame {frame} of {characters} allocated {counted:?}");
        }
    }
}

//! A gait that is lost is taken up again: see [`crate::stride_memory`].

use super::{FRAME_S, Generator};
use crate::stride_memory::{Moment, Passage};
use pomp_motion::features::CharacterState;

impl Generator {
    /// Remembers the stride of the simulated `body`, and goes on from it where the gait is lost.
    pub(super) fn regain_stride(&mut self, body: &CharacterState) {
        if self.recovery.is_down() || !self.config.regain_stride {
            self.stride_memory.forget();
            return;
        }
        if self.stride_memory.is_due(&self.cycle_keeper)
            && let Some(prediction) = &self.prediction
        {
            self.stride_memory.remember(Moment {
                state: self.character.state().clone(),
                target_frame: *self.character.target_frame(),
                history: self.history.clone(),
                future_codes: self.future_codes.clone(),
                prediction: prediction.clone(),
                phase_past: self.phase_reader.save(),
                cycle_keeper: self.cycle_keeper,
            });
        }
        if !self.stride_memory.is_lost(&self.cycle_keeper, body) {
            return;
        }
        let left = Passage::from(self.character.target_pose(), self.character.target_frame());
        let Some(moment) = self.stride_memory.take_up(body, left) else { return };
        self.character.go_on_from(moment.state, moment.target_frame);
        self.history = moment.history;
        self.future_codes = moment.future_codes;
        self.prediction = Some(moment.prediction);
        self.phase_reader.restore(moment.phase_past);
        self.cycle_keeper = moment.cycle_keeper;
    }

    /// After the target is set: what was left when a stride was taken up gives way to it.
    pub(super) fn pass_over(&mut self) {
        if let Some((left, share)) = self.stride_memory.passage(self.character.target_frame(), FRAME_S) {
            self.character.pass_over(&left, share);
        }
    }

    /// The stride that is remembered, where on its cycle it is, and the body as it was last shown.
    #[cfg(test)]
    pub(crate) fn stride(
        &mut self,
    ) -> (&mut crate::stride_memory::StrideMemory, crate::gait_cycle::CycleKeeper, CharacterState) {
        (&mut self.stride_memory, self.cycle_keeper, self.character.state().clone())
    }
}

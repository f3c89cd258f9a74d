//! The closed loop: kinematic, dynamic and phase encoding module, frame by frame.

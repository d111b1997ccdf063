"""From a question to ranked sections: encoders, indexes, diffusion, fusion."""

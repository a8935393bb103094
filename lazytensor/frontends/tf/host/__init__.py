"""TensorFlow as the host library of the interpreter."""

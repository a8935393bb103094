"""The tensor type: storages, strides, views, and tensors of other devices."""

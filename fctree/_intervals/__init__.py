"""Prediction intervals from the errors that a model would have made without a sample."""

"""Shared by the estimators that are trained round by round."""

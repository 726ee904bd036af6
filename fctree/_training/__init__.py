"""What the estimators that are trained round by round share."""

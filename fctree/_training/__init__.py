"""Targets, losses, weights and rounds: what the families share."""

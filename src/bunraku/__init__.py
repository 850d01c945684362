"""Pose, skin, query, check, convert and show rigged characters."""

"""Fingerprints to candidates. Knows no text."""

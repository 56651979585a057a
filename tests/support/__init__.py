"""What several test files need: running commands and servers, and small corpora."""

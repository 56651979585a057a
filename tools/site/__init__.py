"""The documentation site: pages made from the code, and a check of the built pages."""

"""The Dagster side: assets that read, call one function each, and attach what the UI shows."""

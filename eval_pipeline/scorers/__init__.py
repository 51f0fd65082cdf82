"""The scorers that ship; a suite names them by import path."""

"""The systems under test that ship with the project, one module each.

A module offers `build(context) -> System`, and may offer `TOOLS`, `Parameters` and `Input`. It is imported
when the definitions load, so it imports LangChain inside its functions only.
"""

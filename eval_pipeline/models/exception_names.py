"""The exceptions of the providers' clients by name, so that no client need be imported to know them."""

from __future__ import annotations

STOPPED_BY = {
    "LengthFinishReasonError": "truncated",
    "ContentFilterFinishReasonError": "blocked",
    "OutputParserException": "malformed_call",
    "ModelRefusalError": "refused",
}
"""Exceptions that a client makes of what the model did."""
BROKEN_OFF = ("ClientPayloadError", "HttpProcessingError", "ServerDisconnectedError", "ClientOSError")
"""Exceptions of aiohttp for a connection or a body that is cut off.

Some claim the status 400, which nobody sent; others reach us as a timeout, which it was not.
"""
UNREADABLE = (
    "UnreadableReply",
    "JSONDecodeError",
    "ValidationError",
    "UnicodeDecodeError",
    "DecodingError",
    "ContentTypeError",
)
"""Exceptions of a client that could not read the body."""
UNREADABLE_TEXTS = (
    "Unexpected response type from OpenAI-compatible endpoint",
    "Response missing 'choices' key",
    "Received response with null value for 'choices'",
    "No data received from Ollama stream",
    "the JSON object must be str, bytes or bytearray",  # of Ollama, for an error that is no text
)
"""The same, where the exception has no type of its own."""
CONNECTION = (
    "ConnectionError",
    "OSError",
    "TransportError",  # of httpx and httpx2
    "APIConnectionError",  # of openai
    "ClientConnectionError",  # of aiohttp
)
BAD_ADDRESS = (
    "UnsupportedProtocol",
    "InvalidURL",
    "InvalidUrlClientError",
    "NonHttpUrlClientError",
    "LocalProtocolError",
)

"""Replies from the address of Gemini's API that are none of Gemini's."""

from __future__ import annotations

from typing import Any

from eval_pipeline.models.faults import UnreadableReply

_SAID = ("candidates", "prompt_feedback", "usage_metadata", "model_version", "response_id")
"""What a reply of Gemini says at least one of, an empty one too."""


def refuse_other_replies(client: Any) -> None:
    """Have a LangChain client of Gemini refuse JSON that is no reply: a proxy's error with status 200.

    It would take it for a reply without candidates: for an empty answer, which is the model's doing, and
    which is recorded. What the client makes of a reply no longer tells the two apart.
    """
    models = client.async_client.models
    ask = models.generate_content

    async def ask_checked(**request: Any) -> Any:
        response = await ask(**request)
        if all(getattr(response, name, None) is None for name in _SAID):
            raise UnreadableReply(f"a reply without any of {', '.join(_SAID)}")
        return response

    models.generate_content = ask_checked

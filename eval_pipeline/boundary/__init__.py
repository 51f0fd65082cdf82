"""Systems that are no code of ours to look into: an async function, or an HTTP endpoint.

Their whole answer to a case is one recorded call, where other systems record each call of a model:

    system: my_agent:answer            a function, awaited with the case's input
    system: {http: {url: …, answer: …}}

What an answer depends on is in the recording's key as far as the suite knows it: input, prompt, parameters,
model and embedder; for a function also the documents and fixtures that it is given, and the source of its
project; for an endpoint also method, path, headers and the template of the request. The rest of the world is
not: what is installed, what a deployed service does, which host it runs on. Name such a version among the
candidate's `parameters`, and a change of it asks again.
"""

from eval_pipeline.boundary.call_context import CallContext

__all__ = ["CallContext"]

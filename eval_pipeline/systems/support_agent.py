"""A shop's support agent: the closest policy in its system prompt, and three tools over a table of orders."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from eval_pipeline.cases import Case
from eval_pipeline.documents import Document
from eval_pipeline.errors import DocumentError
from eval_pipeline.system_spec import SystemContext
from eval_pipeline.traces import NO_CALL, AgentTrace, RetrievedDocument, System, ToolCall

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool
    from langchain_core.vectorstores import VectorStore

TOOLS = ("getOrderStatus", "getDeliveryDate", "getRefundStatus")
MAX_TOOL_ROUNDS = 5


class Parameters(BaseModel):
    """What a candidate may set."""

    model_config = ConfigDict(extra="forbid")

    k: int = Field(default=1, ge=1)
    """Policies that are put into the system prompt, the closest to the question first."""


class Order(BaseModel):
    """One entry of `fixtures/orders.yaml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    status: Literal["preparing", "shipped", "delivered"]
    delivered_days_ago: int | None = Field(default=None, ge=0)
    """Counted back from the day of the question, so that answers don't age."""
    refund: str | None = None
    """State of its refund in words."""

    @model_validator(mode="after")
    def _delivered_when(self) -> Order:
        if (self.status == "delivered") != (self.delivered_days_ago is not None):
            raise ValueError("give delivered_days_ago for delivered orders, and for no others")
        return self


def build(context: SystemContext) -> System:
    """Index the policies and build the agent, once per cell.

    Raises:
        DocumentError: when there is no policy, or the fixtures hold no usable orders.
        RecordingMisses: on replay, when a policy's vector is not recorded.
    """
    from langchain.agents import create_agent
    from langchain_core.vectorstores import InMemoryVectorStore

    from eval_pipeline.langchain_agent import ToolFailuresToModel

    if not context.documents:
        raise DocumentError("the support agent answers from policies, but the dataset has no documents")
    policies = {page.id: page for page in context.documents}
    store = InMemoryVectorStore(context.models.embeddings(context.documents))
    store.add_texts([page.text for page in policies.values()], ids=list(policies))
    tools = order_tools(read_orders(context.fixtures))
    agent = create_agent(context.models.chat(), tools, middleware=[ToolFailuresToModel()])
    return SupportAgent(agent, store, policies, context.prompt, context.parameters.k)


@dataclass(frozen=True)
class SupportAgent:
    """The built agent; it keeps nothing between requests."""

    agent: Any
    store: VectorStore
    policies: Mapping[str, Document]
    prompt: str
    k: int

    async def run(self, case: Case) -> AgentTrace:
        """Answer one question; the trace's context is what the model was given, the policies first."""
        from eval_pipeline.langchain_agent import run_agent

        found = await self.store.asimilarity_search_with_score(case.question, k=self.k)
        retrieved = tuple(
            RetrievedDocument(str(page.id), rank, float(score), page.page_content, NO_CALL)
            for rank, (page, score) in enumerate(found, 1)
        )
        policies = tuple(self._labelled(page) for page in retrieved)
        trace = await run_agent(
            self.agent,
            case,
            max_tool_rounds=MAX_TOOL_ROUNDS,
            system_prompt="\n\n".join((self.prompt, *policies)),
        )
        return dataclasses.replace(
            trace,
            tool_calls=tuple(map(_cleaned, trace.tool_calls)),
            retrieved=retrieved,
            context=(*policies, *trace.context),
        )

    def _labelled(self, page: RetrievedDocument) -> str:
        return f"[{self.policies[page.id].file}]\n{page.text.strip()}"


def clean_order_id(order_id: str) -> str:
    """An order id as the table has it, however a customer wrote it."""
    return order_id.strip().upper()


def _cleaned(call: ToolCall) -> ToolCall:
    order_id = call.arguments.get("order_id")
    if not isinstance(order_id, str):
        return call
    return dataclasses.replace(call, arguments={**call.arguments, "order_id": clean_order_id(order_id)})


def read_orders(fixtures: Mapping[str, Any]) -> Mapping[str, Order]:
    """The table of orders by id.

    Raises:
        DocumentError: when there is none, or an order in it is malformed; one problem a line.
    """
    table = fixtures.get("orders")
    if not isinstance(table, Mapping):
        raise DocumentError("fixtures: no orders.yaml with a mapping from order id to order")
    orders: dict[str, Order] = {}
    problems: list[str] = []
    for order_id, fields in table.items():
        try:
            orders[order_id] = Order.model_validate(fields)
        except ValidationError as failure:
            problems += [f"fixtures: orders.yaml: {order_id}: {text}" for text in _told(failure)]
        if order_id != clean_order_id(order_id):
            problems.append(f"fixtures: orders.yaml: write {order_id!r} as {clean_order_id(order_id)!r}")
    if problems:
        raise DocumentError(problems)
    return orders


def _told(failure: ValidationError) -> Iterable[str]:
    return (f"{'.'.join(map(str, found['loc'])) or 'order'}: {found['msg']}" for found in failure.errors())


def order_tools(orders: Mapping[str, Order]) -> list[BaseTool]:
    """The three tools; an id that the table does not have is told so by each."""
    from langchain_core.tools import tool

    def look_up(order_id: str) -> tuple[str, Order | None, str]:
        found = clean_order_id(order_id)
        return found, orders.get(found), f"There is no order {found}."

    @tool("getOrderStatus")
    async def get_order_status(order_id: str) -> str:
        """Whether an order is being prepared, shipped or delivered."""
        found, order, unknown = look_up(order_id)
        if order is None:
            return unknown
        states = {"preparing": "being prepared", "shipped": "shipped, not delivered yet"}
        return f"Order {found} is {states.get(order.status, order.status)}."

    @tool("getDeliveryDate")
    async def get_delivery_date(order_id: str) -> str:
        """How many days ago an order was delivered."""
        found, order, unknown = look_up(order_id)
        if order is None:
            return unknown
        if order.delivered_days_ago is None:
            return f"Order {found} has not been delivered yet."
        return f"Order {found} was delivered {_days_ago(order.delivered_days_ago)}."

    @tool("getRefundStatus")
    async def get_refund_status(order_id: str) -> str:
        """The state of an order's refund."""
        found, order, unknown = look_up(order_id)
        if order is None:
            return unknown
        if order.refund is None:
            return f"There is no refund for order {found}."
        return f"Refund for order {found}: {order.refund}."

    return [get_order_status, get_delivery_date, get_refund_status]


def _days_ago(days: int) -> str:
    return "today" if days == 0 else f"{days} day{'s' if days > 1 else ''} ago"

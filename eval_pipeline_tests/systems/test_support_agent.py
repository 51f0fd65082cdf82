"""The shop's support agent: its prompt, its tools, its trace, and fifty customers at once."""

from __future__ import annotations

import asyncio
import random
import re
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from eval_pipeline.agent_runs import run_case
from eval_pipeline.cases import Case
from eval_pipeline.documents import Document
from eval_pipeline.errors import DocumentError
from eval_pipeline.model_settings import EmbedderSettings, ModelSettings
from eval_pipeline.models import Models
from eval_pipeline.recordings import Recordings
from eval_pipeline.system_spec import SystemContext
from eval_pipeline.systems.support_agent import Order, Parameters, build, order_tools, read_orders
from eval_pipeline_tests.scripted import ScriptedChatModel, ScriptedConnector, call

PAGES = tuple(
    Document(name, text, f"{name}.md")
    for name, text in {
        "return_policy": "Return an item within days of delivery.\n",
        "shipping_policy": "Shipping takes business days.\n",
    }.items()
)
ORDERS = {
    "ORD-101": {"status": "shipped"},
    "ORD-102": {"status": "delivered", "delivered_days_ago": 20},
    "ORD-105": {"status": "delivered", "delivered_days_ago": 1, "refund": "approved, not paid yet"},
    "ORD-107": {"status": "preparing"},
}


def look_up(messages):
    """Looks the order of the question up as it is written there, then repeats what the tool said."""
    if results := [m.text for m in messages if isinstance(m, ToolMessage)]:
        return AIMessage(results[-1])
    question = next(m.text for m in messages if isinstance(m, HumanMessage))
    return call("getDeliveryDate", {"order_id": re.search(r"'(.*)'", question)[1]})


def agent(folder: Path, connector: ScriptedConnector, orders=ORDERS, pages=PAGES, prompt="Be kind.", k=1):
    models = Models(
        ModelSettings(name="openai:scripted"),
        EmbedderSettings(name="openai:embedder"),
        Recordings(folder, "new_episodes"),
        connector,
    )
    return build(SystemContext(prompt, Parameters(k=k), pages, {"orders": orders}, models))


def ask(folder: Path, question: str, reply=look_up, **options):
    connector = ScriptedConnector(reply)
    system = agent(folder, connector, **options)
    return asyncio.run(run_case(system, Case("c", question))).trace, connector


def test_the_closest_policy_stands_in_the_system_prompt_under_its_files_name(tmp_path):
    _, connector = ask(tmp_path, "Shipping: how many business days for 'ORD-101'?")
    system = connector.chats[0][0]
    assert isinstance(system, SystemMessage)
    assert system.text == "Be kind.\n\n[shipping_policy.md]\nShipping takes business days."


def test_its_trace_holds_answer_source_cleaned_call_and_the_exact_context(tmp_path):
    trace, connector = ask(tmp_path, "Return: was ' ord-102 ' delivered within days?")
    assert trace.error is None
    assert trace.answer == "Order ORD-102 was delivered 20 days ago."
    assert [(page.id, page.rank) for page in trace.retrieved] == [("return_policy", 1)]
    # As a customer wrote it in the conversation; cleaned in the record.
    assert [(made.name, made.arguments, made.output) for made in trace.tool_calls] == [
        ("getDeliveryDate", {"order_id": "ORD-102"}, "Order ORD-102 was delivered 20 days ago.")
    ]
    assert trace.context == (
        "[return_policy.md]\nReturn an item within days of delivery.",
        "Order ORD-102 was delivered 20 days ago.",
    )
    assert trace.messages[0] == {"role": "system", "content": connector.chats[0][0].text}


def test_k_policies_stand_there_when_asked_for(tmp_path):
    trace, connector = ask(tmp_path, "Shipping: how many business days for 'ORD-101'?", k=2)
    assert [page.id for page in trace.retrieved] == ["shipping_policy", "return_policy"]
    assert connector.chats[0][0].text.count("_policy.md]") == 2


@pytest.mark.parametrize(
    ("tool", "order_id", "says"),
    [
        ("getOrderStatus", "ORD-101", "Order ORD-101 is shipped, not delivered yet."),
        ("getOrderStatus", "ORD-102", "Order ORD-102 is delivered."),
        ("getOrderStatus", "ORD-107", "Order ORD-107 is being prepared."),
        ("getOrderStatus", "ORD-999", "There is no order ORD-999."),
        ("getDeliveryDate", "ORD-101", "Order ORD-101 has not been delivered yet."),
        ("getDeliveryDate", " ord-102\n", "Order ORD-102 was delivered 20 days ago."),
        ("getDeliveryDate", "ORD-105", "Order ORD-105 was delivered 1 day ago."),
        ("getDeliveryDate", "ord-999", "There is no order ORD-999."),
        ("getRefundStatus", "ORD-105", "Refund for order ORD-105: approved, not paid yet."),
        ("getRefundStatus", "ORD-102", "There is no refund for order ORD-102."),
        ("getRefundStatus", "", "There is no order ."),
    ],
)
def test_what_a_tool_says(tool, order_id, says):
    tools = {found.name: found for found in order_tools(read_orders({"orders": ORDERS}))}
    assert asyncio.run(tools[tool].ainvoke({"order_id": order_id})) == says


def test_still_calling_tools_after_five_rounds_is_the_cases_error(tmp_path):
    again = call("getOrderStatus", {"order_id": "x"})
    trace, connector = ask(tmp_path, "Return within days: 'ORD-101'?", reply=lambda _: again)
    assert (trace.error.source, trace.error.kind) == ("system", "tool_limit")
    assert len(trace.tool_calls) == 6  # five rounds, and the sixth that broke the limit
    assert len(connector.chats) == 6
    assert [page.id for page in trace.retrieved] == ["return_policy"]


@pytest.mark.parametrize("empty", ["", " \n"])
def test_an_empty_answer_is_the_cases_error(tmp_path, empty):
    trace, _ = ask(tmp_path, "'ORD-101'?", reply=lambda _: AIMessage(empty))
    assert (trace.error.source, trace.error.kind) == ("system", "empty_answer")


class SlowModel(ScriptedChatModel):
    """Answers after a random while, so that requests overtake each other."""

    async def _agenerate(self, messages, stop=None, run_manager=None, **options):
        await asyncio.sleep(random.uniform(0, 0.02))
        return self._generate(messages)


class SlowConnector(ScriptedConnector):
    def chat(self, settings):
        return SlowModel(reply=self.reply, asked=self.chats)


def test_fifty_customers_at_once_never_mix(tmp_path):
    orders = {
        f"ORD-{number}": {"status": "delivered", "delivered_days_ago": number} for number in range(200, 250)
    }
    topics = ("Return an item within days of delivery", "Shipping takes business days")
    cases = [
        Case(f"c{number}", f"{topics[number % 2]}: when was ' ord-{number}' delivered?")
        for number in range(200, 250)
    ]

    async def all_at_once():
        system = agent(tmp_path, SlowConnector(look_up), orders)
        return await asyncio.gather(*(run_case(system, case) for case in cases))

    for number, run in zip(range(200, 250), asyncio.run(all_at_once()), strict=True):
        trace, policy = run.trace, ("return_policy", "shipping_policy")[number % 2]
        told = f"Order ORD-{number} was delivered {number} days ago."
        assert trace.case_id == f"c{number}"
        assert trace.answer == told
        assert [page.id for page in trace.retrieved] == [policy]
        assert [(made.arguments, made.output) for made in trace.tool_calls] == [
            ({"order_id": f"ORD-{number}"}, told)
        ]
        assert trace.context[1:] == (told,)
        assert f"[{policy}.md]" in trace.context[0]
        assert f"' ord-{number}'" in trace.messages[1]["content"]
        assert [message["role"] for message in trace.messages] == ["system", "human", "ai", "tool", "ai"]


@pytest.mark.parametrize(
    ("fixtures", "problem"),
    [
        ({}, r"no orders\.yaml"),
        ({"orders": [1]}, r"no orders\.yaml"),
        ({"orders": {"ord-1": {"status": "shipped"}}}, "write 'ord-1' as 'ORD-1'"),
        ({"orders": {"ORD-1": {"status": "delivered"}}}, "ORD-1: order: .*give delivered_days_ago"),
        ({"orders": {"ORD-1": {"status": "shipped", "delivered_days_ago": 2}}}, "for no others"),
        ({"orders": {"ORD-1": {"status": "lost"}}}, "ORD-1: status: Input should be"),
        ({"orders": {"ORD-1": {"status": "shipped", "colour": "red"}}}, "ORD-1: colour: Extra inputs"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_with_the_order(fixtures, problem):
    with pytest.raises(DocumentError, match=problem):
        read_orders(fixtures)


def test_without_policies_it_is_not_built(tmp_path):
    with pytest.raises(DocumentError, match="no documents"):
        agent(tmp_path, ScriptedConnector(), pages=())


def test_an_order_delivered_today_says_so():
    tools = order_tools({"ORD-1": Order(status="delivered", delivered_days_ago=0)})
    assert asyncio.run(tools[1].ainvoke({"order_id": "ORD-1"})) == "Order ORD-1 was delivered today."

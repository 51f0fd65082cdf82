"""The assets of every suite found: keys, partitions, lineage, and a broken suite that shows as itself."""

from __future__ import annotations

import dagster as dg
import pytest

from eval_pipeline.assets.resources import EvaluationResource
from eval_pipeline.assets.suite_assets import suite_assets
from eval_pipeline.suite_reading import find_suite, find_suites
from eval_pipeline_tests.docs_suite import DocsSuite

NAMES = [
    "cases",
    "documents",
    "prompts",
    "traces",
    "stage_scores",
    "stage_report",
    "baseline",
    "gate_decision",
]


@pytest.fixture
def suite(tmp_path, monkeypatch):
    made = DocsSuite(tmp_path)
    monkeypatch.setenv("EVAL_DATA", str(made.data_root))
    monkeypatch.setenv("EVAL_WAREHOUSE", str(tmp_path / "warehouse"))
    return made


def definitions(suite: DocsSuite) -> dg.Definitions:
    assets = [asset for s in find_suites(suite.data_root) for asset in suite_assets(s)]
    return dg.Definitions(assets=assets, resources={"evaluation": EvaluationResource()})


def test_each_suite_has_the_same_assets_under_its_name(suite):
    graph = definitions(suite).resolve_asset_graph()
    assert {key.to_user_string() for key in graph.get_all_asset_keys()} == {f"docs/{name}" for name in NAMES}
    assert {graph.get(key).group_name for key in graph.get_all_asset_keys()} == {"docs"}


def test_lineage_follows_the_flow(suite):
    graph = definitions(suite).resolve_asset_graph()

    def upstream(name):
        return {key.path[-1] for key in graph.get(dg.AssetKey(["docs", name])).parent_keys}

    assert upstream("traces") == {"cases", "documents", "prompts"}
    assert upstream("stage_scores") == {"traces"}
    assert upstream("stage_report") == {"stage_scores", "traces"}
    assert upstream("gate_decision") == {"stage_report", "baseline"}


def test_definitions_are_valid(suite):
    dg.Definitions.validate_loadable(definitions(suite))


def test_an_edited_prompt_makes_one_new_candidate_key_and_leaves_the_others(suite):
    suite.edit(
        "suite.yaml", "    prompt: v1", "    prompt: v1\n  other:\n    model: openai:other\n    prompt: v2"
    )
    (suite.folder / "prompts" / "v2.md").write_text("Be brief.")
    before = find_suite(suite.data_root, "docs")
    (suite.folder / "prompts" / "v2.md").write_text("Be very brief.")
    after = find_suite(suite.data_root, "docs")
    assert before.datasets.keys() == after.datasets.keys()
    (gone,) = before.candidates.keys() - after.candidates.keys()
    (new,) = after.candidates.keys() - before.candidates.keys()
    assert gone.startswith("other@")
    assert new.startswith("other@")


def test_a_broken_suite_shows_as_itself_and_leaves_the_others(suite):
    broken = suite.data_root / "broken"
    broken.mkdir()
    (broken / "suite.yaml").write_text("system: nowhere\n")
    graph = definitions(suite).resolve_asset_graph()
    assert dg.AssetKey(["docs", "traces"]) in graph.get_all_asset_keys()
    assert "stages" in (graph.get(dg.AssetKey(["broken", "broken_suite"])).description or "")


def test_materializing_a_broken_suite_fails_with_its_error(suite):
    broken = suite.data_root / "broken"
    broken.mkdir()
    (broken / "suite.yaml").write_text("system: nowhere\n")
    (asset,) = [a for s in find_suites(suite.data_root) if s.name == "broken" for a in suite_assets(s)]
    with pytest.raises(dg.Failure, match=r"suite\.yaml:1"):
        dg.materialize([asset])

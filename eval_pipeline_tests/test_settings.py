from pathlib import Path

import pytest

from eval_pipeline.settings import data_root, nightly_timezone, record_mode, warehouse_root


@pytest.mark.parametrize(
    ("value", "folder"), [(None, "here/data"), ("", "here/data"), ("my", "here/my"), ("~/d", "home/d")]
)
def test_the_data_folder_is_eval_data_or_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str | None, folder: str
) -> None:
    _stand_in(tmp_path, monkeypatch, "EVAL_DATA", value)
    assert data_root() == tmp_path / folder


@pytest.mark.parametrize(
    ("value", "root"),
    [
        (None, "{tmp}/here/warehouse"),
        ("w", "{tmp}/here/w"),
        ("~/w", "{tmp}/home/w"),
        ("s3://b/w", "s3://b/w"),
    ],
)
def test_the_warehouse_is_eval_warehouse_or_warehouse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str | None, root: str
) -> None:
    _stand_in(tmp_path, monkeypatch, "EVAL_WAREHOUSE", value)
    assert warehouse_root() == root.format(tmp=tmp_path)


@pytest.mark.parametrize(("value", "mode"), [(None, "none"), ("", "none"), ("all", "all")])
def test_nothing_is_recorded_unless_the_environment_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str | None, mode: str
) -> None:
    _stand_in(tmp_path, monkeypatch, "EVAL_RECORD_MODE", value)
    assert record_mode() == mode


@pytest.mark.parametrize(("value", "zone"), [(None, "UTC"), ("", "UTC"), ("Europe/Berlin", "Europe/Berlin")])
def test_the_nightly_time_zone_is_utc_or_what_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str | None, zone: str
) -> None:
    _stand_in(tmp_path, monkeypatch, "EVAL_NIGHTLY_TIMEZONE", value)
    assert nightly_timezone() == zone


def _stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str | None) -> None:
    """Set a variable, `tmp_path/home` as home and `tmp_path/here` as the current folder."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv(variable, raising=False)
    if value is not None:
        monkeypatch.setenv(variable, value)

"""The warehouse: where results land, a Parquet file for each asset and key, and SQL over all of them."""

from __future__ import annotations

import contextlib
import hashlib
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Required, TypedDict, Unpack, cast

import pyarrow as pa
import pyarrow.parquet as pq
from upath import UPath

from eval_pipeline.content_hash import sha12
from eval_pipeline.errors import EvalError, NotStoredError
from eval_pipeline.suites import Cell, key_name
from eval_pipeline.warehouse.arrow_schemas import STORED_TABLES
from eval_pipeline.warehouse.catalogue import Declared, write_catalogue
from eval_pipeline.warehouse.catalogue_queries import query_catalogue
from eval_pipeline.warehouse.runs import Run, runs_table
from eval_pipeline.warehouse.storage import (
    StoragePath,
    filesystem_of,
    storage_path,
    write_whole,
    writing,
)
from eval_pipeline.warehouse.table_reader import TableReader
from eval_pipeline.warehouse.table_writer import TableWriter, writing_table
from eval_pipeline.warehouse.text_writer import TextWriter
from eval_pipeline.windows import windows

CATALOGUE_NAME = "evals.duckdb"
_READ_BYTES = 1_000_000


class Keys(TypedDict, total=False):
    """What a table is stored under: the suite, and the keys its asset is partitioned by."""

    suite: Required[str]
    dataset: str | None
    candidate: str | None
    judge: str | None


@dataclass(frozen=True)
class Warehouse:
    """One place for results, or inside it one set of fresh samples."""

    root: str
    """A path, or an fsspec URL."""
    sample: str | None = None
    """Name of a set of fresh samples: everything is written to and read from `samples/<sample>/`."""
    catalogue: Path | None = None
    """The DuckDB file of views; left out: in the root, or in `./warehouse` when the root is a URL."""

    def write(self, asset: str, table: pa.Table, **keys: Unpack[Keys]) -> str:
        """Store an asset's table under its keys, replacing the one before; returns where.

        Raises:
            ValueError: when the table has other columns than the asset, or the keys are not the asset's.
            EvalError: when the place cannot be written.
        """
        with self.writing(asset, **keys) as writer:
            for rows in windows(range(table.num_rows)):
                writer.write(table.slice(rows[0], len(rows)))
            if not table.num_rows:
                writer.write(table)
        return str(self._file(asset, "part.parquet", keys))

    @contextlib.contextmanager
    def writing(self, asset: str, **keys: Unpack[Keys]) -> Iterator[TableWriter]:
        """As `write`, a part at a time: nothing is stored before the block ends, nor when it raises.

        Raises:
            ValueError: as `write`.
            EvalError: when the place cannot be written.
        """
        path = self._file(asset, "part.parquet", keys)
        with writing_table(asset, path) as writer:
            yield writer

    def read(self, asset: str, *, columns: Sequence[str] | None = None, **keys: Unpack[Keys]) -> pa.Table:
        """The table stored for an asset under these keys, in the asset's columns or some of them.

        Raises:
            NotStoredError: when nothing is; it names the command that stores it.
            EvalError: when the file is no table of this asset.
        """
        return self.open(asset, **keys).read(columns)

    def open(self, asset: str, **keys: Unpack[Keys]) -> TableReader:
        """As `read`, a part at a time; what is broken inside the file shows when that part is read.

        Raises:
            NotStoredError: when nothing is stored; it names the command that stores it.
            EvalError: when the file is no table of this asset.
        """
        path = self._file(asset, "part.parquet", keys)
        source = io.BytesIO(self._read(path, asset, keys)) if isinstance(path, UPath) else str(path)
        if isinstance(source, str) and not Path(source).exists():
            raise self._not_stored(path, asset, keys)
        remedy = f"delete it and run: {_command(keys)}"
        return TableReader(source, STORED_TABLES[asset].schema, str(path), remedy)

    def partitions(self, asset: str, suite: str) -> list[Keys]:
        """The keys under which an asset of a suite is stored, those stored last first."""
        needed = STORED_TABLES[asset].keys
        folder = self._base / asset / f"suite={_folder_name('suite', suite)}"
        pattern = "/".join([*(f"{key}=*" for key in needed if key != "suite"), "part.parquet"])
        found = sorted(folder.glob(pattern), key=lambda path: (-path.stat().st_mtime, str(path)))
        return [_keys_of(cast("StoragePath", path), needed) for path in found]

    def write_text(self, asset: str, name: str, text: str, **keys: Unpack[Keys]) -> str:
        """Store a text, such as `report.json`, beside the asset's table; returns where.

        Raises:
            EvalError: when the place cannot be written.
        """
        with self.writing_text(asset, name, **keys) as writer:
            writer.write(text)
        return str(self._file(asset, name, keys))

    @contextlib.contextmanager
    def writing_text(self, asset: str, name: str, **keys: Unpack[Keys]) -> Iterator[TextWriter]:
        """As `write_text`, a part at a time: nothing is stored before the block ends, nor when it raises.

        No part may end within a secret.

        Raises:
            EvalError: when the place cannot be written.
        """
        path = self._file(asset, name, keys)
        with writing(path) as file:
            yield TextWriter(path, file)

    def reading(self, asset: str, name: str, **keys: Unpack[Keys]) -> IO[bytes]:
        """A file stored beside the asset's table, open to be read.

        Raises:
            OSError: when it cannot be.
        """
        return self._file(asset, name, keys).open("rb")

    def digest(self, asset: str, name: str, **keys: Unpack[Keys]) -> str | None:
        """64 hex digits of sha256 over a file stored for an asset; None where there is none."""
        try:
            with self.reading(asset, name, **keys) as file:
                sha = hashlib.sha256()
                while some := file.read(_READ_BYTES):
                    sha.update(some)
                return sha.hexdigest()
        except OSError:
            return None

    def read_text(self, asset: str, name: str, **keys: Unpack[Keys]) -> str:
        """A text stored beside the asset's table.

        Raises:
            NotStoredError: when there is none; it names the command that stores it.
        """
        return self._read(self._file(asset, name, keys), asset, keys).decode("utf-8")

    def append_run(self, run: Run) -> str:
        """Add one run to the `runs` table, as a small file of its own; returns where.

        Raises:
            EvalError: when the place cannot be written.
        """
        path = self._base / "runs" / run.file_name
        write_whole(path, _parquet(runs_table(run)))
        return str(path)

    def rebuild_catalogue(self, declared: Iterable[Cell], judges: Iterable[tuple[str, str]] = ()) -> Path:
        """Replace the DuckDB file of views, which open readers do not notice; returns where.

        Args:
            declared: the cells of every suite of the checkout, which the `current_*` views show.
            judges: likewise its judges, as suite and calibration key.
        """
        root = self._folder
        write_catalogue(
            self.catalogue_path, str(root), Declared(tuple(declared), frozenset(judges)), filesystem_of(root)
        )
        return self.catalogue_path

    def query(self, sql: str) -> pa.Table:
        """The rows that `sql` selects from the catalogue's views, which it cannot change.

        Raises:
            NotStoredError: when there is no catalogue yet.
            EvalError: with DuckDB's own message, when the SQL is wrong.
        """
        return query_catalogue(self.catalogue_path, sql, filesystem_of(self._folder))

    @property
    def catalogue_path(self) -> Path:
        """Absolute path of the DuckDB file of views."""
        if self.catalogue is not None:
            return self.catalogue.absolute()
        if isinstance(self._folder, Path):
            return self._folder / CATALOGUE_NAME
        # Its own file for each store, so that it never takes the place of the local results' views.
        return Path("warehouse").absolute() / f"evals-{sha12(str(self._folder))}.duckdb"

    @cached_property
    def _folder(self) -> StoragePath:
        return storage_path(self.root)

    @property
    def _base(self) -> StoragePath:
        if self.sample is None:
            return self._folder
        return self._folder / "samples" / _folder_name("sample", self.sample)

    def _file(self, asset: str, name: str, keys: Keys) -> StoragePath:
        needed = STORED_TABLES[asset].keys
        given = {key for key, value in keys.items() if value is not None}
        if given != set(needed):
            raise ValueError(f"{asset} is stored by {', '.join(needed)}; given: {', '.join(sorted(given))}")
        path = self._base / asset
        for key in needed:
            path = path / f"{key}={_folder_name(key, keys[key] or '')}"
        return path / name

    def _read(self, path: StoragePath, asset: str, keys: Keys) -> bytes:
        try:
            return path.read_bytes()
        except FileNotFoundError:
            raise self._not_stored(path, asset, keys) from None

    def _not_stored(self, path: StoragePath, asset: str, keys: Keys) -> NotStoredError:
        named = ", ".join(f"{key} {value}" for key, value in {**keys, "sample": self.sample}.items() if value)
        return NotStoredError(f"no {asset} of {named} at {path}; run: {_command(keys)}")


def _keys_of(path: StoragePath, needed: Sequence[str]) -> Keys:
    """The keys in the folders of a stored file."""
    values = [folder.name.partition("=")[2] for folder in path.parents[: len(needed)]]
    return cast("Keys", dict(zip(needed, reversed(values), strict=True)))


def _parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _folder_name(kind: str, name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._@-]+", name) or set(name) == {"."}:
        raise EvalError(f"{kind} {name!r} cannot name a folder; use letters, digits, '.', '_', '@' and '-'")
    return name


def cell_command(cell: Cell) -> str:
    """The command that stores a cell's results."""
    return _command({"suite": cell.suite, "candidate": cell.candidate, "dataset": cell.dataset})


def _command(keys: Keys) -> str:
    if judge := keys.get("judge"):
        return f"eval-pipeline calibrate {keys['suite']} --judge {judge}"
    parts = ["eval-pipeline run", keys["suite"]]
    if candidate := keys.get("candidate"):
        parts.append(f"--candidate {key_name(candidate) or candidate}")
    if dataset := keys.get("dataset"):
        parts.append(f"--dataset {key_name(dataset) or dataset}")
    return " ".join(parts)

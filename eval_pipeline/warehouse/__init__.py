"""Where results land: `store` writes Parquet files, `catalogue` makes DuckDB views of them.

`arrow_schemas` is the one place that says which columns a table has; the `*_rows` modules fill them.
"""

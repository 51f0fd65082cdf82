"""Two stored cells side by side: what changed in the configuration, in the answers, and case by case.

`sides` is what is read of each, `stored_sides` reads it from the warehouse, `comparison` compares. Nothing
here prints: `report.comparison_text` and its neighbours do.
"""

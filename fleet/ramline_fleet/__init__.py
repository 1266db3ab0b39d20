"""Many hosts: collected, kept, and asked.

The contract is a Parquet schema (`schema`) and a folder of SQL files (`queries/`): every answer is COUNT, SUM, MIN, MAX over integers, so that it is the
same from any engine and can be merged. What lies in between walks the counts: `histogram` for medians and modes, `intervals` for what a share of hosts says.

A row is a host on a day. Sizes are KiB, what is not known is NULL and never 0.
"""

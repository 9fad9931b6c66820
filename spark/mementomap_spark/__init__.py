"""MementoMaps of indexes that are too large for one machine, made with Apache Spark.

All reading, counting, merging and compacting is done by the `mementomap` executable. This package only decides what
runs where, and moves files.
"""

__version__ = "0.1.0"

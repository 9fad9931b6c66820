"""What a Spark user would write: keys by a Python function, grouped, sorted and written with DataFrames.

spark_udf.py INDEX OUTPUT; says {"started"} and {"finished", "seconds", "surt"}, and ends with standard input. The
package `surt` is used where it is installed, else a function that is simpler than it and faster.
"""

import json
import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StringType

try:
    from surt import surt as full_surt

    NAME = "surt"

    def key_of(line):
        return full_surt(json.loads(line[line.index("{") :])["url"]).split("?")[0]

except ImportError:
    from urllib.parse import urlsplit

    NAME = "urllib"

    def key_of(line):
        parts = urlsplit(json.loads(line[line.index("{") :])["url"].lower())
        labels = (parts.hostname or "").split(".")
        if labels[0].startswith("www"):
            labels = labels[1:]
        return ",".join(reversed(labels)) + ")" + (parts.path.rstrip("/") or "/")


def main(index, output):
    session = SparkSession.builder.appName("udf").getOrCreate()
    session.range(10).count()
    print(json.dumps({"started": session.sparkContext.applicationId}), flush=True)
    started = time.monotonic()
    lines = session.read.text(index)
    keys = lines.select(f.udf(key_of, StringType())("value").alias("key"))
    counts = keys.groupBy("key").count().orderBy("key")
    counts.select(f.concat_ws(" ", "key", "count")).write.mode("overwrite").text(output)
    print(json.dumps({"finished": True, "seconds": time.monotonic() - started, "surt": NAME}), flush=True)
    sys.stdin.read()


main(*sys.argv[1:])

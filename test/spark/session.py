"""Runs commands of mementomap_spark in one Spark application: a JSON array of arguments on each line of standard input,
and for each a line {"status", "told"} on standard output."""

import contextlib
import io
import json
import sys

from mementomap_spark.command_line import parse, run, start


def main() -> None:
    context = start("session")
    print(json.dumps({"started": context.applicationId}), flush=True)
    for line in sys.stdin:
        told = io.StringIO()
        with contextlib.redirect_stderr(told):
            try:
                status = run(context, parse(json.loads(line)))
            except SystemExit as error:
                status = error.code
            except Exception as error:  # noqa: BLE001 (the application goes on with the next command)
                status, text = 1, str(error)
                told.write(text)
        # What a command kept on disks is not for the next one.
        for kept in context._jsc.getPersistentRDDs().values():
            kept.unpersist()
        print(json.dumps({"status": status, "told": told.getvalue()}), flush=True)


if __name__ == "__main__":
    main()

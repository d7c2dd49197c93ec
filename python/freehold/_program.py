"""The program freehold-sweep: a sweep into a dataset, here or on a Ray cluster."""

import argparse
import sys

from . import Error, sweep


def _vary(text):
    name, given, values = text.partition("=")
    if not given:
        raise argparse.ArgumentTypeError("SETTING=VALUE,…")
    return name, values.split(",")


def main(arguments=None):
    """Runs the sweep of the command line and returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="freehold-sweep",
        description="Replay traces with every combination of settings, into a Parquet dataset that is partitioned by trace. "
        "Finished runs are not repeated: the same command continues a stopped sweep.",
    )
    parser.add_argument("traces", nargs="+", metavar="TRACE", help="a path, or a URL of fsspec with --address")
    parser.add_argument("--vary", action="append", default=[], type=_vary, metavar="SETTING=VALUE,…")
    parser.add_argument("--into", required=True, metavar="FOLDER", help="the dataset")
    parser.add_argument("--address", help="a Ray cluster: host:port, auto for a running one, local to start one here")
    parser.add_argument("--replicates", type=int, default=3, metavar="N", help="replays of each run, with jittered daemon wake-ups")
    parser.add_argument("--runs-a-shard", type=int, default=4, metavar="N")
    parser.add_argument("--threads", type=int, metavar="N", help="replays at the same time, without --address")
    arguments = parser.parse_args(arguments)
    settings = dict(arguments.vary)
    if len(settings) < len(arguments.vary):
        parser.error("a setting is given twice; name all its values at once")
    try:
        result = sweep(
            arguments.traces,
            replicates=arguments.replicates,
            threads=arguments.threads,
            into=arguments.into,
            on="ray" if arguments.address else None,
            address=arguments.address,
            runs_a_shard=arguments.runs_a_shard,
            **settings,
        )
    except Error as error:
        print(f"freehold-sweep: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"freehold-sweep: interrupted; finished runs are kept in {arguments.into}", file=sys.stderr)
        return 130
    print(result.text)
    failed = sum(error is not None for error in result.table.to_dict()["error"])
    if failed:
        print(f"freehold-sweep: {failed} of {len(result)} runs failed; see the column error", file=sys.stderr)
    return 5 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

import { edit, glob, readAll, run } from '../expert.ts';
import { expectExit, found, part } from '../reading.ts';
import { defineTask } from '../task.ts';

export const task = defineTask({
  kind: 'feature',
  language: 'Python',
  needs: ['python3'],
  prompt: `reqlog should say how slow we are. Please add the percentiles p50, p95 and p99 of the milliseconds, by the nearest-rank method (the smallest value that at least P percent of the requests do not exceed), to the summary under the key "ms" (None when there are no requests), and to the text after the line of errors, like this:

p50       12 ms

And add --json, which prints the summary as one JSON object. Add tests and a line in the README.`,
  tests: 'python3 -m unittest discover -s tests -t .',
  check: 'python3 -m unittest tests.test_hidden',
  wrong: {
    'an index of the floor': [
      {
        file: 'reqlog/summary.py',
        from: '    return {\n',
        to: '    ms = sorted(request.ms for request in requests)\n    at = lambda p: ms[min(len(ms) - 1, int(len(ms) * p / 100))] if ms else None\n    return {\n        "ms": {f"p{p}": at(p) for p in (50, 95, 99)},\n',
      },
      {
        file: 'reqlog/cli.py',
        from: '    options = parser',
        to: '    parser.add_argument("--json", action="store_true")\n    options = parser',
      },
      {
        file: 'reqlog/cli.py',
        from: '    print(as_text(summarise(requests, bad, options.top)), file=out)',
        to: '    summary = summarise(requests, bad, options.top)\n    import json\n    print(json.dumps(summary) if options.json else as_text(summary), file=out)',
      },
      {
        file: 'reqlog/report.py',
        from: '    ]\n',
        to: '    ] + [f"{name:9} {value:g} ms" for name, value in summary["ms"].items()]\n',
      },
    ],
  },
  *expert() {
    const names = (yield* glob('reqlog/*.py')).split('\n').slice(1);
    const texts = yield* readAll(...names, 'tests/test_reqlog.py', 'README.md');
    const having = (mark: string) => texts.find((text) => text.includes(mark)) ?? '';
    const summary = having('def summarise');
    const report = having('def as_text');
    const cli = having('argparse.ArgumentParser');
    const errorsLine = part(summary, '"errors"');
    yield* edit(
      'reqlog/summary.py',
      errorsLine,
      `${errorsLine}\n        "ms": percentiles(sorted(request.ms for request in requests)),`,
    );
    yield* edit(
      'reqlog/summary.py',
      part(summary, 'def summarise'),
      `def percentiles(ordered):
    """By nearest rank: the smallest value that at least P percent do not exceed."""
    rank = lambda percent: -(-len(ordered) * percent // 100)
    return {f"p{percent}": ordered[rank(percent) - 1] if ordered else None for percent in (50, 95, 99)}


${part(summary, 'def summarise')}`,
    );
    const [start, rest] = [part(report, 'f"errors', '    ]'), 'lines += ['];
    found(report, /(lines \+= \[)/);
    yield* edit(
      'reqlog/report.py',
      start,
      `${start}\n    ${rest}f"{name:9} {value:g} ms" for name, value in summary["ms"].items() if value is not None]`,
    );
    const print = part(cli, 'print(as_text');
    yield* edit(
      'reqlog/cli.py',
      print,
      '    summary = summarise(requests, bad, options.top)\n    print(json.dumps(summary) if options.json else as_text(summary), file=out)',
    );
    const parse = part(cli, 'options = parser.parse_args');
    yield* edit(
      'reqlog/cli.py',
      parse,
      `    parser.add_argument("--json", action="store_true", help="print the summary as JSON")\n${parse}`,
    );
    yield* edit('reqlog/cli.py', part(cli, 'import argparse'), 'import argparse\nimport json');
    const first = yield* run(
      'python3 -m unittest discover -s tests -t . 2>&1; python3 -m reqlog tests/small.log --json',
    );
    if (first.includes('AssertionError')) {
      const old = part(having('class ReqlogTest'), 'out.getvalue()');
      yield* edit(
        'tests/test_reqlog.py',
        old,
        `        self.assertEqual(out.getvalue().split("\\n")[:4], ["requests  4", "bad lines 1", "errors    1", "p50       12 ms"])
        self.assertEqual(out.getvalue().split("\\n")[6], "       2 /a")

    def test_percentiles(self):
        self.assertEqual(percentiles(list(range(1, 21))), {"p50": 10, "p95": 19, "p99": 20})`,
      );
      yield* edit(
        'tests/test_reqlog.py',
        part(having('class ReqlogTest'), 'from reqlog.parse'),
        'from reqlog.parse import read_requests\nfrom reqlog.summary import percentiles',
      );
    }
    const usage = part(having('# reqlog'), '    python3 -m reqlog');
    yield* edit('README.md', usage, `${usage}\n    python3 -m reqlog access.log --json    # the same as JSON`);
    expectExit(yield* run('python3 -m unittest discover -s tests -t . && git diff --stat'), 0);
    return 'The summary has ms with p50, p95 and p99 by nearest rank, text and --json show them, with tests and README.';
  },
});

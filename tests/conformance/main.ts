// Runs conformance cases against a whole system: Redis, the API, a worker and the sandbox, over HTTP.
//
//   npm run conformance -- [--keep] [FILE…]     default: tests/conformance/cases/*.jsonl; --keep leaves the data and the logs
//
// Exit code 0: every case passed or was skipped. 1: a case failed. 2: a file is not in the form of docs/conformance.md; nothing was run.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CaseFileError, readCases } from './runner/parse-cases.ts';

const own = join(import.meta.dirname, 'cases');
const { values, positionals: given } = parseArgs({
  options: { keep: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const files =
  given.length > 0
    ? given
    : readdirSync(own)
        .sort()
        .map((name) => join(own, name));

try {
  const cases = readCases(files);
  // A file with a mistake is refused before the load of a system's parts, because the load takes seconds on a busy machine.
  const [{ runCases }, { reportLines }] = await Promise.all([
    import('./runner/run-cases.ts'),
    import('./runner/report.ts'),
  ]);
  const outcomes = await runCases(cases, values);
  process.stdout.write(`${reportLines(outcomes).join('\n')}\n`);
  process.exitCode = outcomes.some(({ status }) => status === 'failed') ? 1 : 0;
} catch (error) {
  if (!(error instanceof CaseFileError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}

// Writes docs/contracts.md: the cases and the tests of every requirement of the tool contracts.
//
//   node tests/conformance/render-contracts.ts [--check]
//
//   --check   write nothing; exit code 1 when the page is stale, or when a requirement of a built toolset has neither a case nor a test
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { listFiles } from '../../scripts/words/prose.ts';
import { caseFiles, readCoverage, renderContracts, uncovered } from './coverage.ts';
import { readCases } from './runner/parse-cases.ts';

const page = 'docs/contracts.md';
const tests = listFiles('.').filter((file) => file.endsWith('.test.ts'));
const groups = readCoverage({
  requirements: JSON.parse(readFileSync('tests/conformance/requirements.json', 'utf8')),
  cases: readCases(caseFiles()),
  tests: tests.map((file) => ({ file, text: readFileSync(file, 'utf8') })),
  isBuilt: (toolset) => existsSync(`packages/tools/src/toolsets/${toolset}/toolset.ts`),
});
const text = renderContracts(groups);
if (process.argv.includes('--check')) {
  const problems = uncovered(groups);
  if (!existsSync(page) || readFileSync(page, 'utf8') !== text) problems.push(`${page} is stale: npm run contracts`);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
} else writeFileSync(page, text);

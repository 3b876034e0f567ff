// Names each suite that did not finish and each failed test or case with the first lines of its error, then prints `N passed, N failed`
// from vitest's own reports and the last line of the conformance cases. Exits with 1 when a test failed or a suite did not finish. Skipped
// tests count as neither.
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';

const [conformance = '', ...files] = process.argv.slice(2);
const reports = files.map(read);
const cases = countCases(conformance);
const lines = [
  ...reports.flatMap((report, n) => (report === undefined ? [`failed: no report at ${files[n]}`] : failures(report))),
  ...(cases === undefined ? ['failed: the conformance cases did not finish'] : cases.lines),
];
for (const line of lines) process.stdout.write(`${line}\n`);
const suites = [
  cases ?? unfinished(),
  ...reports.map((report) => (report === undefined ? unfinished() : count(report))),
];
const passed = suites.reduce((sum, suite) => sum + suite.passed, 0);
const failed = suites.reduce((sum, suite) => sum + suite.failed, 0);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && passed > 0 && reports.every((report) => report?.success === true) ? 0 : 1;

function unfinished() {
  return { passed: 0, failed: 1 };
}

/** @param {string} file */
function read(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * A file that cannot be loaded has no failed tests; it counts as one.
 *
 * @param {{numPassedTests: number, numFailedTests: number, testResults: {status: string, assertionResults: {status: string}[]}[]}} report
 */
function count({ numPassedTests, numFailedTests, testResults }) {
  const unloadable = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((assertion) => assertion.status === 'failed'),
  );
  return { passed: numPassedTests, failed: numFailedTests + unloadable.length };
}

/**
 * @param {{testResults: {name: string, status: string, message: string, assertionResults: {status: string, fullName: string, failureMessages: string[]}[]}[]} | undefined} report
 */
function failures(report) {
  return (report?.testResults ?? []).flatMap(({ name, status, message, assertionResults }) => {
    const file = path.relative(process.cwd(), name);
    const failed = assertionResults.filter((assertion) => assertion.status === 'failed');
    if (status === 'failed' && failed.length === 0) return [`failed: ${file} could not be loaded\n${excerpt(message)}`];
    return failed.map(
      ({ fullName, failureMessages }) => `failed: ${file}: ${fullName}\n${excerpt(failureMessages.join('\n'))}`,
    );
  });
}

/** @param {string} text */
function excerpt(text) {
  return text.split('\n').slice(0, 12).join('\n').slice(0, 2000);
}

/**
 * The counts of the conformance cases, and the lines of the failed ones. undefined: there are no counts.
 *
 * @param {string} file
 */
function countCases(file) {
  const lines = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  const [, passed, failed] = /^(\d+) passed, (\d+) failed, \d+ skipped$/.exec(lines.at(-1) ?? '') ?? [];
  if (passed === undefined) return undefined;
  const named = lines.filter((line) => line !== '' && !/^skipped |\d+ passed, \d+ failed/.test(line));
  return { passed: Number(passed), failed: Number(failed), lines: named.map((line) => `failed case: ${line}`) };
}

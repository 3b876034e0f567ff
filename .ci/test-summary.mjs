// Prints `N passed, N failed` from vitest's own report; exits with 1 when a test failed or there is no report.
import fs from 'node:fs';
import process from 'node:process';

const report = read(process.argv[2] ?? '');
if (report === undefined) process.stderr.write('The tests did not finish: there is no report.\n');
const { passed, failed } = report === undefined ? { passed: 0, failed: 1 } : count(report);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && passed > 0 && report?.success === true ? 0 : 1;

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

// A vitest reporter: writes errors outside of any test to `.cache/unhandled-errors.txt`. They fail a suite and are in no report of tests.
import fs from 'node:fs';

const file = '.cache/unhandled-errors.txt';

export default class UnhandledErrors {
  /**
   * @param {unknown} _modules
   * @param {readonly {message: string, stack?: string}[]} errors
   */
  onTestRunEnd(_modules, errors) {
    const lines = errors.map(
      ({ message, stack }) => `failed outside of a test: ${(stack ?? message).slice(0, 2000)}\n`,
    );
    fs.appendFileSync(file, lines.join(''));
  }
}

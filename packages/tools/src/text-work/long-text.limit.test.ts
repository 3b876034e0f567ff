import fc from 'fast-check';
import { expect, test } from 'vitest';
import { longText } from './long-text.ts';

const most = 16 * 1024;
const passed = (count: number, line: (at: number) => string) => Array.from({ length: count }, (_, at) => line(at));
const noise = passed(3000, (at) => `log ${at}: ${'x'.repeat(at % 60)}`);

/** Reports as the runners print them, with the words of the first failure that a model needs. */
const reports: [runner: string, before: string[], failure: string[], after: string[]][] = [
  [
    'pytest',
    [...passed(900, (at) => `tests/test_${at}.py .......... [ ${at % 100}%]`), '=== FAILURES ==='],
    [
      '____________ test_total ____________',
      '    def test_total():',
      '>       assert total([1, 2]) == 4',
      'E       assert 3 == 4',
    ],
    [...noise, '=== short test summary info ===', 'FAILED tests/test_a.py::test_total - assert 3 == 4'],
  ],
  [
    'vitest',
    [...passed(900, (at) => ` ✓ src/a${at}.test.ts (3 tests) 5ms`), '⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯', ''],
    [' FAIL  src/total.test.ts > adds', 'AssertionError: expected 3 to be 4', ' ❯ src/total.test.ts:4:20'],
    noise,
  ],
  [
    'jest',
    passed(900, (at) => `PASS src/a${at}.test.js`),
    ['FAIL src/total.test.js', '  ● adds', '    Expected: 4', '    Received: 3'],
    passed(900, (at) => `PASS src/b${at}.test.js`),
  ],
  [
    'go test',
    passed(900, (at) => `--- PASS: TestOther${at} (0.00s)`),
    ['--- FAIL: TestTotal (0.00s)', '    total_test.go:9: got 3, want 4'],
    passed(900, (at) => `ok  \texample.org/pkg${at}\t0.01s`),
  ],
  [
    'cargo test',
    [...passed(900, (at) => `test tests::other_${at} ... ok`), 'test tests::total ... FAILED', '', 'failures:', ''],
    ['---- tests::total stdout ----', "thread 'tests::total' panicked at src/lib.rs:9:9:", '  left: 3', ' right: 4'],
    [...noise, 'test result: FAILED. 900 passed; 1 failed'],
  ],
  [
    'mocha',
    [...passed(900, (at) => `    ✔ does ${at}`), '', '  900 passing (2s)', '  1 failing', ''],
    ['  1) total', '       adds:', '      AssertionError: 3 == 4'],
    noise,
  ],
  [
    'TAP',
    passed(900, (at) => `ok ${at + 1} - other`),
    ['not ok 901 - total', '  ---', '  expected: 4', '  actual: 3', '  ...'],
    passed(900, (at) => `ok ${at + 902} - other`),
  ],
  [
    'Maven',
    passed(900, (at) => `[INFO] Tests run: 3, Failures: 0 -- in OtherTest${at}`),
    ['[ERROR] TotalTest.adds -- Time elapsed: 0.01 s <<< FAILURE!', 'AssertionFailedError: expected: <4> but was: <3>'],
    noise,
  ],
  [
    'JUnit in XML',
    passed(900, (at) => `<testcase name="other${at}"/>`),
    ['    <failure message="expected 4 but was 3">', 'at TotalTest.adds(TotalTest.java:9)'],
    passed(900, (at) => `<testcase name="more${at}"/>`),
  ],
];

test.each(reports)('the first failure of %s is shown, with both ends', (_runner, before, failure, after) => {
  const lines = [...before, ...failure, ...after];
  const { parts, failures, lines: total } = longText({ text: lines.join('\n'), most, isOutput: true });
  const shown = parts.map(({ text }) => text).join('\n');
  expect(shown).toContain(failure.join('\n'));
  expect(failures).toBe(true);
  expect(shown.startsWith(lines[0] ?? '')).toBe(true);
  expect(shown.endsWith(lines.at(-1) ?? '')).toBe(true);
  expect([total, Buffer.byteLength(shown) <= most]).toEqual([lines.length, true]);
});

test('the first failures come before later ones, and one endless failure leaves place for the end', () => {
  const endless = ['=== FAILURES ===', '____ test_a ____', ...passed(5000, (at) => `E   line ${at}`)];
  const { parts } = longText({ text: [...noise, ...endless, ...noise, 'the end'].join('\n'), most, isOutput: true });
  expect(parts).toHaveLength(3);
  expect(parts[1]?.text).toContain('E   line 9\n');
  expect(parts[2]?.text.endsWith('the end')).toBe(true);
});

test.each([
  ['a list', passed(2000, (at) => `${at}) entry of a list ${'y'.repeat(20)}`), true],
  ['a file with a report', [...noise, ...(reports[0]?.[2] ?? []), ...noise], false],
])('%s is no report', (_name, lines, isOutput) => {
  const { parts, failures } = longText({ text: lines.join('\n'), most, isOutput });
  expect([parts.length, failures]).toEqual([2, undefined]);
});

test('the last lines of stderr are the last lines of the file', () => {
  const made = longText({ text: noise.join('\n'), stderr: 'one\ntwo', most, isOutput: true });
  expect(made.stderr_line).toBe(noise.length + 1);
  expect(made.whole.split('\n').slice(noise.length)).toEqual(['one', 'two']);
});

const hostile = fc.oneof(
  fc.constantFrom(
    '=== FAILURES ===',
    '____ a ____',
    'not ok 1',
    'ok 1',
    '  1 failing',
    '  1) a',
    '[…]',
    '',
    'panic: x',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.replaceAll('\n', ' ')),
  fc.integer({ min: 1990, max: 9000 }).map((length) => '😀'.repeat(length / 2)),
  fc.integer({ min: 100, max: 9000 }).map((length) => '_ > ['.repeat(length / 5)),
);

test('any output: the parts are lines of the whole at their numbers, in order and within the bound', () => {
  fc.assert(
    fc.property(fc.array(hostile, { maxLength: 60 }), fc.array(hostile, { maxLength: 9 }), (out, err) => {
      const made = longText({ text: out.join('\n'), stderr: err.join('\n'), most: 8192, isOutput: true });
      const lines = made.whole.split('\n');
      let after = 0;
      for (const { line, text } of made.parts) {
        const shown = text.split('\n');
        expect(line).toBeGreaterThan(after);
        expect(lines.slice(line - 1, line - 1 + shown.length)).toEqual(shown);
        after = line + shown.length - 1;
      }
      expect(made.parts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)).toBeLessThanOrEqual(8192 + 8000);
      expect(lines.every((line) => line.length <= 2000)).toBe(true);
      expect(made.whole.replaceAll('\n', '')).toBe([...out, ...err].join(''));
      expect(made.bytes).toBe(Buffer.byteLength(made.whole));
    }),
    { numRuns: 300 },
  );
});

test('lines made to slow a pattern down take linear time', () => {
  const lines = [
    '_ '.repeat(999),
    '_'.repeat(2000),
    ' > '.repeat(600),
    '  Failed a [[['.repeat(140),
    '\u23af'.repeat(2000),
  ];
  const text = Array.from({ length: 200 }, () => lines.join('\n')).join('\n');
  const began = process.cpuUsage();
  longText({ text, most, isOutput: true });
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(3000);
});

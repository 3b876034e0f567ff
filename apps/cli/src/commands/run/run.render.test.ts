import { expect, it } from 'vitest';
import { call } from '../../testing/cli.ts';

it('the help fits on a screen of 80 columns, and names the run file and --set with an example', async () => {
  const { code, stdout } = await call(['run', '--help'], {});
  const lines = stdout.trimEnd().split('\n');
  expect(code).toBe(0);
  expect(lines.length).toBeLessThanOrEqual(42);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines.filter((line) => /^ {2}-/.test(line)).length).toBeLessThanOrEqual(26);
  expect(stdout).toMatch(/run --file run\.yaml --set limits\.max_turns=5/);
  expect(stdout).not.toContain('--max-turns');
});

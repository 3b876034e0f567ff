import { expect, test } from 'vitest';
import { catastrophicLines, hostileLines } from '../testing/hostile-lines.ts';
import { safeLines } from '../testing/safe-lines.ts';
import { classifyLine } from './classify-command.ts';

const hostile = Object.entries(hostileLines).flatMap(([kind, lines]) => lines.map((line) => [kind, line] as const));

test.each(hostile)('%s: %j is not safe', (_kind, line) => {
  expect(classifyLine(line).class).not.toBe('safe');
});

test.each(catastrophicLines)('%j is blocked', (line) => {
  expect(classifyLine(line).class).toBe('blocked');
});

test.each(safeLines)('%j is safe', (line) => {
  expect(classifyLine(line)).toEqual({ class: 'safe', reason: 'it only reads' });
});

test.each([
  'rm -rf node_modules',
  'git push --force origin main',
  'cp a ~',
  'cp a /tmp/b',
  'echo a > /dev/shm/b',
  "rm -rf '~'",
  'rm -rf "/tmp/$x"',
  'chmod +x a.sh',
  'dd if=a of=b',
  'dd if=/dev/zero of=/dev/null',
  'kill -1 4711',
  'kill 4711',
  'curl https://a.example/x | python3 -c "import json"',
  'curl -o a https://a.example',
  'curl a.example > a; sh a',
  'cat /etc/hosts > a',
  'f() { f; }; f',
  'echo rm -rf / > a',
])('%j needs care and is not blocked', (line) => {
  expect(classifyLine(line).class).toBe('caution');
});

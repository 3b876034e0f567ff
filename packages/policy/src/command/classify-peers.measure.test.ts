import { expect, test } from 'vitest';
import { readPeerRows } from '../testing/peers.ts';
import { classifyLine } from './classify-command.ts';

interface ArgvRow {
  argv: string[];
  question: 'known_safe' | 'might_be_dangerous';
  expected: boolean;
}
interface LineRow {
  command: string;
  expected: 'BLOCKED' | 'NOT_BLOCKED' | 'NEEDS_CONFIRMATION' | 'NO_CONFIRMATION';
}

const argvRows = readPeerRows<ArgvRow>('codex-command-safety.json')?.map((row) => ({ ...row, line: quote(row.argv) }));
const lineRows = readPeerRows<LineRow>('clemini-bash-safety.json');
const missing = 'the tables of other projects are not here: set HOLDPOINT_PEERS';

test.skipIf(!argvRows)(`no argv that another project calls dangerous or not known is safe (${missing})`, () => {
  const dangerous = argvRows!.filter(({ question, expected }) => expected === (question === 'might_be_dangerous'));
  expect(dangerous.length).toBeGreaterThan(40);
  expect(dangerous.filter(({ line }) => classifyLine(line).class === 'safe')).toEqual([]);
});

test.skipIf(!lineRows)(`no line that another project stops is safe (${missing})`, () => {
  const stopped = lineRows!.filter(({ expected }) => expected === 'NEEDS_CONFIRMATION' || expected === 'BLOCKED');
  expect(stopped.length).toBeGreaterThan(10);
  expect(stopped.filter(({ command }) => classifyLine(command).class === 'safe')).toEqual([]);
  const blocked = stopped.filter(({ expected }) => expected === 'BLOCKED');
  expect(blocked.filter(({ command }) => classifyLine(command).class !== 'blocked')).toEqual([]);
  const free = lineRows!.filter(({ expected }) => expected.startsWith('NO'));
  expect(free.filter(({ command }) => classifyLine(command).class === 'blocked')).toEqual([]);
});

test.skipIf(!argvRows || !lineRows)(`at most 5 % of what others know as safe is held (${missing})`, () => {
  const known = [
    ...argvRows!.filter(({ question, expected }) => question === 'known_safe' && expected).map(({ line }) => line),
    ...lineRows!.filter(({ expected }) => expected === 'NO_CONFIRMATION').map(({ command }) => command),
  ];
  const held = known.filter((line) => classifyLine(line).class !== 'safe');
  process.stdout.write(`held ${held.length} of ${known.length} known-safe commands: ${held.join(', ')}\n`);
  // `mkdir` writes, so the default table holds it. A toolset whose contract lets it run brings its own table.
  expect(held).toEqual(['mkdir form']);
  expect(held.length / known.length).toBeLessThan(0.05);
});

function quote(argv: readonly string[]): string {
  return argv.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
}

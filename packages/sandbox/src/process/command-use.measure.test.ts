import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { openCommandUse } from './command-use.ts';

const busy = `
const kept = Buffer.alloc(64 * 1024 * 1024, 1);
const until = process.cpuUsage().user + 200_000;
while (process.cpuUsage().user < until);
process.stdout.write('busy ' + kept.length);
process.stdin.resume();
`;

test('processes without a control group are measured by looking at them', async () => {
  const child = spawn(process.execPath, ['-e', busy], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const use = openCommandUse({ usage: () => null, processes: () => [child.pid ?? 0, 0x7fffffff] });
  use.sample();
  child.kill('SIGKILL');
  await once(child, 'exit');
  // What is gone is no longer counted, and takes nothing away.
  use.sample();
  const { cpu_ms = 0, memory_bytes = 0 } = use.end();
  expect(cpu_ms).toBeGreaterThanOrEqual(190);
  expect(memory_bytes).toBeGreaterThan(64 * 1024 * 1024);
});

test('a command that was over before the first look has no measurement', () => {
  expect(openCommandUse({ usage: () => null, processes: () => [] }).end()).toEqual({});
});

test('a control group counts everything', () => {
  const counted = {
    memory_kills: 0,
    refused_processes: 0,
    throttled_periods: 0,
    cpu_ms: 12.6,
    memory_peak_bytes: 4096,
  };
  const use = openCommandUse({ usage: () => counted, processes: () => [process.pid] });
  use.sample();
  expect(use.end()).toEqual({ cpu_ms: 13, memory_bytes: 4096 });
  expect(openCommandUse({ usage: () => ({ ...counted, memory_peak_bytes: 0 }), processes: () => [] }).end()).toEqual({
    cpu_ms: 13,
    memory_bytes: undefined,
  });
});

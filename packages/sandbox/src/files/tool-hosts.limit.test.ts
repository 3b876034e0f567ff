import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { outputsFolder } from '@holdpoint/contract';
import { expect } from 'vitest';
import { childrenOf } from '../kill.ts';
import { until, useTestHost } from '../testing/host.ts';
import type { WorkspaceMount } from '../tree.ts';

const most = 4;
const { host, test } = useTestHost({ idleProcesses: most, spares: 0 });

/** Pids of the tool hosts of this process. Other programs of this machine may run some, too. */
function toolHosts(parent = process.pid): number[] {
  return childrenOf(parent).flatMap(({ pid }) => [
    ...(commandLine(pid).endsWith(`/rg\0${outputsFolder}\0${outputsFolder}\0`) ? [pid] : []),
    ...toolHosts(pid),
  ]);
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

async function writeFour(workspace: WorkspaceMount): Promise<void> {
  const files = host.sandbox.files(workspace);
  for (const name of ['a', 'b', 'c', 'd']) await files.write(name, Buffer.from(name), { expect: { any: true } });
}

test('forty runs leave no more idle tool hosts than the bound, and each of them wrote its files', async () => {
  const workspaces = Array.from({ length: 40 }, () => host.makeWorkspace());
  const waiting = [...workspaces];
  let highest = 0;
  const slot = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      await writeFour(next);
      highest = Math.max(highest, toolHosts().length);
    }
  };
  await Promise.all([slot(), slot(), slot(), slot()]);
  // Idle ones, those of the four slots, and as many that are about to end.
  expect(highest).toBeLessThanOrEqual(3 * most);
  await until(() => toolHosts().length <= most);
  expect(toolHosts()).toHaveLength(most);
  for (const { path } of workspaces) expect(readFileSync(join(path, 'd'), 'utf8')).toBe('d');
});

test('the tool hosts that were used last stay', async () => {
  const workspaces = Array.from({ length: most + 1 }, () => host.makeWorkspace());
  const [first] = workspaces;
  if (!first) throw new Error('no workspace');
  for (const workspace of workspaces.slice(0, most)) await writeFour(workspace);
  await until(() => toolHosts().length === most);
  const before = toolHosts();
  await writeFour(first);
  expect(toolHosts()).toEqual(before);
  await writeFour(workspaces[most] as WorkspaceMount);
  await until(() => toolHosts().length === most);
  expect(before.filter((pid) => toolHosts().includes(pid))).toHaveLength(most - 1);
  const kept = toolHosts();
  await writeFour(first);
  expect(toolHosts()).toEqual(kept);
});

test('more runs at once than the bound: no request loses its tool host', async () => {
  const workspaces = Array.from({ length: 3 * most }, () => host.makeWorkspace());
  for (let round = 0; round < 3; round++) await Promise.all(workspaces.map(writeFour));
  await until(() => toolHosts().length <= most);
});

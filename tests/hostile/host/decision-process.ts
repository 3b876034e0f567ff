import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createWorkspacePort } from '@holdpoint/runtime';
import { openSandbox } from '@holdpoint/sandbox';
import { bwrapPath } from '@holdpoint/sandbox/testing';
import { noSecrets } from '@holdpoint/secrets/testing';
import { openWorkspaces } from '@holdpoint/workspace';
import { until } from '../../harness/until.ts';

/*
 * Program: the worker's part of a decision, in a separate process, possibly of another user. A user is shown a snapshot, a background
 * command changes the tree, and the worker compares the tree before a run of the call.
 */

const [directory = '', cases = '[]'] = process.argv.slice(2);

export interface DecisionCase {
  name: string;
  /** Runs before the shown snapshot. */
  first: string;
  /** Runs between the snapshot and the call. */
  after: string;
}

export interface DecisionResult {
  name: string;
  /** Whether the check before the call found a state other than the shown state. */
  noticed: boolean;
  changes: { path: string; change: string }[];
  /** Whether two checks in a row find the same state. */
  isStable: boolean;
  /** Number of different contents of `deploy.sh` while the commands were frozen. */
  versions: number;
}

async function main(): Promise<void> {
  const ids = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const owner = ids.uid === 0 ? { uid: 1_900_000, gid: 1_900_000 } : ids;
  mkdirSync(join(directory, 'state'), { recursive: true });
  await using sandbox = await openSandbox({
    ...{ policy: 'require', allowUnsandboxed: false, stateDir: join(directory, 'state') },
    bwrapPath,
  });
  const workspaces = openWorkspaces({
    dataDir: join(directory, 'data'),
    allocateOwner: () => owner,
    limits: { fileBytes: 100_000 },
  });
  const port = createWorkspacePort(workspaces, sandbox, noSecrets);
  const scope = { tenant: 'default', secrets: [] };
  const results: DecisionResult[] = [];
  for (const [index, { name, first, after }] of (JSON.parse(cases) as DecisionCase[]).entries()) {
    const runId = `run_${index + 1}`;
    const { id } = await workspaces.materialise({ runId, source: { type: 'empty' } });
    const { path, repository } = await workspaces.locate({ runId, epoch: 1 });
    const workspace = { id: runId, path, ...owner, repository };
    const stop = new AbortController();
    const run = (command: string, more: object = {}) =>
      sandbox.run({ workspace, argv: ['/bin/bash', '-c', command], signal: stop.signal, ...more });
    const writeSafe = await run('echo "echo SAFE" > deploy.sh; mkdir dir; echo inner > dir/inner');
    if (writeSafe.end.status !== 'exited') throw new Error(JSON.stringify(writeSafe));
    const begun = await port.snapshot({ runId, epoch: 1, parent: id, message: 'begun', scope });
    const wait = 'until [ -e go ]; do sleep 0.02; done';
    const line = `${first}; touch ready; ${wait}; ${after}; rm -f go; sleep 1000`;
    const running = run(after.startsWith('python3') ? after : line, { label: 'task_1' });
    await until('the command is ready', () => existsSync(join(path, 'ready')), { withinMs: 30_000 });
    const shown = await port.snapshot({ runId, epoch: 1, parent: begun.snapshot, message: 'shown', scope });
    const look = { runId, epoch: 1, parent: shown.snapshot, message: 'look', scope };
    const same = await port.differenceFrom({ ...look, decided: shown.snapshot });
    writeFileSync(join(path, 'go'), '');
    await until('the command has changed its files', () => !existsSync(join(path, 'go')), { withinMs: 30_000 });
    const versions = new Set<string>();
    const found = await port.withFrozen(runId, async () => {
      const difference = await port.differenceFrom({ ...look, decided: shown.snapshot });
      for (let moment = 0; moment < 20; moment++) {
        versions.add(contentOf(join(path, 'deploy.sh')));
        await delay(1);
      }
      return difference;
    });
    stop.abort(new Error('over'));
    await running;
    await sandbox.killAll(runId);
    results.push({
      ...{ name, noticed: found !== undefined, changes: found?.changes ?? [] },
      ...{ isStable: same === undefined, versions: versions.size },
    });
  }
  process.stdout.write(`\n${JSON.stringify(results)}\n`);
}

function contentOf(path: string): string {
  try {
    // Reading a pipe would block.
    return lstatSync(path).isFile() ? readFileSync(path, 'latin1').slice(0, 1000) : 'no file';
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

await main();

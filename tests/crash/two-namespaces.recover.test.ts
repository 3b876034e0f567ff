import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type AppProcess,
  allowBash,
  bash,
  finished,
  nextApproval,
  plan,
  published,
  until,
  useSystem,
} from '../harness/index.ts';

const files = 60;
/** As two containers on one data volume: a mount of one worker does not exist for the other one. */
const namespaces: [string, string[]][] = [
  ['mount', ['unshare', '--mount', '--propagation', 'private', '--']],
  ['pid', ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc', '--']],
];

describe.runIf(process.getuid?.() === 0).each(namespaces)('two workers in %s namespaces of their own', (_, through) => {
  const system = useSystem({ workers: 0, env: () => ({ HOLDPOINT_LAYERS: 'always' }) });
  const { client } = system;
  const workers: AppProcess[] = [];
  const start = async (): Promise<AppProcess> => {
    const worker = await system.startWorker({}, undefined, through);
    workers.push(worker);
    return worker;
  };
  // A frozen one ends as well.
  afterEach(async () => {
    for (const worker of workers.splice(0)) if (worker.isAlive()) await worker.signal('SIGKILL');
  });
  const mountsIn = (worker: AppProcess): string => readFileSync(`/proc/${programOf(worker)}/mounts`, 'utf8');
  const source = () =>
    system.directoryWith(Object.fromEntries(Array.from({ length: files }, (_, n) => [`d${n % 7}/f${n}`, `${n}\n`])));
  const counting = 'n=$(find . -path ./.git -prune -o -type f -print | wc -l); echo $n > count';

  /** A run that stands before a held call, and the first worker, which alone has its tree mounted. */
  async function parked() {
    const path = await source();
    const first = await start();
    const { run } = await client.createRun({
      plan: plan(
        [bash('echo one > one')],
        [{ tool: 'ask_user', args: { question: 'May it proceed?' } }],
        [bash(counting)],
      ),
      workspace: { source: { type: 'directory', path } },
      policy: { rules: [allowBash] },
    });
    const asked = await nextApproval(client, run.id);
    expect(mountsIn(first)).toContain(system.tree(run.id));
    expect(readFileSync('/proc/self/mounts', 'utf8')).not.toContain(system.tree(run.id));
    // What a process in another namespace finds at the place of the tree.
    expect(readdirSync(system.tree(run.id))).toEqual(['.not-mounted']);
    return { path, first, run, asked };
  }

  const answer = (asked: Awaited<ReturnType<typeof nextApproval>>) =>
    client.decideApproval(asked.id, { decision: 'respond', action_digest: asked.action_digest, message: 'yes' });

  async function expectPublished(runId: string, path: string): Promise<void> {
    expect(await finished(client, runId)).toMatchObject({ status: 'succeeded' });
    const { files: changed } = await client.diff(runId);
    expect(changed.map((file) => `${file.status} ${file.path}`)).toEqual(['added count', 'added one']);
    await client.publish(runId);
    await published(client, runId);
    expect(readFileSync(join(path, 'count'), 'utf8').trim()).toBe(String(files + 1));
    expect(readFileSync(join(path, 'd3/f59'), 'utf8')).toBe('59\n');
  }

  test('the second one continues while the first, which is frozen, has the tree mounted', async () => {
    const { path, first, run, asked } = await parked();
    process.kill(programOf(first), 'SIGSTOP');
    await start();
    await answer(asked);
    await expectPublished(run.id, path);
    // What it does when it continues changes nothing that was published.
    process.kill(programOf(first), 'SIGCONT');
    expect(readFileSync(join(path, 'one'), 'utf8')).toBe('one\n');
  }, 200_000);

  test('the second one takes over after kill -9 of the first, publishes, and discards', async () => {
    const { path, first, run, asked } = await parked();
    await first.signal('SIGKILL');
    const second = await start();
    await answer(asked);
    await expectPublished(run.id, path);
    const other = await client.createRun({
      plan: plan([bash('rm -r d1')]),
      workspace: { source: { type: 'directory', path } },
      policy: { rules: [allowBash] },
    });
    await finished(client, other.run.id);
    await start();
    await second.signal('SIGKILL');
    await client.discard(other.run.id);
    await until(
      'the change set is discarded',
      async () => (await client.getRun(other.run.id)).publication.status === 'discarded',
      { withinMs: 60_000 },
    );
    expect(readFileSync(join(path, 'd1/f1'), 'utf8')).toBe('1\n');
  }, 200_000);
});

/** The worker itself: `unshare` starts it as its child in a new pid namespace, and becomes it otherwise. */
function programOf({ pid }: AppProcess): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  const name = readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  return name === 'unshare' ? Number(child) : pid;
}

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  allowBash,
  bash,
  finish,
  finished,
  git,
  plan,
  processesWith,
  published,
  until,
  useSystem,
} from '../harness/index.ts';

const system = useSystem({ workers: 0 });
const { client } = system;

test('a validator whose worker is killed runs again, and the source gets one commit', async () => {
  const path = await system.repositoryWith({ 'a.txt': 'a\n' });
  const first = await system.startWorker();
  const run = await finish(client, {
    plan: plan([bash('echo b >> a.txt')]),
    workspace: { source: { type: 'git', path } },
    validators: [
      { name: 'slow', command: 'test ! -e litter && touch litter && sleep 3 && test "$(wc -l < a.txt)" = 2' },
    ],
  });
  const publishing = client.publish(run.id).catch(() => undefined);
  await until('the validator runs', async () => (await processesWith('sleep 3')).length > 0);
  await first.signal('SIGKILL');
  await until('its sandbox is gone', async () => (await processesWith(system.folder(run.id))).length === 0);
  expect(await git(path, 'branch', '--list', 'holdpoint/*')).toBe('');
  const second = await system.startWorker();
  expect((await published(client, run.id)).publication.published).toMatchObject({ type: 'git' });
  await publishing;
  expect(await git(path, 'rev-list', '--count', `holdpoint/${run.id}`)).toBe('2');
  expect(await git(path, 'show', `holdpoint/${run.id}:a.txt`)).toBe('a\nb');
  expect(await git(path, 'for-each-ref', 'refs/holdpoint')).toBe('');
  await second.signal('SIGKILL');
});

test('publishes killed at random moments leave every source complete', async () => {
  const runs = 6;
  const paths = await Promise.all(
    Array.from({ length: runs }, () =>
      system.directoryWith(Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`d${n % 5}/f${n}`, `${n}\n`]))),
    ),
  );
  let worker = await system.startWorker();
  const made = await Promise.all(
    paths.map((path) =>
      client.createRun({
        plan: plan([bash('for f in d*/f*; do echo changed >> $f; done; rm -r d0; echo new > d1/new')]),
        workspace: { source: { type: 'directory', path } },
        policy: { rules: [allowBash] },
      }),
    ),
  );
  for (const { run } of made) expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  const publishing = made.map(({ run }) => client.publish(run.id).catch(() => undefined));
  for (let kill = 0; kill < 4; kill++) {
    await until('a publish is active', async () => {
      const [queue] = (await client.listQueues()).filter(({ name }) => name === 'workspaces');
      return (queue?.active ?? 0) > 0 || (await allPublished(made.map(({ run }) => run.id)));
    });
    await worker.signal('SIGKILL');
    worker = await system.startWorker();
  }
  for (const { run } of made) await published(client, run.id);
  await Promise.all(publishing);
  for (const path of paths) {
    expect(await readFile(join(path, 'd1/new'), 'utf8')).toBe('new\n');
    for (let n = 0; n < 40; n++) {
      const content = await readFile(join(path, `d${n % 5}/f${n}`), 'utf8').catch(() => undefined);
      expect(content).toBe(n % 5 === 0 ? undefined : `${n}\nchanged\n`);
    }
  }
  await worker.signal('SIGKILL');
});

async function allPublished(ids: string[]): Promise<boolean> {
  const runs = await Promise.all(ids.map((id) => client.getRun(id)));
  return runs.every(({ publication }) => publication.status === 'published');
}

test('a fork whose worker is killed is finished by the next worker', async () => {
  const path = await system.directoryWith(
    Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`d${n % 40}/f${n}`, `${n}\n`])),
  );
  const first = await system.startWorker();
  const run = await finish(client, {
    plan: plan([bash('echo one > one')], [bash('cat one; echo two > two')]),
    workspace: { source: { type: 'directory', path } },
  });
  await writeFile(join(path, 'unrelated'), '');
  const { run: fork } = await client.forkRun(run.id, { from_step: 1 });
  await until(
    'the fork is being made',
    async () =>
      await readFile(join(system.dataDir, 'runs', fork.id, 'shadow.git/HEAD')).then(
        () => true,
        () => false,
      ),
  );
  await first.signal('SIGKILL');
  const second = await system.startWorker();
  expect(await finished(client, fork.id)).toMatchObject({ status: 'succeeded' });
  expect(await readFile(join(system.tree(fork.id), 'two'), 'utf8')).toBe('two\n');
  expect((await client.diff(fork.id)).files.map((file) => file.path)).toEqual(['one', 'two']);
  await second.signal('SIGKILL');
});

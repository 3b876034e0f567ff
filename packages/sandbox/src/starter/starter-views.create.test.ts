import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { test as anyTest, expect, onTestFinished } from 'vitest';
import { findHostTools } from '../bubblewrap/host-tools.ts';
import { identityOf } from '../bubblewrap/mount-view.ts';
import { bwrapCandidates, isRoot, marker, processesWith, until } from '../testing/host.ts';
import { isInUse, namespaceOf, openViews, starters } from '../testing/views.ts';
import type { ViewRequest } from './protocol.ts';
import { Starter } from './starter.ts';

const tools = findHostTools({ bwrapCandidates, path: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' });
const test = anyTest.skipIf(!isRoot || tools.unshare === null || tools.nsenter === null);

type Request = Omit<ViewRequest, 'kind' | 'id'>;

/** A namespace of its own. */
const works: Request = {
  program: tools.unshare ?? '',
  args: ['--mount', '--', tools.bash, '-c', 'echo ready; read -r _ || true'],
  shows: [{ path: '/usr', identity: identityOf('/usr') ?? '' }],
  trial: { program: tools.nsenter ?? '', lead: [], args: ['--', '/bin/true'] },
};

function openStarter(viewIdleMs?: number): Starter {
  const starter = new Starter({ ...tools, viewIdleMs });
  onTestFinished(() => starter.close());
  return starter;
}

const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `number ${index}`);

async function usable(starter: Starter, key: string, request = works): Promise<number> {
  await until(() => starter.view(key, request) !== null);
  return starter.view(key, request) ?? expect.fail();
}

/** Starts a program that sleeps in a view. `end` resolves with its failure, or with null when it was killed. */
function sleepIn(starter: Starter, view: number) {
  const word = marker();
  const end = Promise.withResolvers<string | null>();
  starter
    .start(
      {
        program: tools.nsenter ?? '',
        args: ['--', tools.bash, '-c', `read -rt 1000 <> <(:); : ${word}`],
        options: { env: {} },
        stdio: [null, null, null],
        niceness: 0,
        view: { id: view, lead: [] },
      },
      () => {},
    )
    .follow({
      started() {},
      listener() {},
      failed: end.resolve,
      ended: () => end.resolve(null),
      lost: () => end.resolve('lost'),
    });
  const pids = () => processesWith(word).filter((pid) => namespaceOf(pid) !== namespaceOf('self'));
  return { pids, end: end.promise };
}

test('a view that cannot be made, that cannot be entered or that shows something else is not used', async () => {
  const starter = openStarter();
  await usable(starter, 'first');
  const [pid] = starters();
  const refused: Record<string, Request> = {
    fails: { ...works, program: '/bin/false' },
    missing: { ...works, program: '/nowhere' },
    untried: { ...works, trial: { ...works.trial, program: '/bin/false' } },
  };
  for (const [key, request] of Object.entries(refused)) expect(starter.view(key, request)).toBeNull();
  const others: Record<string, Request> = {
    exchanged: { ...works, shows: [{ path: '/usr', identity: identityOf('/proc') ?? '' }] },
    gone: { ...works, shows: [{ path: '/nowhere', identity: '' }] },
  };
  for (const [key, request] of Object.entries(others)) expect(starter.view(key, request)).toBeNull();
  // Those that are refused are not counted.
  await Promise.all(many(15).map((key) => usable(starter, key)));
  await until(() => openViews().length === 16);
  for (const [key, request] of Object.entries({ ...refused, ...others })) expect(starter.view(key, request)).toBeNull();
  expect(starters()).toEqual([pid]);
});

test('programs that end without being asked to, or cannot be started, end no starter', async () => {
  const starter = openStarter();
  await usable(starter, 'first');
  const pids = starters();
  const busy = join(mkdtempSync(join(tmpdir(), 'holdpoint-busy-')), 'program');
  const open = openSync(busy, 'w', 0o755); // ETXTBSY
  onTestFinished(() => {
    closeSync(open);
    rmSync(dirname(busy), { recursive: true });
  });
  const args = ['--mount', '--', '/bin/echo', 'ready'];
  for (const key of many(10)) starter.view(key, { ...works, args });
  starter.view('busy', { ...works, program: busy });
  starter.view('busy trial', { ...works, trial: { ...works.trial, program: busy } });
  await usable(starter, 'last');
  expect(starters()).toEqual(pids);
});

test('a view that is not asked for ends, after the programs that were started in it', async () => {
  const starter = openStarter(1000);
  const view = await usable(starter, 'key');
  const { pids, end } = sleepIn(starter, view);
  await until(() => pids().length > 0);
  const [namespace = ''] = openViews();
  expect(namespaceOf(pids()[0] ?? 0)).toBe(namespace);
  // Each question gives it a second more.
  do await delay(1200);
  while (starter.view('key', works) === view);
  await until(() => openViews().length === 2);
  expect(openViews()).toContain(namespace);
  for (const pid of pids()) process.kill(pid, 'SIGKILL');
  expect(await end).toBeNull();
  await until(() => !openViews().includes(namespace) && !isInUse(namespace));
  expect(await sleepIn(starter, view).end).toBe('its view is gone');
});

test('no more than sixteen views are made, and another once one has ended', async () => {
  const starter = openStarter(3000);
  await Promise.all(many(16).map((key) => usable(starter, key)));
  expect(starter.view('more', works)).toBeNull();
  await usable(starter, 'more');
  expect(openViews().length).toBeLessThanOrEqual(16);
});

test('a starter that is killed leaves no view, and the next one makes its own', async () => {
  const starter = openStarter();
  const view = await usable(starter, 'key');
  const { pids, end } = sleepIn(starter, view);
  await until(() => pids().length > 0);
  const [namespace = ''] = openViews();
  const [pid = 0] = starters();
  const [sleeping = 0] = pids();
  process.kill(pid, 'SIGKILL');
  expect(await end).toBe('lost');
  // In a sandbox the kernel ends it with the starter: bubblewrap asks for that.
  process.kill(sleeping, 'SIGKILL');
  await until(() => !isInUse(namespace));
  expect(starter.view('key', works)).toBeNull();
  expect(await usable(starter, 'key')).toBeGreaterThan(view);
});

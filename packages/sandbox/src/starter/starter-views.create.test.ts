import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { test as anyTest, expect, onTestFinished } from 'vitest';
import { findHostTools } from '../bubblewrap/host-tools.ts';
import { identityOf } from '../bubblewrap/identity-of.ts';
import { bwrapCandidates, isRoot, marker, processesWith, until } from '../testing/host.ts';
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
  trial: [tools.nsenter ?? '', '--', '/bin/true'],
};

function openStarter(viewIdleMs?: number): Starter {
  const starter = new Starter({ ...tools, viewIdleMs });
  onTestFinished(() => starter.close());
  return starter;
}

const starters = (): number[] => processesWith(`starter/main.mjs\0${process.pid}\0`);

/** Mount namespaces that the starter of this process has open. */
const openNamespaces = (): string[] =>
  starters()
    .flatMap((pid) => readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`)))
    .filter((link) => link.startsWith('mnt:'));

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // closed meanwhile
  }
}

const namespaces = (): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => linkOf(`/proc/${pid}/ns/mnt`));

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
        view,
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
  const pids = () => processesWith(word).filter((pid) => linkOf(`/proc/${pid}/ns/mnt`) !== linkOf('/proc/self/ns/mnt'));
  return { pids, end: end.promise };
}

test('a view that cannot be made, that cannot be entered or that shows something else is not used', async () => {
  const starter = openStarter();
  await usable(starter, 'first');
  const [pid] = starters();
  const refused: Record<string, Request> = {
    fails: { ...works, program: '/bin/false' },
    missing: { ...works, program: '/nowhere' },
    untried: { ...works, trial: ['/bin/false'] },
  };
  for (const [key, request] of Object.entries(refused)) expect(starter.view(key, request)).toBeNull();
  const others: Record<string, Request> = {
    exchanged: { ...works, shows: [{ path: '/usr', identity: identityOf('/proc') ?? '' }] },
    gone: { ...works, shows: [{ path: '/nowhere', identity: '' }] },
    // It does not wait, so its pid may be that of another process when the starter looks.
    impatient: { ...works, args: ['--mount', '--', '/bin/echo', 'ready'] },
  };
  for (const [key, request] of Object.entries(others)) expect(starter.view(key, request)).toBeNull();
  // Those that are refused are not counted among the four.
  await Promise.all(['second', 'third', 'fourth'].map((key) => usable(starter, key)));
  await until(() => openNamespaces().length === 4);
  for (const [key, request] of Object.entries({ ...refused, ...others })) expect(starter.view(key, request)).toBeNull();
  expect(starters()).toEqual([pid]);
});

test('a view that is not asked for ends, after the programs that were started in it', async () => {
  const starter = openStarter(1000);
  const view = await usable(starter, 'key');
  const { pids, end } = sleepIn(starter, view);
  await until(() => pids().length > 0);
  const [namespace = ''] = openNamespaces();
  const { ino } = statSync(`/proc/${pids()[0]}/ns/mnt`);
  expect(namespace).toBe(`mnt:[${ino}]`);
  // Each question gives it a second more.
  do await delay(1200);
  while (starter.view('key', works) === view);
  await until(() => openNamespaces().length === 2);
  expect(openNamespaces()).toContain(namespace);
  for (const pid of pids()) process.kill(pid, 'SIGKILL');
  expect(await end).toBeNull();
  await until(() => !openNamespaces().includes(namespace) && !namespaces().includes(namespace));
  expect(await sleepIn(starter, view).end).toBe('its view is gone');
});

test('no more than four views are made, and each again once it has ended', async () => {
  const starter = openStarter(1000);
  for (const key of ['a', 'b', 'c', 'd']) await usable(starter, key);
  expect(starter.view('e', works)).toBeNull();
  await usable(starter, 'e');
  expect(openNamespaces().length).toBeLessThanOrEqual(4);
});

test('a starter that is killed leaves no view, and the next one makes its own', async () => {
  const starter = openStarter();
  const view = await usable(starter, 'key');
  const { pids, end } = sleepIn(starter, view);
  await until(() => pids().length > 0);
  const [namespace = ''] = openNamespaces();
  const [pid = 0] = starters();
  const [sleeping = 0] = pids();
  process.kill(pid, 'SIGKILL');
  expect(await end).toBe('lost');
  // In a sandbox the kernel ends it with the starter: bubblewrap asks for that.
  process.kill(sleeping, 'SIGKILL');
  await until(() => !namespaces().includes(namespace));
  expect(starter.view('key', works)).toBeNull();
  expect(await usable(starter, 'key')).toBeGreaterThan(view);
});

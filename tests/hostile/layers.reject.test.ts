import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../harness/index.ts';
import { descendants, openAndClosed, viewsOf } from './host/index.ts';
import { openRepositoryScene, type RepositoryRun, type RepositoryScene } from './host/repository-scene.ts';

/** What a run may try against the layer that its tree shares with other runs, and against its own upper folder. */
const attacks: readonly (readonly [name: string, line: string])[] = [
  ['a device that marks a removed file', 'mknod gone c 0 0; mknod a.txt c 0 0'],
  [
    'attributes of the overlay',
    `python3 -c "
import os
for name in ['trusted.overlay.redirect', 'trusted.overlay.opaque', 'trusted.overlay.metacopy', 'user.overlay.redirect', 'user.overlay.opaque']:
  for path in ['src', 'a.txt', '.']:
    try: os.setxattr(path, name, b'/../../..'); print('set', name) if name.startswith('trusted') else None
    except OSError: pass
"`,
  ],
  ['another mount of it', 'mkdir m; mount --bind /workspace m; mount -t overlay x -o lowerdir=/workspace m'],
  ['an open file that is removed below', 'exec 3<a.txt; rm a.txt; echo more >&3; cat /proc/self/fd/3'],
  ['a folder moved and written', 'mv src moved; echo more >> moved/b.txt; mkdir src; echo new > src/b.txt'],
  ['a hard link written', 'ln a.txt linked; echo more >> linked; chmod 777 linked; touch -d 2000-01-01 linked'],
  [
    'a file written through a mapping',
    `python3 -c "
import mmap, os
m = mmap.mmap(os.open('a.txt', os.O_RDWR), 0); m[0:3] = b'EVI'"`,
  ],
];

const roots = openAndClosed.filter(({ root }) => root);

if (roots.length === 0) test.skip('a tree on a shared layer: only a worker that is root has layers', () => {});

describe.each(roots)('a tree on a shared layer, worker run by $name', (user) => {
  let opened: RepositoryScene;
  let victim: RepositoryRun;
  beforeAll(async () => {
    opened = await openRepositoryScene(user, { layers: 'always' });
    victim = await opened.open('run_victim');
  });
  afterAll(() => opened[Symbol.asyncDispose]());
  const isLayered = () => statSync(victim.mount.path).dev !== statSync(dirname(victim.mount.path)).dev;

  test.each(attacks)('%s changes no other run', async (_name, line) => {
    if (!isLayered()) return;
    const run = await opened.open(`run_${Math.random().toString(36).slice(2)}`);
    expect(await run.attempt(line)).not.toContain('set trusted');
    const seen = await run.run('find . -path ./.git -prune -o -type f -printf "%P\\n" | sort');
    const { id } = await run.snapshot();
    const stored = await opened.workspaces.files({ runId: run.mount.id, snapshot: id });
    expect(stored.map(({ path }) => path).sort()).toEqual(seen.trim().split('\n').sort());
    expect(readFileSync(`${victim.mount.path}/a.txt`, 'utf8')).toBe('one\ntwo\n');
    expect(readFileSync(`${victim.mount.path}/src/b.txt`, 'utf8')).toBe('three\n');
    expect((await victim.snapshot()).id).toBe(victim.base);
  });

  test('no path of the host is seen inside', async () => {
    if (!isLayered()) return;
    const mounts = await victim.run('cat /proc/self/mountinfo');
    expect(mounts).toMatch(/ \/workspace .* overlay /);
    // The folder of a tenant: the project itself may lie in a folder of this name.
    expect(mounts).not.toMatch(/layers\/[0-9a-f]{32}/);
    expect(mounts).not.toContain('upper=/');
    expect(existsSync(`${victim.mount.path}/.not-mounted`)).toBe(false);
  });

  test('commands and the tool host see one tree', async () => {
    const run = await opened.open('run_both');
    await run.write('made.txt', 'by the tool host\n');
    expect(await run.run('cat made.txt; echo more >> a.txt; git status --short')).toContain('by the tool host');
    const first = await run.snapshot();
    expect(first.files_changed).toBe(2);
    await run.run('git mv src moved && git commit -qam moved && sed -i s/three/four/ moved/b.txt');
    expect((await run.snapshot(first.id)).files_changed).toBe(2);
  });
});

const mountsOf = (pid: number | 'self'): string[] => readFileSync(`/proc/${pid}/mountinfo`, 'utf8').trim().split('\n');

const tableOf = (view: string): string =>
  execFileSync('nsenter', [`--mount=${view}`, 'cat', '/proc/self/mountinfo'], { encoding: 'utf8' });

describe.each(roots.filter(({ closed }) => closed))(
  'trees beside those on a shared layer, worker run by $name',
  (user) => {
    test('neither their view nor that of those on a layer holds one on a layer, older or newer', async () => {
      // A tree of few files is a plain folder.
      await using opened = await openRepositoryScene(user, { layers: 'auto' });
      const { worker } = opened.scene;
      const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`f${index}`, 'text\n']));
      const older = await opened.open('run_older', many);
      const deviceOf = ({ mount }: RepositoryRun) =>
        mountsOf('self')
          .find((line) => line.includes(` ${mount.path} `))
          ?.split(' ')[2];
      if (deviceOf(older) === undefined) return;
      const plain = await opened.open('run_plain');
      expect(deviceOf(plain)).toBeUndefined();
      expect(await older.run('cat f1')).toBe('text\n');
      await until('a view of each kind, beside that of the scene', async () => {
        await plain.run('true');
        return viewsOf(worker).length === 3;
      });
      const newer = await opened.open('run_newer', many);
      expect(await newer.run('cat f1')).toBe('text\n');
      expect(await plain.run('cat a.txt')).toBe('one\ntwo\n');
      const tables = viewsOf(worker).map(tableOf);
      expect(tables).toHaveLength(3);
      for (const table of tables) expect(table).not.toContain(' overlay holdpoint ');
      for (const run of [older, newer]) {
        const device = deviceOf(run) ?? expect.fail('not mounted');
        await worker.killAll(run.mount.id);
        await opened.workspaces.discard(run.mount.id);
        expect(existsSync(run.mount.path)).toBe(false);
        const left = descendants(worker.pid).flatMap((pid) =>
          existsSync(`/proc/${pid}/mountinfo`) ? mountsOf(pid) : [],
        );
        expect([...left, ...mountsOf('self')].filter((line) => line.includes(` ${device} `))).toEqual([]);
      }
      expect(await plain.run('cat a.txt')).toBe('one\ntwo\n');
    });
  },
);

import { closeSync, constants, existsSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../harness/index.ts';
import { openAndClosed, processesIn, useScene } from './host/index.ts';

const change = readFileSync(new URL('inside/links.py', import.meta.url), 'utf8');

describe.each(openAndClosed)('links of processes, with a worker of $name', (user) => {
  const { scene, workspace } = useScene(user);

  test('bubblewrap belongs to the user of the worker', () =>
    expect(statSync(scene.bwrap)).toMatchObject({ uid: user.uid, mode: 0o100755 }));

  test.each([
    'chmod 0 /proc/1/exe',
    'chmod 4777 /proc/1/exe',
    'touch -d @0 /proc/1/exe',
    "setfattr -n user.x -v x /proc/1/exe || /usr/bin/python3 -c \"import os; os.setxattr('/proc/1/exe', 'user.x', b'')\"",
    ': >> /proc/1/exe',
    'ln -L /proc/1/exe hard',
    'for p in /proc/[0-9]*; do chmod u+s $p/exe && exit 0; done; exit 1',
  ])('a command cannot change the first program: %s', async (line) => {
    const { end } = await scene.worker.run(workspace, line);
    expect(end).toMatchObject({ status: 'exited', exit_code: 1 });
    await scene.expectIntact();
  });

  test('a command cannot change the files behind /proc/PID links', async () => {
    const { stdout, stderr } = await scene.worker.run(workspace, '/usr/bin/python3 -c "$CHANGE"', {
      env: { CHANGE: change },
      stdin: 'to be read',
    });
    expect({ stdout: stdout.text, stderr: stderr.text }).toEqual({ stdout: '', stderr: 'tried enough\n' });
    await scene.expectIntact();
  });

  test('standard input cannot be made writable', async () => {
    const line = 'chmod 600 /dev/stdin; echo more >> /proc/self/fd/0; cat /dev/stdin; cat';
    const { stdout, stderr } = await scene.worker.run(workspace, line, { stdin: 'as it was' });
    expect(stdout.text).toBe('as it wasas it was');
    expect(stderr.text.match(/Read-only file system/g)).toHaveLength(2);
    await scene.expectIntact();
  });

  test('links of processes inside lead only to mounts of their sandbox', async () => {
    const controller = new AbortController();
    const running = scene.worker.run(workspace, 'touch up; while :; do read -t 1 line; done', {
      signal: controller.signal,
      stdin: 'x',
    });
    await until('the command is up', () => existsSync(join(workspace.path, 'up')));
    await scene.worker.files(workspace).stat('.');
    const inside = processesIn(workspace.path);
    expect(inside.length).toBeGreaterThan(3);
    expect(inside.flatMap(outsideOf)).toEqual([]);
    controller.abort(new Error('seen'));
    await running;
    await scene.worker.killAll(workspace.id);
    await scene.expectIntact();
  });
});

/** Links of a process inside that lead to a mount of the host or to a writable mount, except workspace, memory and devices. */
function outsideOf(pid: number): string[] {
  const mounts = new Map(
    readFileSync(`/proc/${pid}/mountinfo`, 'utf8')
      .trim()
      .split('\n')
      .map((line) => {
        const [id = '', , , , target = '', options = ''] = line.split(' ');
        return [id, { target, options: options.split(',') }];
      }),
  );
  const links = ['exe', 'cwd', 'root', ...readdirSync(`/proc/${pid}/fd`).map((name) => `fd/${name}`)];
  return links.flatMap((name) => {
    const link = `/proc/${pid}/${name}`;
    const found = statSync(link);
    if (found.isFIFO() || found.isSocket() || found.isCharacterDevice()) return [];
    if (!found.isFile() && !found.isDirectory()) return []; // an anonymous inode
    // O_PATH, which Node does not name: gives the mount without opening the file.
    const descriptor = openSync(link, 0o10000000 | constants.O_RDONLY);
    const id = /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1] ?? '';
    closeSync(descriptor);
    const mount = mounts.get(id);
    if (mount?.target === '/workspace' || mount?.options.includes('ro')) return [];
    return [`${link} leads to ${mount?.target ?? 'a mount of the host'}`];
  });
}

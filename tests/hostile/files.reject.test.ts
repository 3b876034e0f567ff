import { execFileSync } from 'node:child_process';
import { linkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { CommandEnd } from '@holdpoint/contract';
import type { WorkspaceMount } from '@holdpoint/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inForm } from './host/form.ts';
import { openScene, type Scene } from './host/scene.ts';
import { users } from './host/users.ts';

interface PathCase {
  name: string;
  path(scene: Scene): string;
  /** Codes of stat, read, list, glob and write, or one code for all. `ok`: the operation is harmless. */
  expected: string | [stat: string, read: string, list: string, glob: string, write: string];
  bounded?: boolean;
}

const pathCases: PathCase[] = [
  { name: 'the parent directory', path: () => '../canary', expected: 'EOUTSIDE', bounded: true },
  { name: 'a file of the host', path: ({ canary }) => canary, expected: 'EOUTSIDE', bounded: true },
  { name: 'an absolute path of the system', path: () => '/etc/passwd', expected: 'EOUTSIDE', bounded: true },
  { name: 'a new file in /usr', path: ({ word }) => `/usr/bin/${word}`, expected: 'EOUTSIDE', bounded: true },
  { name: 'a link to /etc/passwd', path: () => 'passwd', expected: 'EOUTSIDE', bounded: true },
  { name: 'a link to a file of the host', path: () => 'to-canary', expected: 'EOUTSIDE', bounded: true },
  { name: 'a linked directory of the host', path: () => 'to-outside/canary', expected: 'EOUTSIDE', bounded: true },
  { name: 'a new file in a linked directory', path: ({ word }) => `to-outside/${word}`, expected: 'EOUTSIDE' },
  { name: 'a chain of links', path: () => 'chain', expected: 'EOUTSIDE' },
  { name: 'a link upwards', path: () => 'up/canary', expected: 'EOUTSIDE' },
  {
    name: "another run's workspace",
    path: ({ neighbour }) => `${neighbour.path}/api-key`,
    expected: 'EOUTSIDE',
    bounded: true,
  },
  { name: "a link to another run's workspace", path: () => 'neighbour/api-key', expected: 'EOUTSIDE' },
  { name: '/proc/1/root', path: ({ canary }) => `/proc/1/root${canary}`, expected: 'EOUTSIDE', bounded: true },
  { name: 'a link to /proc/1/root', path: () => 'first-root/etc/passwd', expected: 'EOUTSIDE' },
  { name: 'a link to /proc/self/cwd', path: () => 'own-directory/canary', expected: 'EOUTSIDE' },
  { name: 'a link to /proc/self/fd', path: () => 'own-descriptors/0', expected: 'EOUTSIDE' },
  { name: 'a name that begins like the root', path: () => '/workspace-1/api-key', expected: 'EOUTSIDE' },
  { name: 'a climb through the root', path: () => '/workspace/../etc/passwd', expected: 'EOUTSIDE' },
  { name: 'a climb from below', path: () => 'plain/../../canary', expected: 'EOUTSIDE' },
  { name: 'a cycle of links', path: () => 'circle-a', expected: 'ELOOP', bounded: true },
  { name: 'a link to itself', path: () => 'itself/x', expected: 'ELOOP' },
  { name: 'a NUL byte', path: () => 'plain/a\0b', expected: 'EINVAL', bounded: true },
  { name: 'a lone surrogate, which has no UTF-8', path: () => 'a\ud800b', expected: 'EINVAL' },
  { name: 'an empty path', path: () => '', expected: 'EINVAL' },
  { name: 'an overlong name', path: () => 'x'.repeat(256), expected: 'ENAMETOOLONG', bounded: true },
  { name: 'an overlong path', path: () => `${'d/'.repeat(2100)}x`, expected: 'ENAMETOOLONG' },
  { name: 'a FIFO', path: () => 'fifo', expected: ['ok', 'ESPECIAL', 'ENOTDIR', 'ENOTDIR', 'ESPECIAL'], bounded: true },
  {
    name: 'a socket',
    path: () => 'socket',
    expected: ['ok', 'ESPECIAL', 'ENOTDIR', 'ENOTDIR', 'ESPECIAL'],
    bounded: true,
  },
  { name: 'a link to a FIFO', path: () => 'to-fifo', expected: ['ok', 'ESPECIAL', 'ENOTDIR', 'ENOTDIR', 'ESPECIAL'] },
  { name: 'a hard link to a file of the host', path: () => 'hard', expected: ['ok', 'ok', 'ENOTDIR', 'ENOTDIR', 'ok'] },
];

const exited = (exit_code: number): CommandEnd => ({ status: 'exited', exit_code, signal: null });

interface LineCase {
  name: string;
  line(scene: Scene): string;
  /** Pattern of stderr. */
  expected: RegExp;
  end?: CommandEnd;
  wall_ms?: number;
  bounded?: boolean;
}

const readOnly = /Read-only file system/;
const lent = /Read-only file system|Permission denied/;
const missing = /No such file or directory/;
const lineCases: LineCase[] = [
  { name: 'a file in ../', line: ({ word }) => `echo x > ../${word}`, expected: readOnly, bounded: true },
  { name: 'a file in /usr', line: ({ word }) => `echo x > /usr/bin/${word}`, expected: readOnly, bounded: true },
  { name: 'a file in /etc', line: ({ word }) => `echo x > /etc/${word}`, expected: readOnly },
  { name: 'a file in /dev', line: ({ word }) => `echo x > /dev/${word}`, expected: readOnly },
  { name: 'a program of /usr', line: () => 'echo x >> /usr/bin/env', expected: lent },
  { name: 'a link to /etc/passwd', line: () => 'echo x >> passwd', expected: lent, bounded: true },
  {
    name: 'a script of the read-only mounts',
    line: () => 'echo x >> /opt/holdpoint/inside/enter.sh',
    expected: lent,
    bounded: true,
  },
  { name: 'a file of the host', line: ({ canary }) => `echo x > ${canary}`, expected: missing, bounded: true },
  { name: 'a link to a file of the host', line: () => 'echo x > to-canary', expected: missing },
  { name: 'a linked directory of the host', line: ({ word }) => `echo x > to-outside/${word}`, expected: missing },
  {
    name: "another run's workspace",
    line: ({ neighbour, word }) => `echo x > ${neighbour.path}/${word}`,
    expected: missing,
    bounded: true,
  },
  {
    name: '/proc/1/root',
    line: ({ canary }) => `echo x > /proc/1/root${canary}`,
    expected: /No such file|Permission denied/,
    bounded: true,
  },
  {
    name: '/proc/1/cwd',
    line: ({ word }) => `echo x > /proc/1/cwd/../${word}`,
    expected: /Read-only|Permission denied/,
  },
  { name: '/proc/self/cwd', line: ({ word }) => `echo x > /proc/self/cwd/../${word}`, expected: readOnly },
  {
    name: 'a hard link to a file of the host',
    line: ({ canary }) => `ln ${canary} stolen`,
    expected: missing,
    bounded: true,
  },
  { name: 'a hard link to a program', line: () => 'ln /usr/bin/env stolen', expected: /cross-device|not permitted/ },
  {
    name: 'a hard link out',
    line: ({ word }) => `ln hard /usr/${word}`,
    expected: /cross-device|Read-only|not permitted/,
  },
  { name: 'a move out', line: ({ word }) => `mv plain /${word}`, expected: readOnly },
  { name: 'a block device', line: () => 'mknod disk b 254 0', expected: /not permitted/, bounded: true },
  { name: 'a character device', line: () => 'mknod memory c 1 1', expected: /not permitted/ },
  { name: "the host's disk", line: () => 'head -c 1 /dev/vda /dev/sda /dev/mem /dev/kmsg', expected: missing },
  { name: 'a cycle of links', line: () => 'cat circle-a', expected: /Too many levels/, bounded: true },
  { name: 'an overlong name', line: () => `touch ${'x'.repeat(256)}`, expected: /File name too long/, bounded: true },
  { name: 'a socket', line: () => 'cat socket', expected: /No such device or address/ },
  {
    name: 'a FIFO without a writer',
    line: () => 'exec cat fifo',
    expected: /^$/,
    end: { status: 'timed_out', after_ms: 400 },
    wall_ms: 400,
    bounded: true,
  },
  { name: 'a new root', line: () => '/usr/sbin/chroot . /bin/true', expected: /not permitted/ },
  {
    name: 'a writable /usr',
    line: () => 'mount -o remount,rw /usr',
    expected: /not permitted|superuser|permission denied/i,
  },
  {
    name: "the kernel's settings",
    line: () =>
      'for f in core_pattern modprobe sysrq; do test -w /proc/sys/kernel/$f && exit 0; done; test -w /proc/sysrq-trigger',
    expected: /^$/,
  },
];

describe.each(users)('files, with a worker of $name', (user) => {
  let scene: Scene;
  let workspace: WorkspaceMount;
  let socket: Server;
  beforeAll(async () => {
    scene = await openScene(user);
    workspace = scene.makeWorkspace();
    const traps = [
      ...[
        'mkdir plain',
        'ln -s /etc/passwd passwd',
        `ln -s ${scene.canary} to-canary`,
        `ln -s ${scene.outside} to-outside`,
      ],
      ...['ln -s to-outside/canary chain', 'ln -s ../.. up', `ln -s ${scene.neighbour.path} neighbour`],
      ...[
        'ln -s /proc/1/root first-root',
        'ln -s /proc/self/cwd/.. own-directory',
        'ln -s /proc/self/fd own-descriptors',
      ],
      ...[
        'ln -s circle-b circle-a',
        'ln -s circle-a circle-b',
        'ln -s itself/x itself',
        'mkfifo fifo',
        'ln -s fifo to-fifo',
      ],
      ...["touch $'invalid-\\xff\\xfe'", 'touch sandwich'],
    ];
    const { end } = await scene.worker.run(workspace, traps.join(' && '));
    expect(end).toEqual(exited(0));
    socket = createServer().listen(join(workspace.path, 'socket'));
    const linked = join(scene.directory, 'linked');
    writeFileSync(linked, 'untouched', { mode: 0o666 });
    linkSync(linked, join(workspace.path, 'hard'));
  });
  afterAll(async () => {
    socket?.close();
    await scene[Symbol.asyncDispose]();
  });

  test.each(inForm(pathCases))('the tool host refuses $name', async ({ path: pathOf, expected }) => {
    const files = scene.worker.files(workspace);
    const path = pathOf(scene);
    const answers = await Promise.allSettled([
      ...[files.stat(path), files.read(path), files.list(path), files.glob({ patterns: ['*'], cwd: path })],
      files.write(path, Buffer.from('hostile'), { expect: { any: true } }),
    ]);
    const heard = answers.map((answer) => (answer.status === 'fulfilled' ? 'ok' : answer.reason.code));
    expect(heard).toEqual(Array.isArray(expected) ? expected : Array.from({ length: 5 }, () => expected));
    expect(execFileSync('cat', [join(scene.directory, 'linked')], { encoding: 'utf8' })).toBe('untouched');
    await scene.expectIntact();
  });

  test.each(inForm(lineCases))('a command cannot use or make $name', async ({ line, expected, end, wall_ms }) => {
    const {
      end: ended,
      stdout,
      stderr,
    } = await scene.worker.run(workspace, line(scene), {
      ...(wall_ms === undefined ? {} : { limits: { wall_ms } }),
    });
    if (end) expect(ended).toEqual(end);
    else expect(ended).toEqual(exited(expect.toSatisfy((code: number) => code !== 0) as number));
    expect(stdout.text).toBe('');
    expect(stderr.text).toMatch(expected);
    await scene.expectIntact();
  });

  test('invalid UTF-8 names are listed, and opening them is ENOENT', async () => {
    const files = scene.worker.files(workspace);
    const { entries } = await files.list('.');
    const [odd] = entries.filter(({ name }) => name.startsWith('invalid-'));
    expect(odd?.name).toBe('invalid-\ufffd\ufffd');
    await expect(files.read(odd?.name ?? '')).rejects.toMatchObject({ name: 'FileError', code: 'ENOENT' });
    await scene.expectIntact();
  });
});

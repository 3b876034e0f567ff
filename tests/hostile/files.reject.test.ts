import { execFileSync } from 'node:child_process';
import { linkSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { CommandEnd } from '@holdpoint/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cases, exited, type InScene, inForm, inScene, openAndClosed, timedOut, useScene } from './host/index.ts';

/** `expected`: codes of stat, read, list, glob and write, or one code for all. `ok`: the operation is harmless. */
type PathCase = [
  name: string,
  path: InScene,
  expected: string | [stat: string, read: string, list: string, glob: string, write: string],
];

const pathCases: Cases<PathCase> = {
  bounded: [
    ['the parent directory', '../canary', 'EOUTSIDE'],
    ['a file of the host', ({ canary }) => canary, 'EOUTSIDE'],
    ['an absolute path of the system', '/etc/passwd', 'EOUTSIDE'],
    ['a new file in /usr', ({ word }) => `/usr/bin/${word}`, 'EOUTSIDE'],
    ['a link to /etc/passwd', 'passwd', 'EOUTSIDE'],
    ['a link to a file of the host', 'to-canary', 'EOUTSIDE'],
    ['a linked directory of the host', 'to-outside/canary', 'EOUTSIDE'],
    ["another run's workspace", ({ neighbour }) => `${neighbour.path}/api-key`, 'EOUTSIDE'],
    ['/proc/1/root', ({ canary }) => `/proc/1/root${canary}`, 'EOUTSIDE'],
    ['a cycle of links', 'circle-a', 'ELOOP'],
    ['a NUL byte', 'plain/a\0b', 'EINVAL'],
    ['an overlong name', 'x'.repeat(256), 'ENAMETOOLONG'],
    ['a FIFO', 'fifo', ['ok', 'ESPECIAL', 'ENOTDIR', 'ENOTDIR', 'ESPECIAL']],
    ['a socket', 'socket', ['ok', 'ESPECIAL', 'ENOTDIR', 'ENOTDIR', 'ESPECIAL']],
  ],
  full: [
    ['a new file in a linked directory', ({ word }) => `to-outside/${word}`, 'EOUTSIDE'],
    ['a chain of links', 'chain', 'EOUTSIDE'],
    ['a link upwards', 'up/canary', 'EOUTSIDE'],
    ["a link to another run's workspace", 'neighbour/api-key', 'EOUTSIDE'],
    ['a link to /proc/1/root', 'first-root/etc/passwd', 'EOUTSIDE'],
    ['a link to /proc/self/cwd', 'own-directory/canary', 'EOUTSIDE'],
    ['a link to /proc/self/fd', 'own-descriptors/0', 'EOUTSIDE'],
    ['a name that begins like the root', '/workspace-1/api-key', 'EOUTSIDE'],
    ['a climb through the root', '/workspace/../etc/passwd', 'EOUTSIDE'],
    ['a climb from below', 'plain/../../canary', 'EOUTSIDE'],
    ['a link to itself', 'itself/x', 'ELOOP'],
    ['a lone surrogate, which has no UTF-8', 'a\ud800b', 'EINVAL'],
    ['an empty path', '', 'EINVAL'],
    ['an overlong path', `${'d/'.repeat(2100)}x`, 'ENAMETOOLONG'],
    ['a link to a FIFO', 'to-fifo', ['ok', 'ESPECIAL', 'ENOTDIR', 'ENOTDIR', 'ESPECIAL']],
    ['a hard link to a file of the host', 'hard', ['ok', 'ok', 'ENOTDIR', 'ENOTDIR', 'ok']],
  ],
};

/** `expected`: pattern of stderr. */
type LineCase = [name: string, line: InScene, expected: RegExp, more?: { end: CommandEnd; wall_ms: number }];

const readOnly = /Read-only file system/;
const lent = /Read-only file system|Permission denied/;
const missing = /No such file or directory/;
const lineCases: Cases<LineCase> = {
  bounded: [
    ['a file in ../', ({ word }) => `echo x > ../${word}`, readOnly],
    ['a file in /usr', ({ word }) => `echo x > /usr/bin/${word}`, readOnly],
    ['a link to /etc/passwd', 'echo x >> passwd', lent],
    ['a script of the read-only mounts', 'echo x >> /opt/holdpoint/inside/enter.sh', lent],
    ['a file of the host', ({ canary }) => `echo x > ${canary}`, missing],
    ["another run's workspace", ({ neighbour, word }) => `echo x > ${neighbour.path}/${word}`, missing],
    ['/proc/1/root', ({ canary }) => `echo x > /proc/1/root${canary}`, /No such file|Permission denied/],
    ['a hard link to a file of the host', ({ canary }) => `ln ${canary} stolen`, missing],
    ['a block device', 'mknod disk b 254 0', /not permitted/],
    ['a cycle of links', 'cat circle-a', /Too many levels/],
    ['an overlong name', `touch ${'x'.repeat(256)}`, /File name too long/],
    ['a FIFO without a writer', 'exec cat fifo', /^$/, { end: timedOut(400), wall_ms: 400 }],
  ],
  full: [
    ['a file in /etc', ({ word }) => `echo x > /etc/${word}`, readOnly],
    ['a file in /dev', ({ word }) => `echo x > /dev/${word}`, readOnly],
    ['a program of /usr', 'echo x >> /usr/bin/env', lent],
    ['a link to a file of the host', 'echo x > to-canary', missing],
    ['a linked directory of the host', ({ word }) => `echo x > to-outside/${word}`, missing],
    ['/proc/1/cwd', ({ word }) => `echo x > /proc/1/cwd/../${word}`, /Read-only|Permission denied/],
    ['/proc/self/cwd', ({ word }) => `echo x > /proc/self/cwd/../${word}`, readOnly],
    ['a hard link to a program', 'ln /usr/bin/env stolen', /cross-device|not permitted/],
    ['a hard link out', ({ word }) => `ln hard /usr/${word}`, /cross-device|Read-only|not permitted/],
    ['a move out', ({ word }) => `mv plain /${word}`, readOnly],
    ['a character device', 'mknod memory c 1 1', /not permitted/],
    ["the host's disk", 'head -c 1 /dev/vda /dev/sda /dev/mem /dev/kmsg', missing],
    ['a socket', 'cat socket', /No such device or address/],
    ['a new root', '/usr/sbin/chroot . /bin/true', /not permitted/],
    ['a writable /usr', 'mount -o remount,rw /usr', /not permitted|superuser|permission denied/i],
    [
      "the kernel's settings",
      'for f in core_pattern modprobe sysrq; do test -w /proc/sys/kernel/$f && exit 0; done; test -w /proc/sysrq-trigger',
      /^$/,
    ],
  ],
};

describe.each(openAndClosed)('files, with a worker of $name', (user) => {
  const { scene, workspace } = useScene(user);
  let linked: string;
  let socket: Server;
  beforeAll(async () => {
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
    // The kernel links no file of the host into a tree on a layer.
    const isLayered = statSync(workspace.path).dev !== statSync(scene.directory).dev;
    linked = join(isLayered ? workspace.path : scene.directory, 'linked');
    writeFileSync(linked, 'untouched', { mode: 0o666 });
    linkSync(linked, join(workspace.path, 'hard'));
  });
  afterAll(() => void socket?.close());

  test.each(inForm(pathCases))('the tool host refuses %s', async (_, pathOf, expected) => {
    const files = scene.worker.files(workspace);
    const path = inScene(pathOf, scene);
    const answers = await Promise.allSettled([
      ...[files.stat(path), files.read(path), files.list(path), files.glob({ patterns: ['*'], cwd: path })],
      files.write(path, Buffer.from('hostile'), { expect: { any: true } }),
    ]);
    const heard = answers.map((answer) => (answer.status === 'fulfilled' ? 'ok' : answer.reason.code));
    expect(heard).toEqual(Array.isArray(expected) ? expected : Array.from({ length: 5 }, () => expected));
    expect(execFileSync('cat', [linked], { encoding: 'utf8' })).toBe('untouched');
    await scene.expectIntact();
  });

  test.each(inForm(lineCases))('a command cannot use or make %s', async (_, line, expected, more) => {
    const limits = more && { wall_ms: more.wall_ms };
    const { end, stdout, stderr } = await scene.worker.run(workspace, inScene(line, scene), { limits });
    if (more) expect(end).toEqual(more.end);
    else expect(end).toEqual(exited(expect.toSatisfy((code: number) => code !== 0) as number));
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

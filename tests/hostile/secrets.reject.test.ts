import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { WorkspaceMount } from '@holdpoint/sandbox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../harness/until.ts';
import { inForm } from './host/form.ts';
import { argumentsOf, pids } from './host/process-table.ts';
import { openScene, type Scene } from './host/scene.ts';
import { users } from './host/users.ts';

interface SecretCase {
  name: string;
  line(scene: Scene): string;
  /** Pattern of stdout. */
  expected: RegExp;
  bounded?: boolean;
}

const nothing = /^$/;
const secretCases: SecretCase[] = [
  {
    name: 'the environment of the first process',
    line: () => 'tr "\\0" "," < /proc/1/environ',
    expected: /^PWD=\/workspace,$/,
    bounded: true,
  },
  {
    name: 'the environment of every visible process',
    line: () => 'cat /proc/[0-9]*/environ | tr "\\0" "\\n" | grep -E "API_KEY|swordfish|REDIS_URL"',
    expected: nothing,
    bounded: true,
  },
  {
    name: 'its own environment',
    line: () => 'env -0 | tr "\\0" "\\n" | cut -d= -f1 | LC_ALL=C sort | tr "\\n" " "',
    expected:
      /^GIT_ATTR_NOSYSTEM GIT_CONFIG_COUNT (GIT_CONFIG_KEY_\d )+GIT_CONFIG_SYSTEM (GIT_CONFIG_VALUE_\d )+GIT_EDITOR GIT_PAGER GIT_SEQUENCE_EDITOR GIT_TERMINAL_PROMPT HOME LANG PATH PWD SHLVL TMPDIR _ $/,
  },
  {
    name: 'the arguments of every visible process',
    line: () =>
      '[[ $(cat /proc/[0-9]*/cmdline | tr "\\0" " ") =~ sword"fish"|--"bind"|work"space-" ]] && echo "$BASH_REMATCH"; true',
    expected: nothing,
    bounded: true,
  },
  {
    name: 'more processes than its own',
    line: () => 'ls -d /proc/[0-9]* | wc -l',
    expected: /^[1-6]\n$/,
    bounded: true,
  },
  {
    name: 'the file with the API key',
    line: ({ neighbour }) => `cat ${neighbour.path}/api-key /proc/1/root${neighbour.path}/api-key`,
    expected: nothing,
    bounded: true,
  },
  { name: 'the directory that holds everything', line: ({ directory }) => `ls -A ${directory}`, expected: nothing },
  {
    name: "the sandbox's own records",
    line: ({ stateDir }) => `ls -A ${stateDir}; cat ${stateDir}/*`,
    expected: nothing,
  },
  {
    name: "the queue's socket",
    line: ({ directory }) => `stat ${directory}/redis.sock`,
    expected: nothing,
    bounded: true,
  },
  { name: 'homes, logs and mail', line: () => 'ls -A /root /home /var /run /mnt /srv /boot /sys', expected: nothing },
  {
    name: "the host's users",
    line: () => 'cut -d: -f1 /etc/passwd | tr "\\n" " "; cat /etc/shadow',
    expected: /^(root )?(nobody )?(sandbox )?(nobody )?$/,
  },
  {
    name: 'a secret anywhere',
    line: () => 'grep -rIls swordfish / --exclude-dir=proc --exclude-dir=usr --exclude-dir=opt',
    expected: nothing,
  },
  {
    name: 'a secret in what processes map',
    line: () => 'for f in /proc/[0-9]*/{mountinfo,maps,status,cgroup,mountstats}; do grep -l swordfish $f; done',
    expected: nothing,
  },
  { name: 'the memory of the first process', line: () => 'cat /proc/1/mem /proc/kcore /dev/mem', expected: nothing },
  { name: 'keys of the kernel', line: () => 'grep -c . /proc/keys', expected: /^0\n$|^$/ },
  { name: "the host's name", line: () => 'uname -n', expected: /^sandbox\n$/ },
  {
    name: 'processes outside, by their number',
    line: ({ worker, bystander }) => `ls /proc/${worker.pid}/ /proc/${bystander}/`,
    expected: nothing,
  },
];

describe.each(users)('secrets, with a worker of $name', (user) => {
  let scene: Scene;
  let workspace: WorkspaceMount;
  let redis: Server;
  beforeAll(async () => {
    scene = await openScene(user);
    workspace = scene.makeWorkspace();
    redis = createServer().listen(join(scene.directory, 'redis.sock'));
    await once(redis, 'listening');
  });
  afterAll(async () => {
    redis.close();
    await scene[Symbol.asyncDispose]();
  });

  test('outside, the secret is visible', () => {
    expect(argumentsOf(scene.bystander)).toContain(scene.secret);
  });

  test.each(inForm(secretCases))('a command does not see $name', async ({ line, expected }) => {
    const { end, stdout } = await scene.worker.run(workspace, line(scene));
    expect(end.status).toBe('exited');
    expect(stdout.text).toMatch(expected);
    expect(stdout.text).not.toContain(scene.secret);
    await scene.expectIntact();
  });

  test('a tool host does not read secrets', async () => {
    const files = scene.worker.files(workspace);
    const paths = ['/proc/self/environ', '/proc/1/environ', '/proc/self/cmdline', `${scene.neighbour.path}/api-key`];
    for (const path of paths) await expect(files.read(path)).rejects.toMatchObject({ code: 'EOUTSIDE' });
    await scene.expectIntact();
  });

  test('unread output of a command does not reach another command', async () => {
    const other = scene.makeWorkspace();
    for (let round = 0; round < 5; round++) {
      const loud = await scene.worker.run(workspace, 'yes swordfish & yes swordfish >&2', {
        limits: { output_bytes: 100_000 },
      });
      expect(loud.end).toEqual({ status: 'quota', quota: 'output', limit: 100_000 });
      const heard = await Promise.all(
        Array.from({ length: 3 }, () => scene.worker.run(other, 'echo out; echo err >&2')),
      );
      for (const { stdout, stderr } of heard) expect([stdout.text, stderr.text]).toEqual(['out\n', 'err\n']);
    }
    await scene.expectIntact();
  });

  test("no process arguments on this host contain a command's environment or input", async () => {
    const given = `given-${scene.word}`;
    const controller = new AbortController();
    const running = scene.worker.run(workspace, 'touch up; while :; do read -t 1 line; done', {
      env: { TOKEN: given },
      stdin: given,
      signal: controller.signal,
    });
    await until('the command is up', () => existsSync(join(workspace.path, 'up')));
    expect(pids().filter((pid) => argumentsOf(pid).includes(given))).toEqual([]);
    controller.abort(new Error('seen'));
    await running;
  });
});

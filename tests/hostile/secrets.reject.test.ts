import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../harness/index.ts';
import {
  argumentsOf,
  type Cases,
  type InScene,
  inForm,
  inScene,
  openAndClosed,
  pids,
  quota,
  useScene,
} from './host/index.ts';

/** `expected`: pattern of stdout. */
type SecretCase = [name: string, line: InScene, expected: RegExp];

const nothing = /^$/;
const secretCases: Cases<SecretCase> = {
  bounded: [
    ['the environment of the first process', 'tr "\\0" "," < /proc/1/environ', /^PWD=\/workspace,$/],
    [
      'the environment of every visible process',
      'cat /proc/[0-9]*/environ | tr "\\0" "\\n" | grep -E "API_KEY|swordfish|REDIS_URL"',
      nothing,
    ],
    [
      'the arguments of every visible process',
      '[[ $(cat /proc/[0-9]*/cmdline | tr "\\0" " ") =~ sword"fish"|--"bind"|work"space-" ]] && echo "$BASH_REMATCH"; true',
      nothing,
    ],
    ['more processes than its own', 'ls -d /proc/[0-9]* | wc -l', /^[1-6]\n$/],
    [
      'the file with the API key',
      ({ neighbour }) => `cat ${neighbour.path}/api-key /proc/1/root${neighbour.path}/api-key`,
      nothing,
    ],
    ["the queue's socket", ({ directory }) => `stat ${directory}/redis.sock`, nothing],
  ],
  full: [
    [
      'its own environment',
      'env -0 | tr "\\0" "\\n" | cut -d= -f1 | LC_ALL=C sort | tr "\\n" " "',
      /^GIT_ATTR_NOSYSTEM GIT_CONFIG_COUNT (GIT_CONFIG_KEY_\d )+GIT_CONFIG_SYSTEM (GIT_CONFIG_VALUE_\d )+GIT_EDITOR GIT_PAGER GIT_SEQUENCE_EDITOR GIT_TERMINAL_PROMPT HOME LANG PATH PWD SHLVL TMPDIR _ $/,
    ],
    ['the directory that holds everything', ({ directory }) => `ls -A ${directory}`, nothing],
    ["the sandbox's own records", ({ stateDir }) => `ls -A ${stateDir}; cat ${stateDir}/*`, nothing],
    ['homes, logs and mail', 'ls -A /root /home /var /run /mnt /srv /boot /sys', nothing],
    [
      "the host's users",
      'cut -d: -f1 /etc/passwd | tr "\\n" " "; cat /etc/shadow',
      /^(root )?(nobody )?(sandbox )?(nobody )?$/,
    ],
    ['a secret anywhere', 'grep -rIls swordfish / --exclude-dir=proc --exclude-dir=usr --exclude-dir=opt', nothing],
    [
      'a secret in what processes map',
      'for f in /proc/[0-9]*/{mountinfo,maps,status,cgroup,mountstats}; do grep -l swordfish $f; done',
      nothing,
    ],
    ['the memory of the first process', 'cat /proc/1/mem /proc/kcore /dev/mem', nothing],
    ['keys of the kernel', 'grep -c . /proc/keys', /^0\n$|^$/],
    ["the host's name", 'uname -n', /^sandbox\n$/],
    [
      'processes outside, by their number',
      ({ worker, bystander }) => `ls /proc/${worker.pid}/ /proc/${bystander}/`,
      nothing,
    ],
  ],
};

describe.each(openAndClosed)('secrets, with a worker of $name', (user) => {
  const { scene, workspace } = useScene(user);
  let redis: Server;
  beforeAll(async () => {
    redis = createServer().listen(join(scene.directory, 'redis.sock'));
    await once(redis, 'listening');
  });
  afterAll(() => void redis.close());

  test('outside, the secret is visible', () => expect(argumentsOf(scene.bystander)).toContain(scene.secret));

  test.each(inForm(secretCases))('a command does not see %s', async (_, line, expected) => {
    const { end, stdout } = await scene.worker.run(workspace, inScene(line, scene));
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
        ...{ limits: { output_bytes: 100_000 }, over_output: 'kill' },
      });
      expect(loud.end).toEqual(quota('output', 100_000));
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

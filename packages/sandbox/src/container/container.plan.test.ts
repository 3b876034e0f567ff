import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { gitEnvironment } from '../git-environment.ts';
import { resolveLimits } from '../limits.ts';
import { openSandbox } from '../open-sandbox.ts';
import { ProcessRecords } from '../process/records.ts';
import type { TreeRequest } from '../tree.ts';
import { containerDriver } from './driver.ts';
import { findEngine } from './engine.ts';
import { type ContainerPlan, containerEnvironment, runArguments } from './run-arguments.ts';

const request: TreeRequest = {
  label: null,
  workspace: { id: 'run_1', path: '/data/run_1/tree', uid: 200_007, gid: 200_008 },
  argv: ['/bin/bash', '-c', 'echo "$SECRET"'],
  cwd: 'a/b',
  env: { SECRET: 'hidden-value' },
  limits: resolveLimits({ processes: 9, memory_bytes: 1000, cpu_percent: 150, cpu_seconds: 5, file_bytes: 77 }),
  stdin: null,
  egress: null,
  toolHost: false,
};
const plan: ContainerPlan = {
  image: 'debian:12',
  runtime: null,
  mounts: [{ host: '/usr/local/bin/node', inside: '/opt/holdpoint/node/bin/node' }],
  path: ['/opt/holdpoint/node/bin'],
  tmpBytes: 64,
};
const names = { container: 'holdpoint-x', idFile: '/state/x.id' };

/** The value, or values, of an option. */
const valuesOf = (args: readonly string[], option: string) =>
  args.flatMap((arg, index) => (arg === option ? [args[index + 1]] : []));

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdpoint-container-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

test('a container has no network, no privileges, a read-only root, and the limits of the command', () => {
  const args = runArguments(plan, request, names);
  expect(args.slice(0, 2)).toEqual(['run', '--rm']);
  for (const [option, value] of [
    ['--network', 'none'],
    ['--cap-drop', 'ALL'],
    ['--security-opt', 'no-new-privileges'],
    ['--user', '200007:200008'],
    ['--pids-limit', '9'],
    ['--memory', '1000'],
    ['--memory-swap', '1000'],
    ['--cpus', '1.50'],
    ['--workdir', '/workspace/a/b'],
    ['--label', 'holdpoint.workspace=run_1'],
  ] as const) {
    expect(valuesOf(args, option)).toEqual([value]);
  }
  expect(args).toContain('--read-only');
  expect(valuesOf(args, '--ulimit')).toEqual(['core=0', 'fsize=77', 'nofile=1024', 'cpu=5:6']);
  expect(valuesOf(args, '--volume')).toEqual([
    '/data/run_1/tree:/workspace:rw',
    '/usr/local/bin/node:/opt/holdpoint/node/bin/node:ro',
  ]);
  expect(args.slice(-5)).toEqual(['--entrypoint', '/bin/bash', 'debian:12', '-c', 'echo "$SECRET"']);
});

test('values of the environment are not among the arguments, and none may steer the client', () => {
  const args = runArguments(plan, request, names);
  expect(args.join(' ')).not.toContain('hidden-value');
  expect(valuesOf(args, '--env')).toEqual([
    ...['PATH', 'HOME', 'LANG', 'TMPDIR', ...Object.keys(gitEnvironment('')), 'SECRET'],
  ]);
  expect(containerEnvironment(plan, request.env)).toMatchObject({ SECRET: 'hidden-value', HOME: '/tmp' });
  expect(() => containerEnvironment(plan, { DOCKER_HOST: 'tcp://elsewhere' })).toThrow(
    expect.objectContaining({ code: 'ECOMMANDINVALID' }),
  );
});

test('a repository is writable but for what is fixed, and a tool host only reads it', () => {
  const path = join(directory, 'with-repository');
  const fixed = join(directory, 'fixed');
  for (const folder of [join(path, '.git'), fixed]) {
    mkdirSync(join(folder, 'hooks'), { recursive: true });
    writeFileSync(join(folder, 'config'), '');
  }
  const workspace = { ...request.workspace, path, repository: { fixed, objects: directory } };
  const mounts = (toolHost: boolean) =>
    valuesOf(runArguments(plan, { ...request, workspace, toolHost }, names), '--volume').filter((one) =>
      /:\/(workspace|holdpoint)/.test(one ?? ''),
    );
  expect(mounts(false)).toEqual([
    `${path}:/workspace:rw`,
    `${path}/.git:/workspace/.git:rw`,
    `${fixed}/config:/workspace/.git/config:ro`,
    `${fixed}/hooks:/workspace/.git/hooks:ro`,
    `${directory}:/holdpoint/objects:ro`,
  ]);
  expect(mounts(true)).toEqual([`${path}:/workspace:rw`, `${path}/.git:/workspace/.git:ro`]);
  rmSync(join(path, '.git/config'));
  symlinkSync('/etc/passwd', join(path, '.git/config'));
  expect(() => mounts(false)).toThrow(expect.objectContaining({ code: 'ESANDBOXSETUP' }));
});

test('standard input is only connected where there is one; gVisor is a runtime', () => {
  expect(runArguments(plan, request, names)).not.toContain('--interactive');
  expect(runArguments(plan, { ...request, stdin: '' }, names)).toContain('--interactive');
  expect(runArguments(plan, { ...request, toolHost: true }, names)).toContain('--interactive');
  expect(valuesOf(runArguments(plan, request, names), '--runtime')).toEqual([]);
  expect(valuesOf(runArguments({ ...plan, runtime: 'runsc' }, request, names), '--runtime')).toEqual(['runsc']);
});

test('a command with a label is found by it, to be ended, paused and unpaused', async () => {
  expect(valuesOf(runArguments(plan, { ...request, label: 'task_1' }, names), '--label')).toEqual([
    'holdpoint.workspace=run_1',
    'holdpoint.command=task_1',
  ]);
  const program = join(directory, 'docker');
  writeFileSync(program, '#!/bin/sh\necho "$@" >> "$0.calls"\n[ "$1" != ps ] || echo c1\n');
  chmodSync(program, 0o755);
  const engine = await findEngine({ engine: program, path: '/usr/bin:/bin', image: 'x' });
  const driver = containerDriver({
    ...{ name: 'container', engine, image: 'x', runtime: null, tmpBytes: 1, stateDir: directory },
    ...{ equipment: { command: [], toolHost: [], links: [], path: [] }, records: new ProcessRecords(directory) },
  });
  rmSync(`${program}.calls`);
  await driver.endOthers?.('run_1', 'task_1');
  await driver.endOthers?.('run_1', null);
  await driver.stop('run_1', []);
  await driver.wake('run_1', []);
  const ps = 'ps --quiet --no-trunc --filter label=holdpoint.workspace=run_1';
  expect(readFileSync(`${program}.calls`, 'utf8').trim().split('\n')).toEqual([
    ...[`${ps} --filter label=holdpoint.command=task_1`, 'rm --force c1', ps, 'rm --force c1'],
    ...[`${ps} --filter label=holdpoint.command --filter status=running`, 'pause c1'],
    ...[`${ps} --filter label=holdpoint.command --filter status=paused`, 'unpause c1'],
  ]);
});

test('a path that the option cannot express is refused', () => {
  const workspace = { ...request.workspace, path: '/data/a:b' };
  expect(() => runArguments(plan, { ...request, workspace }, names)).toThrow(
    expect.objectContaining({ code: 'ESANDBOXSETUP' }),
  );
});

test('no engine, one that does not answer, and one without the image are told apart, and nothing else is tried', async () => {
  const engine = join(directory, 'docker');
  const open = (more: object) =>
    openSandbox({
      ...{ policy: 'require', allowUnsandboxed: true, stateDir: join(directory, 'state'), driver: 'container' },
      ...more,
    } as const);
  const missing = (message: RegExp) =>
    expect.objectContaining({ code: 'ESANDBOXMISSING', retryable: false, message: expect.stringMatching(message) });
  await expect(open({})).rejects.toEqual(missing(/needs an image/));
  const container = { image: 'debian:12', engine };
  await expect(open({ container })).rejects.toEqual(missing(/there is none of/));
  writeFileSync(engine, '#!/bin/sh\necho "$@" >> "$0.calls"; echo "Cannot connect to the daemon" >&2; exit 1\n');
  chmodSync(engine, 0o755);
  await expect(open({ container, driver: 'gvisor' })).rejects.toEqual(missing(/Cannot connect to the daemon/));
  expect(readFileSync(`${engine}.calls`, 'utf8')).toBe('version\n');
  writeFileSync(engine, '#!/bin/sh\n[ "$1" = version ] || { echo "No such image" >&2; exit 1; }\n');
  await expect(open({ container })).rejects.toEqual(missing(/No such image/));
  mkdirSync(join(directory, 'none'));
  await expect(findEngine({ engine: null, path: join(directory, 'none'), image: 'x' })).rejects.toEqual(
    missing(/docker, podman and nerdctl/),
  );
  expect(existsSync(join(directory, 'state'))).toBe(true);
});

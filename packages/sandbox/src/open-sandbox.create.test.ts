import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { findHostTools } from './bubblewrap/host-tools.ts';
import { openCgroups } from './cgroup/cgroups.ts';
import { openSandbox } from './open-sandbox.ts';
import {
  alwaysEnforced,
  bwrapCandidates,
  isRoot,
  processesWith,
  rejects,
  runLine,
  useTestHost,
} from './testing/host.ts';

const { host, test } = useTestHost();

const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** A script that breaks something and then runs the real bubblewrap. */
function brokenBwrap(name: string, script: (bwrap: string) => string): string {
  const { bwrap } = findHostTools({ bwrapCandidates, path: systemPath });
  const path = join(host.directory, name);
  writeFileSync(path, `#!/bin/bash\n${script(bwrap)}\n`);
  chmodSync(path, 0o755);
  return path;
}

const limited = openCgroups() ? 'enforced' : 'partial';
const gaps = [expect.stringContaining('Memory'), expect.stringContaining('CPU')];

test('the report lists what is enforced, with a note for every gap', async () => {
  expect(host.sandbox.capabilities).toEqual({
    ...alwaysEnforced,
    ...{ driver: 'bubblewrap', memory: limited, cpu: limited, disk: 'partial' },
    notes: [...(openCgroups() ? [] : gaps), expect.stringContaining('Disk')],
  });
});

test('without control groups the report says that limits are partial', async () => {
  await using sandbox = await openSandbox({ ...host.options, cgroups: false });
  expect(sandbox.capabilities).toMatchObject({ memory: 'partial', cpu: 'partial' });
  expect(sandbox.capabilities.notes).toEqual([...gaps, expect.stringContaining('Disk')]);
});

test('without bubblewrap the error says what to install', async () => {
  const opening = openSandbox({ ...host.options, bwrapPath: '/nowhere/bwrap', path: '/nowhere' });
  await expect(opening).rejects.toMatchObject({
    code: 'ESANDBOXMISSING',
    retryable: false,
    next: expect.stringContaining('bubblewrap'),
  });
});

test('without ripgrep the error says what to do', async () => {
  const opening = openSandbox({ ...host.options, ripgrepPath: '/nowhere/rg' });
  await expect(opening).rejects.toMatchObject({
    code: 'ESANDBOXMISSING',
    message: expect.stringContaining('ripgrep'),
    next: expect.stringContaining('ripgrep'),
  });
});

test('the error of a failing bubblewrap quotes it', async () => {
  const bwrapPath = brokenBwrap(
    'bwrap-broken',
    () => 'echo "bwrap: No permissions to create new namespace" >&2; exit 1',
  );
  const opening = openSandbox({ ...host.options, bwrapPath });
  await expect(opening).rejects.toMatchObject({
    code: 'ESANDBOXSETUP',
    message: expect.stringContaining('No permissions to create'),
  });
});

// These tests start programs before bubblewrap, or without it, so no mount remap makes the project reachable for the workspace's uid.
const testReachable = test.skipIf(isRoot && isClosed(process.execPath));

testReachable('a gap in the network or the files is found by the probe and refused', async () => {
  const withOption = (option: string) => (bwrap: string) => `shift 3; exec -c ${bwrap} --args 3 ${option} -- "$@"`;
  const withNetwork = brokenBwrap('bwrap-network', withOption('--share-net'));
  for (const policy of ['require', 'best-effort'] as const) {
    const opening = openSandbox({ ...host.options, policy, bwrapPath: withNetwork });
    await expect(opening).rejects.toMatchObject({
      code: 'ESANDBOXGAP',
      message: expect.stringMatching(/does not enforce net here/),
    });
  }
  const withFiles = brokenBwrap(
    'bwrap-files',
    withOption(`--tmpfs /tmp --ro-bind ${host.directory} ${host.directory}`),
  );
  await expect(openSandbox({ ...host.options, bwrapPath: withFiles })).rejects.toMatchObject({
    code: 'ESANDBOXGAP',
    message: expect.stringContaining('host files invisible'),
  });
});

testReachable('a writable host file behind /proc/PID/exe is found by the probe and refused', async () => {
  const own = join(host.directory, 'bwrap-own');
  copyFileSync(findHostTools({ bwrapCandidates, path: systemPath }).bwrap, own);
  chmodSync(own, 0o755);
  const owner = { uid: 200_000, gid: 200_000 };
  if (isRoot) chownSync(own, owner.uid, owner.gid);
  const withFirstProcess = brokenBwrap(
    'bwrap-first',
    () =>
      `shift 3; exec 3< <(while IFS= read -rd "" option; do [[ $option == --as-pid-1 ]] || printf '%s\\0' "$option"; done <&3)\n` +
      `exec -c ${own} --args 3 -- "$@"`,
  );
  const opening = openSandbox({ ...host.options, bwrapPath: withFirstProcess, probeOwner: owner });
  await expect(opening).rejects.toMatchObject({
    code: 'ESANDBOXGAP',
    message: expect.stringMatching(
      /no host file that a process leads to can be changed.*\/proc\/1\/exe leads to .*bwrap-own, which can be changed/s,
    ),
  });
});

test('a boot check leaves no files behind', async () => {
  expect(existsSync(host.stateDir)).toBe(true);
  expect(readdirSync(host.stateDir)).toEqual([]);
});

test('an abort ends openSandbox', async () => {
  const opening = openSandbox({ ...host.options, signal: AbortSignal.abort(new Error('shutting down')) });
  await expect(opening).rejects.toThrow('shutting down');
});

testReachable('commands run unsandboxed only when allowed, and the report says so', async ({ workspace, word }) => {
  const warnings: string[] = [];
  await using sandbox = await openSandbox({
    ...host.options,
    ...{ allowUnsandboxed: true, bwrapPath: '/nowhere/bwrap', path: '/nowhere:/usr/bin:/bin' },
    bwrapPath: brokenBwrap('bwrap-none', () => 'exit 1'),
    logger: { info: () => {}, warn: (_fields, message) => warnings.push(message) },
  });
  expect(warnings).toHaveLength(1);
  expect(new Set(Object.values({ ...sandbox.capabilities, notes: '', driver: '' }))).toEqual(new Set(['absent', '']));
  expect(sandbox.capabilities.driver).toBe('none');
  const signal = new AbortController().signal;
  const line = `sleep 3${word} & pwd; echo out > made; exit 4`;
  const { end, stdout } = await runLine(sandbox, workspace, line);
  expect(end).toEqual({ status: 'exited', exit_code: 4, signal: null });
  expect(stdout.text).toBe(`${workspace.path}\n`);
  expect(processesWith(`sleep\x003${word}`)).toEqual([]);
  const late = await sandbox.run({ workspace, argv: ['/bin/sleep', '1000'], limits: { wall_ms: 200 }, signal });
  expect(late.end).toEqual({ status: 'timed_out', after_ms: 200 });
  const files = sandbox.files(workspace);
  expect((await files.read('/workspace/made')).data.toString()).toBe('out\n');
  await rejects(files.read('../canary'), 'EOUTSIDE');
  const found = await sandbox.run({ workspace, argv: [sandbox.ripgrep, '-l', 'out'], signal });
  expect(found.stdout.text).toBe('made\n');
  await rejects(sandbox.run({ workspace, argv: ['/no/such/program'], signal }), 'ESANDBOXSETUP');
  const egress = { environment: () => ({}), serve: () => () => {} };
  await rejects(sandbox.run({ workspace, argv: ['/bin/true'], egress, signal }), 'ECOMMANDINVALID');
});

test('toolchains are mounted read-only at their own path and put on PATH', async ({ workspace }) => {
  const toolchain = join(host.directory, 'toolchain');
  mkdirSync(join(toolchain, 'bin'), { recursive: true });
  writeFileSync(join(toolchain, 'bin/greet'), '#!/bin/sh\necho hello from "$0"\n', { mode: 0o755 });
  await using sandbox = await openSandbox({ ...host.options, toolchains: [toolchain] });
  const { stdout } = await runLine(sandbox, workspace, `greet; touch ${toolchain}/x 2>/dev/null || echo read-only`);
  expect(stdout.text).toBe(`hello from ${toolchain}/bin/greet\nread-only\n`);
  await rejects(openSandbox({ ...host.options, toolchains: ['/etc'] }), 'ESANDBOXMISSING');
  await rejects(openSandbox({ ...host.options, toolchains: ['/nowhere/at/all'] }), 'ESANDBOXMISSING');
});

/** Whether other users cannot pass a parent directory. */
function isClosed(path: string): boolean {
  const parent = dirname(path);
  return (statSync(parent).mode & 0o001) === 0 || (parent !== '/' && isClosed(parent));
}

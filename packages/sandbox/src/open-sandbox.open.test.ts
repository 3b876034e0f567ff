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
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findHostTools } from './bubblewrap/host-tools.ts';
import { openCgroups } from './cgroup/cgroups.ts';
import { openSandbox } from './open-sandbox.ts';
import { bwrapCandidates, isRoot, marker, openTestHost, processesWith, type TestHost } from './test-host.ts';

let host: TestHost;
beforeAll(async () => {
  host = await openTestHost();
});
afterAll(() => host[Symbol.asyncDispose]());

const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The real bubblewrap behind a script that spoils something. */
function spoiledBwrap(name: string, script: (bwrap: string) => string): string {
  const { bwrap } = findHostTools({ bwrapCandidates, path: systemPath });
  const path = join(host.directory, name);
  writeFileSync(path, `#!/bin/bash\n${script(bwrap)}\n`);
  chmodSync(path, 0o755);
  return path;
}

const bound = openCgroups() ? 'enforced' : 'partial';
const gaps = [expect.stringContaining('Memory'), expect.stringContaining('CPU')];

test('the report says what holds, and names every gap', async () => {
  expect(host.sandbox.capabilities).toEqual({
    ...{
      driver: 'bubblewrap',
      fs: 'enforced',
      net: 'enforced',
      pids: 'enforced',
      seccomp: 'enforced',
      uid_drop: 'enforced',
    },
    ...{ memory: bound, cpu: bound, disk: 'partial' },
    notes: [...(openCgroups() ? [] : gaps), expect.stringContaining('Disk')],
  });
});

test('without control groups the report says what is only watched, or bounded for single processes', async () => {
  await using sandbox = await openSandbox({ ...host.options, cgroups: false });
  expect(sandbox.capabilities).toMatchObject({ memory: 'partial', cpu: 'partial' });
  expect(sandbox.capabilities.notes).toEqual([...gaps, expect.stringContaining('Disk')]);
});

test('without bubblewrap there is no sandbox, and the error says what to install', async () => {
  const opening = openSandbox({ ...host.options, bwrapPath: '/nowhere/bwrap', path: '/nowhere' });
  await expect(opening).rejects.toMatchObject({
    code: 'ESANDBOXMISSING',
    retryable: false,
    next: expect.stringContaining('bubblewrap'),
  });
});

test('without ripgrep the sandbox does not open, and the error says what to do', async () => {
  const opening = openSandbox({ ...host.options, ripgrepPath: '/nowhere/rg' });
  await expect(opening).rejects.toMatchObject({
    code: 'ESANDBOXMISSING',
    message: expect.stringContaining('ripgrep'),
    next: expect.stringContaining('ripgrep'),
  });
});

test('a bubblewrap that cannot work here is an error that quotes it', async () => {
  const bwrapPath = spoiledBwrap(
    'bwrap-broken',
    () => 'echo "bwrap: No permissions to create new namespace" >&2; exit 1',
  );
  const opening = openSandbox({ ...host.options, bwrapPath });
  await expect(opening).rejects.toMatchObject({
    code: 'ESANDBOXSETUP',
    message: expect.stringContaining('No permissions to create'),
  });
});

// These two put programs in front of bubblewrap, or do without it: what they start is not shown to the workspace's uid by a private view.
const inTheOpen = test.skipIf(isRoot && isClosed(process.execPath));

inTheOpen('a gap in the network, the files or the system calls is found by looking, and refused', async () => {
  const withOption = (option: string) => (bwrap: string) => `shift 3; exec -c ${bwrap} --args 3 ${option} -- "$@"`;
  const withNetwork = spoiledBwrap('bwrap-network', withOption('--share-net'));
  for (const policy of ['require', 'best-effort'] as const) {
    const opening = openSandbox({ ...host.options, policy, bwrapPath: withNetwork });
    await expect(opening).rejects.toMatchObject({
      code: 'ESANDBOXGAP',
      message: expect.stringMatching(/does not enforce net here/),
    });
  }
  const withFiles = spoiledBwrap(
    'bwrap-files',
    withOption(`--tmpfs /tmp --ro-bind ${host.directory} ${host.directory}`),
  );
  await expect(openSandbox({ ...host.options, bwrapPath: withFiles })).rejects.toMatchObject({
    code: 'ESANDBOXGAP',
    message: expect.stringContaining('host files invisible'),
  });
});

inTheOpen(
  'a file of the host that a process leads to, and that its user may change, is found by looking, and refused',
  async () => {
    const own = join(host.directory, 'bwrap-own');
    copyFileSync(findHostTools({ bwrapCandidates, path: systemPath }).bwrap, own);
    chmodSync(own, 0o755);
    const owner = { uid: 200_000, gid: 200_000 };
    if (isRoot) chownSync(own, owner.uid, owner.gid);
    const withFirstProcess = spoiledBwrap(
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
  },
);

test('a boot check leaves nothing behind', async () => {
  expect(existsSync(host.stateDir)).toBe(true);
  expect(readdirSync(host.stateDir)).toEqual([]);
});

test('an abort ends the opening', async () => {
  const opening = openSandbox({ ...host.options, signal: AbortSignal.abort(new Error('shutting down')) });
  await expect(opening).rejects.toThrow('shutting down');
});

inTheOpen('commands run unsandboxed only when that is allowed, and the report admits it', async () => {
  const warnings: string[] = [];
  await using sandbox = await openSandbox({
    ...host.options,
    ...{ allowUnsandboxed: true, bwrapPath: '/nowhere/bwrap', path: '/nowhere:/usr/bin:/bin' },
    bwrapPath: spoiledBwrap('bwrap-none', () => 'exit 1'),
    logger: { info: () => {}, warn: (_fields, message) => warnings.push(message) },
  });
  expect(warnings).toHaveLength(1);
  expect(new Set(Object.values({ ...sandbox.capabilities, notes: '', driver: '' }))).toEqual(new Set(['absent', '']));
  expect(sandbox.capabilities.driver).toBe('none');
  const workspace = host.makeWorkspace();
  const signal = new AbortController().signal;
  const word = marker();
  const line = `sleep 3${word} & pwd; echo out > made; exit 4`;
  const { end, stdout } = await sandbox.run({ workspace, argv: ['/bin/bash', '-c', line], signal });
  expect(end).toEqual({ status: 'exited', exit_code: 4, signal: null });
  expect(stdout.text).toBe(`${workspace.path}\n`);
  expect(processesWith(`sleep\x003${word}`)).toEqual([]);
  const late = await sandbox.run({ workspace, argv: ['/bin/sleep', '1000'], limits: { wall_ms: 200 }, signal });
  expect(late.end).toEqual({ status: 'timed_out', after_ms: 200 });
  const files = sandbox.files(workspace);
  expect((await files.read('/workspace/made')).data.toString()).toBe('out\n');
  await expect(files.read('../canary')).rejects.toMatchObject({ code: 'EOUTSIDE' });
  const found = await sandbox.run({ workspace, argv: [sandbox.ripgrep, '-l', 'out'], signal });
  expect(found.stdout.text).toBe('made\n');
  await expect(sandbox.run({ workspace, argv: ['/no/such/program'], signal })).rejects.toMatchObject({
    code: 'ESANDBOXSETUP',
  });
  const egress = { environment: () => ({}), serve: () => () => {} };
  await expect(sandbox.run({ workspace, argv: ['/bin/true'], egress, signal })).rejects.toMatchObject({
    code: 'ECOMMANDINVALID',
  });
});

test('toolchains are shown at their own path, read-only, and their programs are found', async () => {
  const toolchain = join(host.directory, 'toolchain');
  mkdirSync(join(toolchain, 'bin'), { recursive: true });
  writeFileSync(join(toolchain, 'bin/greet'), '#!/bin/sh\necho hello from "$0"\n', { mode: 0o755 });
  await using sandbox = await openSandbox({ ...host.options, toolchains: [toolchain] });
  const workspace = host.makeWorkspace();
  const { stdout } = await sandbox.run({
    workspace,
    argv: ['/bin/bash', '-c', `greet; touch ${toolchain}/x 2>/dev/null || echo read-only`],
    signal: new AbortController().signal,
  });
  expect(stdout.text).toBe(`hello from ${toolchain}/bin/greet\nread-only\n`);
  await expect(openSandbox({ ...host.options, toolchains: ['/etc'] })).rejects.toMatchObject({
    code: 'ESANDBOXMISSING',
  });
  await expect(openSandbox({ ...host.options, toolchains: ['/nowhere/at/all'] })).rejects.toMatchObject({
    code: 'ESANDBOXMISSING',
  });
});

/** Whether others than the owner cannot pass one of the directories above. */
function isClosed(path: string): boolean {
  const parent = dirname(path);
  return (statSync(parent).mode & 0o001) === 0 || (parent !== '/' && isClosed(parent));
}

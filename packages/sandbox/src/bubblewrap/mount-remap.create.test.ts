import { spawn } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rgPath } from '@vscode/ripgrep';
import { expect, test } from 'vitest';
import { openSandbox } from '../open-sandbox.ts';
import { alwaysEnforced, bwrapCandidates, isRoot, projectRoot, runLine, useTestHost } from '../testing/host.ts';
import { findHostTools } from './host-tools.ts';
import { planMountRemap } from './mount-remap.ts';

const { host } = useTestHost();

const tools = findHostTools({ bwrapCandidates, path: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' });
const remapScript = readFileSync(new URL('mount-remap.sh', import.meta.url), 'utf8');

test.runIf(isRoot).each([
  ['the data in a closed home', '.'],
  ['the data in a closed directory of a project in a closed home', 'project/data'],
])('a root worker can have its programs and %s', async (_, place) => {
  const home = mkdtempSync(join(host.directory, 'home-'));
  const project = join(home, 'project');
  mkdirSync(project, { mode: 0o755 });
  const bwrapPath = join(project, 'bwrap');
  const ripgrepPath = join(project, 'rg');
  copyFileSync(tools.bwrap, bwrapPath);
  copyFileSync(rgPath, ripgrepPath);
  for (const path of [bwrapPath, ripgrepPath]) chmodSync(path, 0o755);
  const data = join(home, place);
  mkdirSync(data, { recursive: true, mode: 0o700 });
  await using sandbox = await openSandbox({ ...host.options, bwrapPath, ripgrepPath, stateDir: join(data, 'state') });
  const workspaces = Array.from({ length: 4 }, () => host.makeWorkspace(data));
  const line = `echo made > made; ${sandbox.ripgrep} -l made; ls -A / | tr '\\n' ' '; ls -A /mnt ${home} 2>&1 | grep -c 'No such file'`;
  const results = await Promise.all(workspaces.map((workspace) => runLine(sandbox, workspace, line)));
  for (const [index, { end, stdout }] of results.entries()) {
    const workspace = workspaces[index] ?? expect.fail();
    expect(end).toEqual({ status: 'exited', exit_code: 0, signal: null });
    expect(stdout.text).toMatch(/^made\nbin dev etc lib .*workspace 2\n$/);
    expect(statSync(join(workspace.path, 'made')).uid).toBe(workspace.uid);
    expect((await sandbox.files(workspace).read('made')).data.toString()).toBe('made\n');
    await sandbox.files(workspace).write('written', Buffer.from('x'), { expect: { exists: false } });
    expect(statSync(join(workspace.path, 'written')).uid).toBe(workspace.uid);
  }
  expect(readFileSync('/proc/self/mounts', 'utf8')).not.toContain(home);
  expect(statSync(home).mode & 0o777).toBe(0o700);
});

test.runIf(isRoot)(
  'one closed directory becomes the mount point itself, and the sandbox has no environment of its own',
  async () => {
    const workspace = host.makeWorkspace(mkdtempSync(join(host.directory, 'closed-')));
    const remap = planMountRemap([workspace.path], workspace) ?? expect.fail('reachable');
    expect(remap.sources).toEqual([workspace.path]);
    expect(remap.hostPath(join(workspace.path, '.'))).toBe(remap.mountPoint);
    const line = `echo made > made; ls -A ${remap.mountPoint} 2>&1 | grep -c 'No such file'; tr '\\0' '\\n' < /proc/1/environ`;
    const { end, stdout } = await host.run(workspace, line);
    expect(end).toEqual({ status: 'exited', exit_code: 0, signal: null });
    expect(stdout.text).toBe('1\nPWD=/workspace\n');
    expect(statSync(join(workspace.path, 'made')).uid).toBe(workspace.uid);
  },
);

test.runIf(isRoot)('a sandbox cannot use the workspace of another uid', async () => {
  const mine = host.makeWorkspace();
  const other = host.makeWorkspace();
  await expect(host.run({ ...mine, path: other.path }, 'ls')).rejects.toMatchObject({
    code: 'ESANDBOXSETUP',
    message: expect.stringContaining(`uid ${mine.uid}, which the sandbox runs as, cannot read`),
  });
});

test('an unprivileged worker has the same sandbox and passes on no inherited fds', async () => {
  const directory = join(host.directory, 'unprivileged');
  mkdirSync(directory, { mode: 0o755 });
  const owner = isRoot ? { uid: 65_432, gid: 65_432 } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  chownSync(directory, owner.uid, owner.gid);
  const line = 'echo made > made; id -u; for d in /proc/self/fd/*; do [ -e "$d" ] && basename "$d"; done; true';
  const worker = workerAs(owner, [
    fileURLToPath(new URL('../testing/worker-process.ts', import.meta.url)),
    directory,
    tools.bwrap,
    line,
  ]);
  // Five more pipes with a gap before the last two. Node does not close them for its own children.
  const child = spawn(worker.program, worker.args, {
    stdio: [
      'ignore',
      'pipe',
      'inherit',
      'pipe',
      'pipe',
      'ignore',
      'ignore',
      ...Array.from({ length: 20 }, () => 'ignore' as const),
      'pipe',
      'pipe',
    ],
  });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect(code).toBe(0);
  const seen = JSON.parse(output) as { end: unknown; stdout: string; made: string; report: Record<string, unknown> };
  expect(seen.end).toEqual({ status: 'exited', exit_code: 0, signal: null });
  expect(seen.stdout).toBe('1000\n0\n1\n2\n');
  expect(seen.made).toBe('made\n');
  expect(seen.report).toMatchObject({ driver: 'bubblewrap', ...alwaysEnforced });
  expect(statSync(join(directory, 'workspace/made')).uid).toBe(owner.uid);
});

/** Node as another user, through a mount remap where that user cannot reach the project. */
function workerAs(owner: { uid: number; gid: number }, args: readonly string[]) {
  if (!isRoot) return { program: process.execPath, args };
  const remap = planMountRemap([projectRoot.replace(/\/$/, ''), process.execPath, tools.bwrap], owner);
  const move = (arg: string) =>
    remap && arg.startsWith('/') && !arg.startsWith(host.directory) ? remap.hostPath(arg) : arg;
  const setpriv = tools.setpriv ?? expect.fail('no setpriv');
  const drop = [setpriv, `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', '--'];
  const node = [move(process.execPath), ...args.map(move)];
  if (!remap) return { program: setpriv, args: [...drop.slice(1), ...node] };
  const show = [
    ...['--mount', '--propagation', 'private', '--', tools.bash, '-p', '-c', remapScript, 'holdpoint'],
    ...[remap.mountPoint],
  ];
  return { program: tools.unshare ?? expect.fail(), args: [...show, ...remap.sources, '--', ...drop, ...node] };
}

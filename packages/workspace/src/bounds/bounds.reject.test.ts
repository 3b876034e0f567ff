import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { parseRemote } from '@holdpoint/contract';
import { describe, expect } from 'vitest';
import { test } from '../testing/fixture.ts';
import { publishNow, runId, type temporary, writeTree } from '../testing/index.ts';
import { type PathRule, reasonClosed } from './path-rules.ts';
import { assertRemote } from './remote-hosts.ts';
import { rootsFrom } from './roots-from-env.ts';

const codeOf = (error: { code: string }) => error.code;
const home = ownHome();

describe('a closed source', () => {
  const spellings = [
    ...['/etc', '/etc/', '/etc/cron.d/..', '/etc/ssl', '/usr/../etc', '/proc/self/root/etc'],
    ...['/proc/thread-self/root/etc'],
  ]
    .concat(['/', '/proc', '/proc/self', '/sys', '/sys/kernel', '/dev', '/boot', '/usr', '/usr/bin', '/run', '/var'])
    .concat(['/var/lib', '/home', home, `${home}/.`, '/proc/self/root', '/bin', '/lib']);
  test.for(spellings.filter((path) => existsSync(path)))('%s', async (path, { t }) => {
    const link = join(t.path, 'link');
    symlinkSync(path, link);
    for (const one of [path, link, `${link}/`]) {
      for (const type of ['directory', 'git'] as const) {
        expect(await t.workspaces.check({ type, path: one }).catch(codeOf)).toBe('ESOURCEFORBIDDEN');
      }
      const made = t.workspaces.materialise({ runId, source: { type: 'directory', path: one } });
      expect(await made.catch(codeOf)).toBe('ESOURCEFORBIDDEN');
    }
  });

  test('through the working directory of a process', async ({ t }) => {
    const before = process.cwd();
    process.chdir('/etc');
    try {
      const source = { type: 'directory', path: '/proc/self/cwd' } as const;
      expect(await t.workspaces.check(source).catch(codeOf)).toBe('ESOURCEFORBIDDEN');
    } finally {
      process.chdir(before);
    }
  });

  test('as an archive in a system directory', async ({ t }) => {
    expect(await t.workspaces.check({ type: 'archive', path: '/etc/passwd' }).catch(codeOf)).toBe('ESOURCEFORBIDDEN');
  });

  test('as a dot folder of a home, or a folder of keys anywhere', async ({ t }) => {
    const keys = join(t.path, '.ssh');
    mkdirSync(keys);
    expect(await t.workspaces.check({ type: 'directory', path: keys }).catch(codeOf)).toBe('ESOURCEFORBIDDEN');
    if (!isWritable(home)) return;
    const own = mkdtempSync(join(home, '.holdpoint-test-'));
    try {
      expect(await t.workspaces.check({ type: 'directory', path: own }).catch(codeOf)).toBe('ESOURCEFORBIDDEN');
    } finally {
      rmSync(own, { recursive: true });
    }
  });
});

const rules: PathRule[] = [
  { path: '/', kind: 'open' },
  { path: '/etc', kind: 'closed' },
  { path: '/var', kind: 'closed' },
  { path: '/var/tmp', kind: 'open' },
  { path: '/home/user', kind: 'home' },
  { path: '/root', kind: 'home' },
];
test.each([
  ['/home/user/code/x', true],
  ['/root/x', true],
  ['/workspaces/x', true],
  ['/srv/x', true],
  ['/opt/x', true],
  ['/tmp/x', true],
  ['/tmp', true],
  ['/etcetera', true],
  ['/var/tmp/x', true],
  ['/var/lib/jenkins/workspace/x', true],
  ['/home/user/code/.config', true],
  ['/var/lib/jenkins/workspace', false],
  ['/var/lib/jenkins/secrets', false],
  ['/var/lib/jenkins/.ssh', false],
  ['/var/lib/postgresql', false],
  ['/home/user', false],
  ['/home/user/.config/x', false],
  ['/home/user/code/.ssh', false],
  ['/home', false],
  ['/root', false],
  ['/root/.ssh', false],
  ['/etc/cron.d', false],
  ['/', false],
])('%s: open is %s', (path, isOpen) => {
  expect(reasonClosed(rules, path) === undefined).toBe(isOpen);
});

test.runIf(isWritable(home))('a folder below a home is open', async ({ t }) => {
  const path = mkdtempSync(join(home, 'holdpoint-test-'));
  try {
    writeTree(path, { 'a.txt': 'a\n' });
    await t.workspaces.check({ type: 'directory', path });
  } finally {
    rmSync(path, { recursive: true });
  }
});

test.runIf(canMount())('a bind mount of a closed directory is closed', async ({ t }) => {
  const at = join(t.path, 'mounted');
  mkdirSync(at);
  const deeper = join(realpathSync('/etc'), 'ssl');
  const script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"';
  const look = `
    import { createBounds } from ${JSON.stringify(new URL('./bounds.ts', import.meta.url).href)};
    try { createBounds({ dataDir: '/nowhere' }).assert(process.argv[1], 'source'); console.log('open'); }
    catch (error) { console.log(error.code); }`;
  for (const from of ['/etc', deeper].filter((path) => existsSync(path))) {
    const args = [
      ...['--mount', 'sh', '-c', script, 'sh', from, at, process.execPath, '--input-type=module', '-e', look, at],
    ];
    expect(execFileSync('unshare', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()).toBe(
      'ESOURCEFORBIDDEN',
    );
  }
});

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function ownHome(): string {
  try {
    return userInfo().homedir;
  } catch {
    return '/root';
  }
}

/** Mounts in a new mount namespace, so that the host is not changed. */
function canMount(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'sh', '-c', 'mount --bind /etc /mnt'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('roots of the operator', () => {
  test('limit sources by their real path', async ({ t }) => {
    writeTree(t.path, { 'in/a.txt': 'a\n', 'out/a.txt': 'a\n', 'inside-not/a.txt': 'a\n' });
    symlinkSync(join(t.path, 'out'), join(t.path, 'in/link'));
    symlinkSync(join(t.path, 'in'), join(t.path, 'root'));
    const workspaces = t.reopen({ roots: { sourceRoots: [join(t.path, 'root')] } });
    const check = (name: string) => workspaces.check({ type: 'directory', path: join(t.path, name) }).catch(codeOf);
    expect(await check('in')).toBe(undefined);
    for (const name of ['out', 'in/link', 'in/../out', 'inside-not', '.']) {
      expect([name, await check(name)]).toEqual([name, 'ESOURCEFORBIDDEN']);
    }
  });

  test.for(['directory', 'git'] as const)('limit publishes, and nothing is written (%s)', async (type, { t }) => {
    const source = t.source({ 'a.txt': 'a\n' }, 'git');
    const made = await t.workspaces.materialise({ runId, source: { type, path: source } });
    writeTree(await t.tree(), { 'a.txt': 'changed\n' });
    const { id } = await t.snapshot(made.id);
    const closed = t.reopen({ roots: { publishRoots: [join(t.path, 'elsewhere')] } });
    expect(await publishNow(closed, { runId, snapshot: id }).catch(codeOf)).toBe('EPUBLISHFORBIDDEN');
    const open = t.reopen({ roots: { publishRoots: [t.path] } });
    expect(await publishNow(open, { runId, snapshot: id })).toMatchObject({ status: 'published' });
  });

  test('name hosts of remotes, with ports and wildcards', () => {
    const hostsOf = (HOLDPOINT_GIT_HOSTS: string) => rootsFrom({ HOLDPOINT_GIT_HOSTS }).gitHosts;
    expect(hostsOf('none')).toEqual([]);
    expect(hostsOf('example.com, *.example.org:2222')).toEqual(['example.com', '*.example.org:2222']);
    expect(() => hostsOf('https://example.com')).toThrow('is not a host');
    const allows = (rules: string, url: string) => {
      const remote = parseRemote(url);
      if (typeof remote === 'string') throw new Error(remote);
      try {
        assertRemote(remote, { hosts: hostsOf(rules) ?? [] });
        return true;
      } catch {
        return false;
      }
    };
    expect(allows('', 'https://example.com/x')).toBe(true);
    expect(allows('', 'https://example.com:8443/x')).toBe(false);
    expect(allows('', 'git@example.com:x')).toBe(false);
    expect(allows('example.com', 'git@example.com:x')).toBe(true);
    expect(allows('*.example.com', 'https://a.example.com/x')).toBe(true);
    expect(allows('*.example.com', 'https://badexample.com/x')).toBe(false);
    expect(allows('[::1]:8443', 'https://[::1]:8443/x')).toBe(true);
    expect(allows('none', 'https://example.com/x')).toBe(false);
  });

  test('must be absolute paths', () => {
    expect(rootsFrom({ HOLDPOINT_SOURCE_ROOTS: '/srv/:/opt', HOLDPOINT_PUBLISH_ROOTS: '' })).toEqual({
      sourceRoots: ['/srv', '/opt'],
      publishRoots: undefined,
      gitHosts: ['*'],
    });
    expect(() => rootsFrom({ HOLDPOINT_PUBLISH_ROOTS: '/srv:code' })).toThrow(/HOLDPOINT_PUBLISH_ROOTS: code/);
  });
});

describe('a publish to a directory', () => {
  async function changed(t: ReturnType<typeof temporary>, source: string, files: Record<string, string>) {
    const made = await t.workspaces.materialise({ runId, source: { type: 'directory', path: source } });
    writeTree(await t.tree(), files);
    return (await t.snapshot(made.id)).id;
  }

  test('writes nothing into a data directory inside the source', async ({ t }) => {
    writeTree(t.path, { 'a.txt': 'a\n' });
    const snapshot = await changed(t, t.path, { 'data/runs/run_2/planted': 'x\n' });
    const refused = t.publish({ snapshot, message: 'm' });
    expect(await refused.catch(codeOf)).toBe('EPUBLISHFORBIDDEN');
    expect(existsSync(join(t.dataDir, 'runs/run_2'))).toBe(false);
  });

  test('is rejected when the path leads elsewhere now', async ({ t }) => {
    const source = t.source({ 'a.txt': 'a\n' });
    const snapshot = await changed(t, source, { 'planted.txt': 'x\n' });
    rmSync(source, { recursive: true });
    symlinkSync('/etc', source);
    const refused = t.publish({ snapshot, message: 'm' });
    expect(await refused.catch(codeOf)).toBe('EPUBLISHFORBIDDEN');
    rmSync(source);
    symlinkSync(join(t.dataDir, 'runs'), source);
    const again = t.publish({ snapshot, message: 'm' });
    expect(await again.catch(codeOf)).toBe('ESOURCEINDATADIR');
    expect(existsSync('/etc/planted.txt')).toBe(false);
  });

  test('writes into the checked directory when the path is replaced', async ({ t }) => {
    const source = join(t.path, 'source');
    const victim = join(t.path, 'victim');
    mkdirSync(victim);
    writeTree(source, { 'a.txt': 'a\n' });
    const snapshot = await changed(t, source, { 'new.txt': 'x\n' });
    const swapping = t.reopen({
      onPoint: (point) => {
        if (point !== 'publish.committed') return;
        execFileSync('mv', [source, join(t.path, 'moved')]);
        symlinkSync(victim, source);
      },
    });
    await publishNow(swapping, { runId, snapshot, message: 'm' });
    expect(existsSync(join(t.path, 'moved/new.txt'))).toBe(true);
    expect(existsSync(join(victim, 'new.txt'))).toBe(false);
  });
});

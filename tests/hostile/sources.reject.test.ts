import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openWorkspaces, type WorkspacesOptions } from '@holdpoint/workspace';
import { unmountBelow } from '@holdpoint/workspace/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const isRoot = process.getuid?.() === 0;
const secret = 'the secret of another run';
const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

let top: string;
let dataDir: string;
/** The repository of another run, and its snapshot. */
let victim: { shadow: string; snapshot: string };
beforeEach(async () => {
  top = mkdtempSync(join(tmpdir(), 'hp-bound-'));
  dataDir = join(top, 'data');
  mkdirSync(join(top, 'theirs'));
  writeFileSync(join(top, 'theirs/secret.txt'), secret);
  const { id } = await open().materialise({
    runId: 'run_victim',
    source: { type: 'directory', path: join(top, 'theirs') },
  });
  victim = { shadow: join(dataDir, 'runs/run_victim/shadow.git'), snapshot: id };
});
afterEach(() => {
  unmountBelow(top);
  rmSync(top, { recursive: true, force: true });
});

const open = (options: Partial<WorkspacesOptions> = {}) =>
  openWorkspaces({ dataDir, allocateOwner: () => owner, ...options });

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@localhost', '-c', 'safe.directory=*', ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' },
  }).trim();

/** A repository with one commit. */
function repository(name: string): string {
  const path = join(top, name);
  git('init', '-q', '-b', 'main', path);
  writeFileSync(join(path, 'a.txt'), 'a\n');
  git('-C', path, 'add', '-A');
  git('-C', path, 'commit', '-q', '-m', 'base');
  return path;
}

/** A folder with this `.git`. */
function folder(name: string): string {
  mkdirSync(join(top, name));
  return join(top, name);
}

const alternates = (path: string, ...lines: string[]) =>
  writeFileSync(join(path, '.git/objects/info/alternates'), `${lines.join('\n')}\n`);

/** What leads from a folder without a repository. */
const folderLeads: Record<string, (path: string) => void> = {
  'a .git file': (path) => writeFileSync(join(path, '.git'), `gitdir: ${victim.shadow}\n`),
  'a .git file with a relative path': (path) =>
    writeFileSync(join(path, '.git'), 'gitdir: ../data/runs/run_victim/shadow.git'),
  'a link': (path) => symlinkSync(victim.shadow, join(path, '.git')),
  'a link to a link in /proc': (path) => symlinkSync(`/proc/self/root${victim.shadow}`, join(path, '.git')),
  'a linked work tree of another run': (path) => {
    const linked = join(folder('w'), 'g');
    mkdirSync(linked);
    writeFileSync(join(linked, 'HEAD'), `${victim.snapshot}\n`);
    writeFileSync(join(linked, 'commondir'), `${victim.shadow}\n`);
    writeFileSync(join(path, '.git'), `gitdir: ${linked}\n`);
  },
};

/** What leads from a repository. */
const repositoryLeads: Record<string, (path: string) => void> = {
  commondir: (path) => {
    rmSync(join(path, '.git/objects'), { recursive: true });
    writeFileSync(join(path, '.git/commondir'), victim.shadow);
  },
  'an alternate': (path) => alternates(path, join(victim.shadow, 'objects')),
  'an alternate by a relative path and a link': (path) => {
    symlinkSync('../data/runs/run_victim', join(top, 'short'));
    symlinkSync(join(victim.shadow, 'objects'), join(path, 'by-link'));
    alternates(path, '# a comment', '../../by-link');
  },
  'a chain of alternates': (path) => {
    const [between, last] = [repository('y'), repository('z')];
    alternates(path, join(between, '.git/objects'));
    alternates(between, join(last, '.git/objects'));
    alternates(last, join(victim.shadow, 'objects'));
  },
  'a quoted alternate': (path) => alternates(path, JSON.stringify(join(victim.shadow, 'objects'))),
  'an object directory that is a link': (path) => {
    rmSync(join(path, '.git/objects'), { recursive: true });
    symlinkSync(join(victim.shadow, 'objects'), join(path, '.git/objects'));
  },
  'links in the object directory': (path) => {
    for (const name of readdirSync(join(victim.shadow, 'objects'))) {
      const at = join(path, '.git/objects', name);
      rmSync(at, { recursive: true, force: true });
      symlinkSync(join(victim.shadow, 'objects', name), at);
    }
  },
  'links to single files of objects': (path) => {
    for (const name of readdirSync(join(victim.shadow, 'objects'), { recursive: true, encoding: 'utf8' })) {
      const at = join(path, '.git/objects', name);
      if (existsSync(at) || !/[0-9a-f]{20}/.test(name)) continue;
      mkdirSync(dirname(at), { recursive: true });
      symlinkSync(join(victim.shadow, 'objects', name), at);
    }
  },
};

describe('a git source that leads into the data directory by', () => {
  test.each([
    ...Object.entries(folderLeads).map(([name, lead]) => [name, folder, lead] as const),
    ...Object.entries(repositoryLeads).map(([name, lead]) => [name, repository, lead] as const),
  ])('%s is refused at submission and at materialise', async (_name, make, lead) => {
    const path = make('x');
    lead(path);
    const source = { type: 'git', path, ref: victim.snapshot } as const;
    await expect(open().check(source)).rejects.toMatchObject({ name: 'WorkspaceError', retryable: false });
    await expect(open().materialise({ runId: 'run_thief', source })).rejects.toMatchObject({ name: 'WorkspaceError' });
    expect(existsSync(join(dataDir, 'runs/run_thief'))).toBe(false);
  });

  test('an alternate that appears during the read is noticed', async () => {
    const path = repository('x');
    const swap = join(path, '.git/objects/info/alternates');
    const workspaces = open({
      onPoint: (point) => {
        if (point !== 'materialise.folder') return;
        writeFileSync(`${swap}.new`, `${join(victim.shadow, 'objects')}\n`);
        renameSync(`${swap}.new`, swap);
      },
    });
    const made = workspaces.materialise({ runId: 'run_thief', source: { type: 'git', path } });
    await expect(made).rejects.toMatchObject({ code: 'ESOURCEINDATADIR' });
    expect(existsSync(join(dataDir, 'runs/run_thief'))).toBe(false);
  });

  test('an alternate that exists only during the read is noticed', async () => {
    const path = repository('x');
    const swap = join(path, '.git/objects/info/alternates');
    const workspaces = open({
      onPoint: (point) => {
        if (point !== 'materialise.folder') return;
        writeFileSync(swap, `${join(victim.shadow, 'objects')}\n`);
        rmSync(swap);
      },
    });
    const made = workspaces.materialise({ runId: 'run_thief', source: { type: 'git', path } });
    await expect(made).rejects.toMatchObject({ code: 'ESOURCEBUSY', retryable: true });
  });

  test('an alternate that appears before the publish is noticed', async () => {
    const path = repository('x');
    const made = await open().materialise({ runId: 'run_thief', source: { type: 'git', path } });
    writeFileSync(join((await open().locate({ runId: 'run_thief', epoch: 1 })).path, 'a.txt'), 'b\n');
    const { id } = await open().snapshot({ runId: 'run_thief', epoch: 1, parent: made.id, message: '' });
    alternates(path, join(victim.shadow, 'objects'));
    const plan = open().planPublish({ runId: 'run_thief', snapshot: id, target: { message: 'm' } });
    await expect(plan).rejects.toMatchObject({ code: 'ESOURCEINDATADIR' });
  });
});

test('a repository with ordinary alternates and links is a source', async () => {
  const [path, other] = [repository('x'), repository('y')];
  alternates(path, join(other, '.git/objects'), join(top, 'gone'));
  const linked = join(top, 'linked');
  git('-C', path, 'worktree', 'add', '-q', '-b', 'linked', linked);
  for (const one of [path, linked, join(path, '.git')]) await open().check({ type: 'git', path: one });
});

test('a pipe in a repository does not block', async () => {
  const path = repository('x');
  for (const name of ['commondir', 'packed-refs', 'objects/info/alternates']) {
    execFileSync('mkfifo', [join(path, '.git', name)]);
    await expect(open().check({ type: 'git', path })).rejects.toMatchObject({ code: 'ESOURCEUNREADABLE' });
    rmSync(join(path, '.git', name));
  }
});

test.runIf(isRoot)('a root worker reads no file that the owner of the source may not read', async () => {
  const [path, secretOfRoot] = [repository('x'), repository('rooted')];
  const commit = git('-C', secretOfRoot, 'rev-parse', 'HEAD');
  writeFileSync(join(secretOfRoot, 'only.txt'), secret);
  git('-C', secretOfRoot, 'add', '-A');
  git('-C', secretOfRoot, 'commit', '-q', '-m', 'more');
  const hidden = git('-C', secretOfRoot, 'rev-parse', 'HEAD');
  execFileSync('chmod', ['0711', top]);
  execFileSync('chmod', ['-R', 'go-rwx', secretOfRoot]);
  alternates(path, join(secretOfRoot, '.git/objects'));
  execFileSync('chown', ['-R', '20011:20011', path]);
  const refused = open().check({ type: 'git', path, ref: hidden });
  await expect(refused).rejects.toMatchObject({ code: 'EREFUNKNOWN' });
  expect(commit).toMatch(/^[0-9a-f]{40}$/);
  await open().check({ type: 'git', path });
});

test('a git without GIT_NO_LAZY_FETCH runs no program of a partial clone', async () => {
  const path = repository('x');
  const canary = join(top, 'canary');
  const program = join(top, 'old-git');
  writeFileSync(program, `#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec git "$@"\n`, { mode: 0o755 });
  for (const [key, value] of Object.entries({
    'remote.origin.url': path,
    'remote.origin.promisor': 'true',
    'remote.origin.uploadpack': `touch ${canary};`,
    'extensions.partialClone': 'origin',
    'protocol.allow': 'always',
    'protocol.file.allow': 'always',
    'core.repositoryFormatVersion': '1',
  }))
    git('-C', path, 'config', key, value);
  const missing = git('-C', path, 'rev-parse', 'HEAD:a.txt');
  rmSync(join(path, '.git/objects', missing.slice(0, 2), missing.slice(2)));
  // The planted program works.
  try {
    git('-C', path, 'cat-file', '-p', missing);
  } catch {}
  expect(existsSync(canary)).toBe(true);
  rmSync(canary);
  for (const gitPath of [program, 'git']) {
    const workspaces = open({ gitPath });
    await expect(workspaces.check({ type: 'git', path })).rejects.toMatchObject({ code: 'ESOURCEPARTIAL' });
    await expect(workspaces.check({ type: 'git', path, ref: 'f'.repeat(40) })).rejects.toMatchObject({
      code: 'EREFUNKNOWN',
    });
  }
  expect(existsSync(canary)).toBe(false);
});

test('a repository with missing objects fails at once, without retry', async () => {
  const path = repository('x');
  const missing = git('-C', path, 'rev-parse', 'HEAD:a.txt');
  rmSync(join(path, '.git/objects', missing.slice(0, 2), missing.slice(2)));
  const made = open().materialise({ runId: 'run_thief', source: { type: 'git', path } });
  await expect(made).rejects.toMatchObject({ code: 'ESOURCEBROKEN', retryable: false });
  expect(readFileSync(join(path, '.git/HEAD'), 'utf8')).toBe('ref: refs/heads/main\n');
});

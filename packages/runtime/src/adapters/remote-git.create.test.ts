import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GitSource } from '@holdpoint/contract';
import { listen, stop } from '@holdpoint/egress/testing';
import type { Workspaces } from '@holdpoint/workspace';
import { git, initRepository, unmountBelow } from '@holdpoint/workspace/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GitServer, startGitServer } from '../testing/git-server.ts';
import { openRemoteWorkspaces, type RemoteWorkspaces, token } from '../testing/remote-workspaces.ts';

let root: string;
let opened: RemoteWorkspaces;
let server: GitServer;
let work: string;
let runs = 0;

const newRun = () => `run_${++runs}`;
const bare = () => join(root, 'served/private.git');
const remote = (more: Partial<GitSource> = {}): GitSource => ({
  ...{ type: 'git', url: server.url('private.git'), credentials: { secret: 'GIT_TOKEN' } },
  ...more,
});
const begin = async (source: GitSource, workspaces: Workspaces = opened.workspaces) => {
  const runId = newRun();
  const made = await workspaces.materialise({ runId, source, tenant: 'default' });
  const { path } = await workspaces.locate({ runId, epoch: 1 });
  return { runId, made, path };
};
const commit = (text: string, name = 'a.txt'): string => {
  writeFileSync(join(work, name), text);
  git(work, 'add', '-A');
  git(work, 'commit', '-qm', text.trim());
  git(work, 'push', '-q', bare(), 'HEAD:main');
  return git(work, 'rev-parse', 'HEAD');
};

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'holdpoint-remote-'));
  chmodSync(root, 0o711);
  work = join(root, 'work');
  mkdirSync(work, { recursive: true });
  writeFileSync(join(work, 'a.txt'), 'one\n');
  initRepository(work);
  mkdirSync(join(root, 'served/public'), { recursive: true });
  for (const name of ['private.git', 'public/open.git']) {
    git(root, 'clone', '-q', '--bare', work, join(root, 'served', name));
    git(join(root, 'served', name), 'config', 'http.receivepack', 'true');
  }
  commit('two\n');
  commit('three\n');
  git(work, 'tag', '-a', '-m', 'x', 'v1');
  git(work, 'push', '-q', bare(), 'v1');
  server = await startGitServer(join(root, 'served'), { password: token });
  opened = await openRemoteWorkspaces({ root, certificate: server.certificate.cert, url: server.url('') });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await opened[Symbol.asyncDispose]();
  unmountBelow(root);
  rmSync(root, { recursive: true, force: true });
});

const fetches = () => {
  const posts = server.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('upload-pack'));
  return posts.length;
};

test('a private repository has its files and history, and its token is in no file and no log', async () => {
  const { made, path } = await begin(remote({ ref: 'main' }));
  expect(made.base_commit).toBe(git(work, 'rev-parse', 'HEAD'));
  expect(git(path, 'log', '--format=%H')).toBe(git(work, 'log', '--format=%H'));
  expect(git(path, 'status', '--porcelain')).toBe('');
  const forms = [token, Buffer.from(`x-access-token:${token}`).toString('base64')];
  const { stdout } = spawnSync('grep', ['-rlaE', forms.join('|'), join(root, 'data')], { encoding: 'utf8' });
  expect(stdout).toBe('');
  expect(JSON.stringify(opened.logged)).not.toContain(token);
});

test('the same commit is not sent twice, and a new one only with what is new', async () => {
  await begin(remote());
  const before = fetches();
  const { path: second } = await begin(remote({ ref: 'v1' }));
  expect(git(second, 'log', '-1', '--format=%s')).toBe('three');
  // Refs are asked for with one request; a fetch takes more.
  expect(fetches() - before).toBe(1);
  const tip = commit('four\n');
  const { made, path } = await begin(remote());
  expect(made.base_commit).toBe(tip);
  expect(git(path, 'log', '--format=%s')).toBe('four\nthree\ntwo\nbase');
  const { path: byId } = await begin(remote({ ref: git(work, 'rev-parse', 'HEAD~1'), history: 1 }));
  expect(git(byId, 'log', '--format=%s')).toBe('three');
  const folders = readdirSync(join(root, 'data/remotes')).map((name) => readdirSync(join(root, 'data/remotes', name)));
  expect(folders.flat().every((name) => /^[0-9a-f]{40}\.\d+$/.test(name))).toBe(true);
  expect(readdirSync(join(root, 'data/making'))).toEqual([]);
});

test('a public repository needs no credentials', async () => {
  const { path } = await begin({ type: 'git', url: server.url('public/open.git'), include: ['*.txt'] });
  expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('one\n');
});

test.for([
  ['no credentials', { credentials: undefined }, 'EREMOTEAUTH'],
  ['a wrong token', { credentials: { secret: 'WRONG' } }, 'EREMOTEAUTH'],
  ['an unknown branch', { ref: 'nowhere' }, 'EREFUNKNOWN'],
  ['an unknown commit', { ref: '1'.repeat(40) }, 'EREFUNKNOWN'],
  ['an option in place of a branch', { ref: '--upload-pack=touch /tmp/x' }, 'EREFUNKNOWN'],
  ['a refspec in place of a branch', { ref: 'main:refs/heads/x' }, 'EREFUNKNOWN'],
  ['an expression', { ref: 'HEAD~1' }, 'EREFUNKNOWN'],
] as const)('a remote with %s is refused', async ([_, more, code], { expect }) => {
  await expect(begin(remote(more as Partial<GitSource>))).rejects.toMatchObject({ code, retryable: false });
  await expect(begin(remote(more as Partial<GitSource>))).rejects.not.toThrow('another-token');
});

test('a repository that is not there has a code of its own', async () => {
  const source = { ...remote(), url: server.url('public/none.git') };
  await expect(begin(source)).rejects.toMatchObject({ code: 'EREMOTEMISSING' });
});

test('a host that is not open, and a private address, are refused', async () => {
  for (const more of [{ hosts: [] }, { hosts: ['example.com'] }, { hosts: ['*'] }, { allowAddresses: [] }]) {
    const workspaces = opened.reopen(more);
    await expect(begin(remote(), workspaces)).rejects.toMatchObject({ code: 'EREMOTEFORBIDDEN' });
  }
});

test('a redirect to another host is not followed, and gets no token', async () => {
  await using other = await startGitServer(join(root, 'served'), { password: token });
  server.redirects.set('moved', `https://localhost:${other.port}`);
  server.redirects.set('renamed', server.url('').slice(0, -1));
  const { made } = await begin(remote({ url: server.url('renamed/private.git') }));
  expect(made.base_commit).toBe(git(bare(), 'rev-parse', 'main'));
  await expect(begin(remote({ url: server.url('moved/private.git') }))).rejects.toMatchObject({
    code: 'EREMOTEFORBIDDEN',
  });
  expect(other.requests).toEqual([]);
});

test('a certificate of another authority is refused', async () => {
  const workspaces = opened.reopen({ certificate: (await startAndStop()).cert });
  await expect(begin(remote(), workspaces)).rejects.toMatchObject({ code: 'EREMOTEUNREACHABLE', retryable: true });
});

async function startAndStop() {
  await using other = await startGitServer(root);
  return other.certificate;
}

test('bytes are bounded', async () => {
  writeFileSync(join(work, 'large.bin'), Buffer.from(Array.from({ length: 400_000 }, () => Math.random() * 256)));
  const tip = commit('large\n', 'large.txt');
  const workspaces = opened.reopen({ maxBytes: 100_000 });
  await expect(begin(remote(), workspaces)).rejects.toMatchObject({ code: 'EREMOTETOOLARGE' });
  expect((await begin(remote())).made.base_commit).toBe(tip);
});

test('a canceled fetch ends, and leaves nothing', async () => {
  commit('for a cancel\n');
  const cancel = new AbortController();
  server.onRequest = ({ method }) => void (method === 'POST' && cancel.abort(new Error('canceled')));
  const call = opened.workspaces.materialise({
    runId: newRun(),
    source: remote(),
    tenant: 'default',
    signal: cancel.signal,
  });
  await expect(call).rejects.toThrow('canceled');
  server.onRequest = () => {};
  expect(readdirSync(join(root, 'data/making'))).toEqual([]);
});

test('a run that waits for the fetch of another run leaves at once when it is canceled', async () => {
  // Accepts and never answers.
  const silent = createServer();
  const port = await listen(silent);
  const workspaces = opened.reopen({ hosts: [`localhost:${port}`] });
  const source: GitSource = { type: 'git', url: `https://localhost:${port}/silent.git` };
  const [holding, waiting] = [new AbortController(), new AbortController()];
  const call = ({ signal }: AbortController) =>
    workspaces.materialise({ runId: newRun(), source, tenant: 'default', signal });
  const connected = once(silent, 'connection');
  const first = call(holding);
  first.catch(() => {});
  const [socket] = await connected;
  const second = call(waiting);
  waiting.abort(new Error('canceled'));
  await expect(second).rejects.toThrow('canceled');
  holding.abort(new Error('canceled, too'));
  await expect(first).rejects.toThrow('canceled, too');
  socket.destroy();
  await stop(silent);
});

test('a worker that is killed during a fetch leaves nothing broken', async () => {
  const program = join(import.meta.dirname, '../testing/fetch-until-killed.ts');
  for (const point of ['remote.fetched', 'remote.filled', 'materialise.fetched']) {
    const tip = commit(`killed at ${point}\n`);
    const about = { root, url: server.url('private.git'), certificate: server.certificate.cert, point, run: newRun() };
    const { promise, resolve } = Promise.withResolvers<NodeJS.Signals | null>();
    spawn(process.execPath, [program, JSON.stringify(about)], { stdio: 'ignore' }).on('exit', (_, signal) =>
      resolve(signal),
    );
    expect(await promise).toBe('SIGKILL');
    await opened.workspaces.removeAbandonedBuilds();
    expect(readdirSync(join(root, 'data/making'))).toEqual([]);
    expect((await begin(remote())).made.base_commit).toBe(tip);
  }
});

test.for(['pack', 'shallow', 'config', 'nothing'] as const)(
  'with a flipped byte in %s of what was fetched, a worker fetches the commit again',
  async (part) => {
    const tip = commit(`flipped in ${part}\n`);
    await begin(remote({ history: 2 }));
    const [path = ''] = readdirSync(join(root, 'data/remotes'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.includes(`/${tip}.`) && name.endsWith('/config'))
      .map((name) => join(root, 'data/remotes', name, '..'));
    const packs = readdirSync(join(path, 'objects/pack')).filter((name) => name.endsWith(`.${part}`));
    const at = part === 'pack' ? join('objects/pack', packs[0] ?? '') : part;
    if (part !== 'nothing') {
      const bytes = readFileSync(join(path, at));
      bytes[bytes.length - 25] = (bytes.at(-25) ?? 0) ^ 1;
      // Another file: repositories of the same remote share packs by links.
      rmSync(join(path, at));
      writeFileSync(join(path, at), bytes);
    }
    const before = fetches();
    const { made, path: tree } = await begin(remote({ history: 2 }), opened.reopen({}));
    expect(made.base_commit).toBe(tip);
    expect(git(tree, 'log', '-1', '--format=%s')).toBe(`flipped in ${part}`);
    // Refs are asked for with one request; a fetch takes more.
    expect(fetches() - before > 1).toBe(part !== 'nothing');
  },
);

test('what was fetched is removed once it was not used for a week', async () => {
  const remotes = join(root, 'data/remotes');
  const { runId } = await begin(remote());
  const old = new Date(Date.now() - 8 * 86_400_000);
  const [key = ''] = readdirSync(remotes).sort(
    (a, b) => readdirSync(join(remotes, b)).length - readdirSync(join(remotes, a)).length,
  );
  const [first = '', ...others] = readdirSync(join(remotes, key));
  for (const name of others) utimesSync(join(remotes, key, name), old, old);
  await opened.workspaces.tidy({ isKnown: () => Promise.resolve(true) });
  expect(readdirSync(join(remotes, key))).toEqual([first]);
  expect(await opened.workspaces.hasTree(runId)).toBe(true);
});

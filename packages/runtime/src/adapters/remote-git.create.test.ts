import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Source } from '@holdpoint/contract';
import { openSandbox, type Sandbox } from '@holdpoint/sandbox';
import { openSecrets } from '@holdpoint/secrets';
import { openWorkspaces, type Workspaces, type WorkspacesOptions } from '@holdpoint/workspace';
import { git, initRepository } from '@holdpoint/workspace/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GitServer, startGitServer } from '../testing/git-server.ts';
import { openRemoteGit } from './remote-git.ts';

const password = 'token-of-the-test-1234';
const lines: object[] = [];
let root: string;
let sandbox: Sandbox;
let server: GitServer;
let work: string;
let runs = 0;

const newRun = () => `run_${++runs}`;

function open(more: Partial<WorkspacesOptions> & { maxBytes?: number; hosts?: string[]; dataDir?: string } = {}): Workspaces {
  const { maxBytes = 2 ** 30, hosts = [`localhost:${server.port}`], dataDir = join(root, 'data'), ...rest } = more;
  const settings = { environment: { HOLDPOINT_SECRET_GIT_TOKEN: password, HOLDPOINT_SECRET_WRONG: 'another-token-1234' }, variables: [], folder: undefined };
  const secrets = openSecrets({ ...settings, storeFolder: join(root, 'secrets'), key: undefined });
  const logger = { info: (fields: object) => void lines.push(fields), warn: () => {} };
  const remoteGit = openRemoteGit({
    ...{ sandbox, secrets, logger, maxBytes, knownHosts: '' },
    ...{ allowAddresses: ['127.0.0.1/32', '::1/128'], authorities: [server.certificate.cert] },
  });
  const uid = process.getuid?.() === 0 ? 20_001 : (process.getuid?.() ?? 0);
  const allocateOwner = () => ({ uid, gid: uid });
  return openWorkspaces({ dataDir, allocateOwner, remoteGit, roots: { gitHosts: hosts }, ...rest });
}

const remote = (more: object = {}): Source => ({
  ...{ type: 'git', url: server.url('private.git'), credentials: { secret: 'GIT_TOKEN' } },
  ...more,
});

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'holdpoint-remote-'));
  chmodSync(root, 0o711);
  const bwrapPath = join(import.meta.dirname, '../../../../.cache/bubblewrap/usr/bin/bwrap');
  sandbox = await openSandbox({ policy: 'require', allowUnsandboxed: false, stateDir: join(root, 'state'), bwrapPath });
  work = join(root, 'work');
  mkdirSync(work, { recursive: true });
  writeFileSync(join(work, 'a.txt'), 'one\n');
  initRepository(work);
  for (const text of ['two\n', 'three\n']) {
    writeFileSync(join(work, 'a.txt'), text);
    git(work, 'commit', '-qam', text.trim());
  }
  git(work, 'tag', '-a', '-m', 'x', 'v1');
  mkdirSync(join(root, 'served/public'), { recursive: true });
  for (const name of ['private.git', 'public/open.git']) {
    git(root, 'clone', '-q', '--bare', work, join(root, 'served', name));
    git(join(root, 'served', name), 'config', 'http.receivepack', 'true');
  }
  server = await startGitServer(join(root, 'served'), { password });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

const packsSent = () => server.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('upload-pack')).length;

test('a private repository is fetched with its history, and the token is in no file', async () => {
  const workspaces = open();
  const runId = newRun();
  const made = await workspaces.materialise({ runId, source: remote({ ref: 'main' }), tenant: 'default' });
  expect(made.base_commit).toBe(git(work, 'rev-parse', 'HEAD'));
  const { path } = await workspaces.locate({ runId, epoch: 1 });
  expect(git(path, 'log', '--format=%H')).toBe(git(work, 'log', '--format=%H'));
  expect(git(path, 'status', '--porcelain')).toBe('');
  expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('three\n');
  const found = spawnSync('grep', ['-rlaE', `${password}|${Buffer.from(`:${password}`).toString('base64').slice(4, 20)}`, root], {
    encoding: 'utf8',
  }).stdout;
  expect(found).toBe('');
}, 60_000);

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GitSource } from '@holdpoint/contract';
import { git, initRepository } from '@holdpoint/workspace/testing';
import { expect, test } from 'vitest';
import { openRemoteWorkspaces } from '../testing/remote-workspaces.ts';
import { sshd, startSshServer } from '../testing/ssh-server.ts';

test.skipIf(sshd === undefined)('a repository is fetched from and published to a real sshd', async () => {
  const root = mkdtempSync(join(tmpdir(), 'holdpoint-ssh-'));
  chmodSync(root, 0o711);
  const [work, bare] = [join(root, 'work'), join(root, 'bare.git')];
  mkdirSync(work);
  writeFileSync(join(work, 'a.txt'), 'a\n');
  const tip = initRepository(work);
  git(root, 'clone', '-q', '--bare', work, bare);
  await using server = await startSshServer(join(root, 'ssh'));
  const hosts = [`localhost:${server.port}`];
  const { key, knownHosts } = server;
  const given = {
    root: join(root, 'own'),
    certificate: '',
    url: 'https://localhost',
    hosts,
    knownHosts,
    secrets: { KEY: key },
  };
  mkdirSync(given.root, { mode: 0o711 });
  await using opened = await openRemoteWorkspaces(given);
  const url = `ssh://root@localhost:${server.port}${bare}`;
  const source: GitSource = { type: 'git', url, credentials: { secret: 'KEY' } };
  const [runId, tenant] = ['run_1', 'default'];
  const made = await opened.workspaces.materialise({ runId, source, tenant });
  expect(made.base_commit).toBe(tip);
  const { path } = await opened.workspaces.locate({ runId, epoch: 1 });
  writeFileSync(join(path, 'a.txt'), 'of the run\n');
  const { id: snapshot } = await opened.workspaces.snapshot({ runId, epoch: 1, parent: made.id, message: '' });
  const request = { runId, snapshot, target: { message: 'over ssh' } };
  const { digest } = await opened.workspaces.planPublish(request);
  expect(await opened.workspaces.publish({ ...request, expect: digest })).toMatchObject({ status: 'published' });
  expect(git(bare, 'show', `holdpoint/${runId}:a.txt`)).toBe('of the run');
  const line = key.split('\n')[2] ?? '';
  expect(spawnSync('grep', ['-rla', line, join(given.root, 'data')], { encoding: 'utf8' }).stdout).toBe('');

  const fails = (more: object, code: string) =>
    expect(opened.reopen(more).materialise({ runId: 'run_2', source, tenant })).rejects.toMatchObject({ code });
  await fails({ knownHosts: '' }, 'EREMOTEHOSTKEY');
  await fails({ knownHosts: knownHosts.replace(/.{12}$/, 'AAAAAAAAAAAA') }, 'EREMOTEHOSTKEY');
  await fails({ secrets: { KEY: 'nonsense in place of a key' } }, 'EREMOTEAUTH');
  rmSync(root, { recursive: true, force: true });
});

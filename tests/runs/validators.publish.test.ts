import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  approve,
  bash,
  finish,
  finished,
  git,
  nextApproval,
  plan,
  published,
  useSharedSystem,
} from '../harness/index.ts';

const system = useSharedSystem();
const { client } = system;

const files = { 'a.txt': 'one\ntwo\nthree\nfour\nfive\nsix\n', 'check.sh': 'grep -q zwei a.txt\n' };

async function repository(): Promise<string> {
  const path = await system.repositoryWith(files);
  await git(path, 'checkout', '-q', '-b', 'work');
  return path;
}

const translate = [bash('sed -i s/two/zwei/ a.txt')];

test('a failed validator publishes nothing; a fork that passes is published', async () => {
  const path = await repository();
  const run = await finish(client, {
    plan: plan([bash('sed -i s/three/drei/ a.txt')]),
    workspace: { source: { type: 'git', path } },
    validators: [
      { name: 'looks', command: 'echo looking; touch litter; test -s a.txt' },
      { name: 'translated', command: 'sh check.sh || { echo "no zwei in it" >&2; exit 4; }' },
      { name: 'never', command: 'true' },
    ],
  });
  const before = await git(path, 'for-each-ref');
  await expect(client.publish(run.id)).rejects.toMatchObject({ status: 409, code: 'validator_failed' });
  expect(await git(path, 'for-each-ref')).toBe(before);
  const { passed, results } = await client.getValidation(run.id);
  expect(passed).toBe(false);
  expect(results.map(({ name, status, exit_code }) => [name, status, exit_code])).toEqual([
    ['looks', 'passed', 0],
    ['translated', 'failed', 4],
  ]);
  expect(results[0]?.stdout).toBe('looking\n');
  expect(results[1]?.stderr).toBe('no zwei in it\n');
  expect(results[1]?.capabilities).toMatchObject({ driver: 'bubblewrap' });
  await expect(readFile(join(system.tree(run.id), 'litter'))).rejects.toThrow('ENOENT');

  const { run: fork } = await client.forkRun(run.id, {
    from_step: 1,
    plan: plan([bash('sed -i s/three/drei/ a.txt')], translate),
  });
  await finished(client, fork.id);
  expect(await client.publish(fork.id)).toMatchObject({ status: 'published' });
  expect(await git(path, 'show', `holdpoint/${fork.id}:a.txt`)).toBe('one\nzwei\ndrei\nfour\nfive\nsix');
});

test('a branch that moved gets a merge, and the validators see the merged files', async () => {
  const path = await repository();
  const run = await finish(client, {
    plan: plan(translate),
    workspace: { source: { type: 'git', path, ref: 'main' } },
    validators: [{ command: 'sh check.sh && grep -q sechs a.txt && test -e theirs.txt' }],
  });
  await git(path, 'checkout', '-q', 'main');
  await writeFile(join(path, 'a.txt'), files['a.txt'].replace('six', 'sechs'));
  await writeFile(join(path, 'theirs.txt'), 'theirs\n');
  await git(path, 'add', '-A');
  await git(path, 'commit', '-q', '-m', 'theirs');
  const tip = await git(path, 'rev-parse', 'main');

  await expect(client.publish(run.id, { branch: 'main' })).rejects.toMatchObject({
    code: 'publish_conflict',
    conflicts: [{ reason: 'branch_checked_out' }],
  });
  await git(path, 'checkout', '-q', 'work');
  const preview = await client.previewPublish(run.id, { branch: 'main' });
  expect(preview.target).toMatchObject({ how: 'merge', from: tip });
  const { published } = await client.publish(run.id, {
    branch: 'main',
    message: 'Translate',
    author: { name: 'Ann Example', email: 'ann@example.org' },
  });
  expect(published).toMatchObject({ branch: 'refs/heads/main' });
  expect(await git(path, 'log', '--format=%s|%an', '-2', 'main')).toBe('Translate|Ann Example\ntheirs|Test');
  expect(await git(path, 'show', 'main:a.txt')).toBe('one\nzwei\nthree\nfour\nfive\nsechs');
  expect(await git(path, 'status', '--porcelain')).toBe('');
});

test('a conflict becomes an approval with three versions, which a person resolves', async () => {
  const path = await system.directoryWith(files);
  const run = await finish(client, { plan: plan(translate), workspace: { source: { type: 'directory', path } } });
  await writeFile(join(path, 'a.txt'), 'the user wrote this\n');
  await expect(client.publish(run.id)).rejects.toMatchObject({ code: 'publish_conflict' });
  const approval = await nextApproval(client, run.id);
  expect(approval).toMatchObject({ kind: 'conflict', step_id: null, allowed_decisions: ['approve', 'edit', 'reject'] });
  const [conflict] = (approval.preview as { conflicts: { versions: Record<string, { text: string; oid: string }> }[] })
    .conflicts;
  expect(conflict?.versions).toMatchObject({
    base: { text: files['a.txt'] },
    source: { text: 'the user wrote this\n' },
    run: { text: files['a.txt'].replace('two', 'zwei') },
  });
  await client.decideApproval(approval.id, {
    decision: 'edit',
    action_digest: approval.action_digest,
    args: {
      resolutions: [
        { path: 'a.txt', take: 'text', text: 'both wrote this\n', seen: conflict?.versions.source?.oid ?? '' },
      ],
    },
  });
  const done = await published(client, run.id);
  expect(done.publication.status).toBe('published');
  expect(await readFile(join(path, 'a.txt'), 'utf8')).toBe('both wrote this\n');
});

test('a held publish shows its changes, and makes them when it is approved', async () => {
  const path = await system.directoryWith(files);
  const run = await finish(client, {
    plan: plan(translate),
    workspace: { source: { type: 'directory', path } },
    policy: { publish: 'hold' },
  });
  const asked = await client.publish(run.id);
  expect(asked).toMatchObject({ status: 'parked', published: null });
  const approval = await client.getApproval(asked.approval_id ?? '');
  expect(approval).toMatchObject({ kind: 'publish', action: { tool: 'publish', effect: 'external' } });
  expect(approval.preview).toMatchObject({ files: [{ path: 'a.txt', status: 'modified' }] });
  expect(await readFile(join(path, 'a.txt'), 'utf8')).toBe(files['a.txt']);
  await approve(client, approval);
  await published(client, run.id);
  expect(await readFile(join(path, 'a.txt'), 'utf8')).toContain('zwei');
});

test('an archive is a source, globs exclude files, and changed files are downloaded', async () => {
  const path = await system.directoryWith({ ...files, 'secret/key': 'key' });
  const archive = join(path, 'source.tar.gz');
  execFileSync('tar', ['-C', path, '-czf', archive, 'a.txt', 'check.sh', 'secret']);
  const { run } = await client.createRun({
    plan: plan([bash('test ! -e secret && sed -i s/two/zwei/ a.txt && echo made > made.txt')]),
    workspace: { source: { type: 'archive', path: archive, exclude: ['secret'] } },
  });
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  await expect(client.publish(run.id)).rejects.toMatchObject({ status: 409, code: 'not_publishable' });
  const listed = await client.listFiles(run.id);
  expect(listed.map((file) => file.path)).toEqual(['a.txt', 'check.sh', 'made.txt']);
  const stream = await client.downloadArchive(run.id, { only: 'changed' });
  const chunks = await Array.fromAsync(stream);
  const download = join(path, 'download.tar.gz');
  await writeFile(download, Buffer.concat(chunks));
  expect(execFileSync('tar', ['-tzf', download]).toString().split('\n').filter(Boolean)).toEqual(['a.txt', 'made.txt']);
});

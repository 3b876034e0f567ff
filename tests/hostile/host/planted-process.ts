/**
 * Program: a whole Holdpoint works on sources full of traps, with an agent to add more. Prints the result as JSON. Arguments: directory for
 * the sources, directory for the files left by sprung traps.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ApiError } from '@holdpoint/client';
import { publishPlanSchema } from '@holdpoint/contract';
import { git } from '../../harness/repositories.ts';
import { allowBash, bash, plan } from '../../harness/runs.ts';
import { startSystem } from '../../harness/system.ts';
import { type Mark, plantGitFolder, put, treePlants } from './plants.ts';

const [directory = '', fired = ''] = process.argv.slice(2);
const mark: Mark = (name) => `touch ${join(fired, name)}`;

const repository = join(directory, 'repository');
for (const [name, content] of Object.entries(treePlants(mark))) put(join(repository, name), content);
await git(repository, 'init', '-q', '-b', 'main');
await git(repository, 'add', '-A');
await git(repository, 'commit', '-q', '-m', 'as it was');
const folder = join(directory, 'folder');
cpSync(repository, folder, { recursive: true });
for (const source of [repository, folder]) {
  // A repository with borrowed objects: git reads more refs there.
  execFileSync('git', ['init', '-q', '--bare', join(source, '.git/other')], { env: { PATH: process.env.PATH } });
  plantGitFolder(join(source, '.git'), mark);
}

await using system = await startSystem();
const worker = await system.startWorker();
const { client } = system;
const report: Record<string, unknown> = {};

/** Traps left by an agent in its tree: in new repositories and in the places read by its tools. */
const agentPlants = [
  'git init -q . 2>/dev/null; git init -q nested; mkdir -p nested/.git/hooks deep/er',
  `for r in . nested; do git -C $r config core.fsmonitor '${mark('agent-fsmonitor')}'; git -C $r config filter.planted.clean '${mark('agent-clean')}; cat'; git -C $r config filter.planted.process '${mark('agent-process')}'; git -C $r config diff.external '${mark('agent-external')}'; for h in pre-commit post-checkout reference-transaction post-index-change; do printf '#!/bin/sh\\n${mark('agent-hook')}\\n' > $r/.git/hooks/$h; chmod +x $r/.git/hooks/$h; done; done`,
  `printf 'gitdir: ../nested/.git\\n' > deep/.git; echo '* filter=planted' > nested/.gitattributes; echo inside > nested/file`,
  `for f in .bashrc .envrc .profile deep/er/.bashrc; do echo '${mark('agent-script')}' > $f; done; ln -s ../../../../.. up; ln -s ${fired} out; mkfifo fifo`,
  `printf '%s' '{"scripts":{"preinstall":"${mark('agent-npm')}"}}' > deep/package.json; echo three >> src/a.txt`,
];

/** Answers the questions of the publish: takes the run's version of files under a filter of the source, and accepts missing files. */
async function publish(runId: string) {
  let asked: { approval_id: string | null } = await client.publish(runId).catch((error: unknown) => {
    if (error instanceof ApiError && error.approvalId !== undefined) return { approval_id: error.approvalId };
    throw error;
  });
  for (let decisions = 0; asked.approval_id !== null && decisions < 5; decisions++) {
    const approval = await client.getApproval(asked.approval_id);
    const { conflicts } = publishPlanSchema.parse(approval.preview);
    const strange = conflicts.filter(({ reason }) => reason !== 'attributes');
    if (strange.length > 0) throw new Error(`conflicts that no filter explains: ${JSON.stringify(strange)}`);
    const resolutions = conflicts.map(({ path, versions }) => {
      return { path, take: 'run', seen: versions?.source?.oid ?? null };
    });
    const { action_digest } = approval;
    const decision =
      conflicts.length > 0 ? { decision: 'edit' as const, args: { resolutions } } : { decision: 'approve' as const };
    await client.decideApproval(approval.id, { ...decision, action_digest });
    const settled = await client.waitForRun(runId, {
      until: ({ publication }) => publication.status !== 'requested' && publication.approval_id !== approval.id,
      signal: AbortSignal.timeout(30_000),
    });
    asked = settled.publication;
  }
  return (await client.getRun(runId)).publication;
}

async function carryThrough(
  name: string,
  source: { type: 'git' | 'directory'; path: string },
  finish: 'publish' | 'discard',
) {
  const edit = { tool: 'edit', args: { path: 'src/a.txt', old_string: 'two', new_string: 'zwei' } };
  const write = { tool: 'write_file', args: { path: '.envrc', content: `${mark('written')}\n` } };
  const { run } = await client.createRun({
    plan: plan(
      [bash(agentPlants.join('\n'))],
      [edit],
      [write],
      [bash('git status; git diff; npm run test; make; source .envrc; ls -la')],
    ),
    workspace: { source },
    policy: { rules: [allowBash] },
  });
  const done = await client.waitForRun(run.id, { signal: AbortSignal.timeout(60_000) });
  const diff = await client.diff(run.id);
  const patch = await client.patch(run.id);
  const ended = await (finish === 'publish' ? publish(run.id) : client.discard(run.id));
  if (finish === 'discard') {
    await client.waitForRun(run.id, {
      until: (now) => now.publication.status === 'discarded',
      signal: AbortSignal.timeout(30_000),
    });
  }
  report[name] = {
    status: done.status,
    reason: done.reason?.code ?? null,
    changed: diff.files.map((file) => file.path),
    patched: patch.includes('zwei'),
    finish: ended.status,
    treeLeft: existsSync(system.tree(run.id)),
  };
}

// A publish changes a directory source, so the directory comes last.
await carryThrough('git discarded', { type: 'git', path: repository }, 'discard');
await carryThrough('git published', { type: 'git', path: repository }, 'publish');
await carryThrough('directory discarded', { type: 'directory', path: folder }, 'discard');
await carryThrough('directory published', { type: 'directory', path: folder }, 'publish');

// A tree too deep for the host: no path is longer than 4096 bytes.
const deep = `python3 -c "import os\nfor _ in range(30): os.mkdir('d' * 200); os.chdir('d' * 200)\nopen('end', 'w').close()"`;
const { run } = await client.createRun({
  plan: plan([bash(deep)], [bash('echo after')]),
  policy: { rules: [allowBash] },
});
const done = await client.waitForRun(run.id, { signal: AbortSignal.timeout(60_000) });
report.deep = { status: done.status, reason: done.reason?.code ?? null };
if (done.status === 'paused' || done.status === 'running') await client.cancelRun(run.id);
await client.discard(run.id).then(
  () =>
    client.waitForRun(run.id, {
      until: (now) => now.publication.status === 'discarded',
      signal: AbortSignal.timeout(30_000),
    }),
  () => {},
);
report.deepLeft = existsSync(system.tree(run.id));
report.workerLives = existsSync(`/proc/${worker.pid}`);
mkdirSync(fired, { recursive: true });
process.stdout.write(`\n${JSON.stringify(report)}\n`);

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type AppProcess,
  allowBash,
  approve,
  bash,
  finished,
  git,
  nextApproval,
  plan,
  succeed,
  until,
  useSystem,
} from '../harness/index.ts';

const system = useSystem({ workers: 0 });
const { client } = system;
let worker: AppProcess;
test.beforeAll(async () => {
  worker = await system.startWorker();
});

const manifest = (more: object) => JSON.stringify({ version: '1.0.0', ...more });
const project = {
  '.gitignore': 'node_modules/\n',
  'package.json': manifest({ name: 'project', scripts: { test: 'node --test' } }),
  'add.js': 'module.exports = (a, b) => a - b;\n',
  'add.test.js':
    "const { test } = require('node:test');\nconst equal = require('sums');\ntest('adds', () => equal(require('./add.js')(1, 2), 3));\n",
};

/** A repository whose dependency npm has installed. */
async function projectWith(files: Record<string, string> = project): Promise<string> {
  const path = await system.repositoryWith(files);
  const sums = await system.directoryWith({
    'package.json': manifest({ name: 'sums' }),
    'index.js': "module.exports = (a, b) => require('node:assert').equal(a, b);\n",
  });
  const npm = (cwd: string, ...args: string[]) =>
    execFileSync('npm', args, {
      cwd,
      stdio: 'pipe',
      env: { PATH: process.env.PATH, HOME: system.directory, npm_config_offline: 'true', npm_config_audit: 'false' },
    });
  npm(sums, 'pack');
  npm(path, 'install', '--no-save', '--no-fund', join(sums, 'sums-1.0.0.tgz'));
  return path;
}
/** Everything in a folder: paths, contents, modes, owners and times. */
function stateOf(folder: string): string {
  const hash = createHash('sha256');
  for (const name of (readdirSync(folder, { recursive: true }) as string[]).sort()) {
    const path = join(folder, name);
    const { mode, uid, gid, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
    hash.update([name, mode, uid, gid, mtimeNs, ctimeNs].join());
    if (lstatSync(path).isFile()) hash.update(readFileSync(path));
  }
  return hash.digest('hex');
}

const stdoutOf = async (runId: string, index: number) => {
  const step = (await client.listSteps(runId)).data[index];
  return ((await client.getStep(step?.id ?? '')).result as { stdout: string }).stdout;
};

test("a run on a commit repairs the project with the project's own tests, and publishes the repair alone", async () => {
  const path = await projectWith();
  const before = stateOf(join(path, 'node_modules'));
  const source = { type: 'git' as const, path, with: ['node_modules'] };
  const read = (pattern: object) => [{ tool: 'grep', args: { pattern: 'module.exports', ...pattern } }];
  const run = await succeed(client, {
    plan: plan(
      [bash('node add.test.js >out 2>&1 && exit 1; grep "3 !== -1\\|-1 == 3" out; rm out')],
      [{ tool: 'write_file', args: { path: 'add.js', content: 'module.exports = (a, b) => a + b;\n' } }],
      [bash('npm test >/dev/null && git status --porcelain')],
      read({}),
      read({ include_ignored: true }),
      [{ tool: 'read_file', args: { path: 'node_modules/sums/package.json' } }],
    ),
    policy: { rules: [allowBash] },
    validators: [{ command: 'npm test' }],
    workspace: { source },
  });
  expect(run.request.source).toMatchObject(source);
  expect(await stdoutOf(run.id, 2)).toBe(' M add.js\n');
  const found = async (index: number) =>
    JSON.stringify((await client.getStep((await client.listSteps(run.id)).data[index]?.id ?? '')).result);
  expect(await found(3)).not.toContain('node_modules');
  expect(await found(4)).toContain('node_modules/sums/index.js');
  expect(await found(5)).toContain('1.0.0');
  expect((await client.diff(run.id, { include_ignored: true })).files.map((file) => file.path)).toEqual(['add.js']);
  expect(await client.publish(run.id, { include_ignored: true })).toMatchObject({ published: { left_out: [] } });
  expect(await git(path, 'diff', '--name-only', 'main', `holdpoint/${run.id}`)).toBe('add.js');
  expect(stateOf(join(path, 'node_modules'))).toBe(before);
});

test('a write into a folder fails with what to do', async () => {
  const path = await projectWith();
  const before = stateOf(join(path, 'node_modules'));
  const run = await finished(
    client,
    (
      await client.createRun({
        plan: {
          groups: [
            {
              steps: [{ tool: 'write_file', args: { path: 'node_modules/new.js', content: 'x' } }],
              on_error: 'continue',
            },
            { steps: [bash('echo x > node_modules/new.js || rm -rf node_modules; ls node_modules')] },
          ],
        },
        policy: { rules: [allowBash] },
        workspace: { source: { type: 'git', path, with: ['node_modules'] } },
      })
    ).run.id,
  );
  const [written] = (await client.listSteps(run.id)).data;
  expect((await client.getStep(written?.id ?? '')).error).toMatchObject({
    code: 'EROFS',
    next: expect.stringContaining('`with`'),
  });
  expect(await stdoutOf(run.id, 1)).toContain('sums');
  expect(stateOf(join(path, 'node_modules'))).toBe(before);
});

test('a background command, a parked run, another worker and a fork have the folders; one that is gone pauses the run', async () => {
  const path = await projectWith({ ...project, 'packages/a/index.js': 'a\n' });
  mkdirSync(join(path, 'packages/a/node_modules'));
  writeFileSync(join(path, 'packages/a/node_modules/inner.js'), 'inner\n');
  const folders = ['node_modules', 'packages/a/node_modules'];
  const look = 'cat packages/a/node_modules/inner.js; ls node_modules';
  const kept = [
    [
      {
        tool: 'bash',
        args: {
          command: `until [ -e go ]; do sleep 0.05; done; { ${look}; } > new; mv new seen`,
          run_in_background: true,
        },
      },
    ],
    [bash('touch go; until [ -s seen ]; do sleep 0.05; done; cat seen')],
  ];
  const { run } = await client.createRun({
    plan: plan(...kept, [{ tool: 'write_file', args: { path: 'held', content: 'x' } }], [bash(look)], [bash(look)]),
    policy: { rules: [allowBash, { match: { tool: 'write_file' }, action: 'hold' }] },
    workspace: { source: { type: 'git', path, with: folders } },
  });
  const held = await nextApproval(client, run.id);
  expect(await stdoutOf(run.id, 1)).toBe('inner\nsums\n');
  await worker.signal('SIGKILL');
  worker = await system.startWorker();
  const gone = join(path, 'node_modules');
  renameSync(gone, `${gone}-away`);
  await approve(client, held);
  await until('the run is paused', async () => (await client.getRun(run.id)).status === 'paused');
  expect((await client.getRun(run.id)).reason).toMatchObject({
    code: 'ESOURCEFOLDERLOST',
    message: expect.stringContaining('node_modules does not exist'),
    next: expect.stringContaining('resume'),
  });
  renameSync(`${gone}-away`, gone);
  await client.resumeRun(run.id);
  expect(await finished(client, run.id)).toMatchObject({ status: 'succeeded' });
  expect(await stdoutOf(run.id, 4)).toBe('inner\nsums\n');
  const { run: fork } = await client.forkRun(run.id, { from_step: 2, plan: plan(...kept, [bash(look)]) });
  expect(await finished(client, fork.id)).toMatchObject({
    status: 'succeeded',
    request: { source: { with: folders } },
  });
  expect((await client.diff(fork.id, { include_ignored: true })).files.map((file) => file.path)).toEqual([
    'go',
    'seen',
  ]);
  expect(existsSync(join(path, 'go'))).toBe(false);
});

import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Approval } from '@holdpoint/contract/wire';
import { beforeAll, describe, expect, test } from 'vitest';
import { type AppProcess, bash, finished, nextApproval, plan, until, useSystem } from '../harness/index.ts';

const system = useSystem({ workers: 0 });
let worker: AppProcess;
beforeAll(async () => {
  worker = await system.startWorker();
});

const policy = { rules: [{ match: { tool: 'bash' }, action: 'hold' as const }] };

const write = (path: string, content: string) => ({ tool: 'write_file', args: { path, content } });
const background = (command: string) => ({ tool: 'bash', args: { command, run_in_background: true } });
const submit = (...groups: Parameters<typeof plan>) => system.client.createRun({ plan: plan(...groups), policy });

/**
 * A background command that runs `line` once a file `go` appears in the workspace, removes that file, and then runs until the run ends.
 */
const onGo = (line: string, first = 'true') =>
  background(`${first}; until [ -e go ]; do sleep 0.05; done; ${line}; rm go; sleep 1000`);
const decide = (approval: Approval, decision: 'approve' | 'reject' = 'approve') =>
  system.client.decideApproval(approval.id, { decision, action_digest: approval.action_digest });

/** A run whose call `bash ./deploy.sh` is shown while an approved background command waits for `go`. */
async function showBeside(background: ReturnType<typeof onGo>, call = bash('bash ./deploy.sh > ran.txt')) {
  const { run } = await submit(
    [write('deploy.sh', 'echo SAFE\n')],
    [write('dir/inner.txt', 'inner\n')],
    [background],
    [call],
  );
  await decide(await nextApproval(system.client, run.id));
  const shown = await nextApproval(system.client, run.id);
  await until('the command runs', async () => (await system.client.listTasks(run.id))[0]?.status === 'running');
  return { runId: run.id, shown };
}

const at = (runId: string, path: string) => join(system.tree(runId), path);
async function letGo(runId: string): Promise<void> {
  const go = at(runId, 'go');
  writeFileSync(go, '');
  await until('the command has run its line', () => !existsSync(go));
}
const cancel = async (runId: string) => {
  await system.client.cancelRun(runId);
  await finished(system.client, runId);
};

const modified = (path: string) => [{ path, change: 'modified' }];
/** Undoes a change of the script. */
const safe = 'echo "echo SAFE" > deploy.sh';

/**
 * Every way in which a command can change the files that an approved call reads. The background command changes them between the decision and
 * the call. Each has to end in `action_changed`: an attack is a row that changes what runs but not the digest.
 */
const ways: [name: string, line: string, changed: object[], undo: string][] = [
  ['writes a file', 'echo "echo EVIL" > deploy.sh', modified('deploy.sh'), safe],
  [
    'writes a file with its old size and time',
    'touch -r deploy.sh /tmp/t; printf "echo EVIL\\n" > deploy.sh; touch -r /tmp/t deploy.sh',
    modified('deploy.sh'),
    safe,
  ],
  [
    'renames another file over it',
    'printf "echo EVIL\\n" > x; touch -r deploy.sh x; mv x deploy.sh',
    modified('deploy.sh'),
    safe,
  ],
  ['creates a file', 'echo EVIL > new.sh', [{ path: 'new.sh', change: 'added' }], 'rm new.sh'],
  ['removes a file', 'rm deploy.sh', [{ path: 'deploy.sh', change: 'deleted' }], safe],
  [
    'replaces a file with a link',
    'echo "echo EVIL" > e; rm deploy.sh; ln -s e deploy.sh',
    [
      { path: 'deploy.sh', change: 'modified' },
      { path: 'e', change: 'added' },
    ],
    'rm e deploy.sh; echo "echo SAFE" > deploy.sh',
  ],
  ['makes a file executable', 'chmod +x deploy.sh', modified('deploy.sh'), 'chmod -x deploy.sh'],
  ['removes the permissions of a file', 'chmod 0 deploy.sh', modified('deploy.sh'), 'chmod 644 deploy.sh'],
  ['creates an empty folder', 'mkdir empty', [{ path: 'empty', change: 'added' }], 'rmdir empty'],
  [
    'removes a folder',
    'rm -r dir',
    [{ path: 'dir/inner.txt', change: 'deleted' }],
    'mkdir dir; echo inner > dir/inner.txt',
  ],
  [
    'replaces a file with a pipe',
    'rm deploy.sh; mkfifo deploy.sh',
    [{ path: 'deploy.sh', change: 'unknown' }],
    'rm deploy.sh; echo "echo SAFE" > deploy.sh',
  ],
  [
    'creates a ref',
    'git update-ref refs/heads/evil HEAD',
    modified('.git/refs/heads/evil'),
    'git update-ref -d refs/heads/evil',
  ],
  [
    'points HEAD to another branch',
    'cp .git/HEAD /tmp/HEAD; git symbolic-ref HEAD refs/heads/evil',
    modified('.git/HEAD'),
    'cat /tmp/HEAD > .git/HEAD',
  ],
  [
    'changes only the index',
    'cp .git/index /tmp/index; git update-index --assume-unchanged deploy.sh || git rm -q --cached -r . || git read-tree --empty',
    modified('.git/index'),
    'cat /tmp/index > .git/index',
  ],
  [
    'changes the configuration of a nested repository',
    'git -C sub config alias.status "!echo EVIL"',
    modified('sub/.git/config'),
    'git -C sub config --unset alias.status',
  ],
  [
    'replaces a nested repository with a gitdir file',
    'mv sub/.git /tmp/git; echo gitdir: ../x > sub/.git',
    modified('sub/.git'),
    'rm sub/.git; mv /tmp/git sub/.git',
  ],
];

/** Every second way; `npm run test:crash` has all of them. */
const chosen = process.env.HOLDPOINT_CRASH === 'full' ? ways : ways.filter((_, at) => at % 2 === 0);

/** Lines that fail: the files of the workspace repository that can name programs are read-only. */
const impossible = [
  'git config core.fsmonitor evil',
  'echo evil > .git/hooks/pre-commit',
  'mv .git/config .git/x',
  'rm -rf .git/hooks',
  'echo "* filter=evil" > .git/info/attributes',
];

test('a background command that changes files makes an approved call ask again', async () => {
  const interpreter = background(
    'while :; do until [ -e go ]; do sleep 0.05; done; . ./go > /dev/null 2>&1; rm go; done',
  );
  const { run } = await submit(
    [write('deploy.sh', 'echo SAFE\n')],
    [write('dir/inner.txt', 'inner\n')],
    [bash('git init -q sub; git add deploy.sh')],
    [interpreter],
    [bash('bash ./deploy.sh > ran.txt')],
  );
  for (let decided = 0; decided < 2; decided++) await decide(await nextApproval(system.client, run.id));
  let shown = await nextApproval(system.client, run.id);
  await until('the command runs', async () => (await system.client.listTasks(run.id))[0]?.status === 'running');
  const tree = system.tree(run.id);
  const execute = async (line: string) => {
    writeFileSync(at(run.id, 'next'), line);
    renameSync(at(run.id, 'next'), at(run.id, 'go'));
    await until('the command has run the line', () => !existsSync(at(run.id, 'go')));
  };
  for (const [name, line, changes, undo] of chosen) {
    await execute(line);
    await decide(shown);
    const again = await nextApproval(system.client, run.id);
    // git writes logs, too.
    const isGit = line.includes('git');
    const found = isGit ? expect.arrayContaining(changes) : changes;
    expect(again.changed, name).toMatchObject({ approval_id: shown.id, changes: found });
    if (!isGit) expect(again.changed?.total, name).toBe(changes.length);
    expect(again.action_digest, name).not.toBe(shown.action_digest);
    expect(again.kind).toBe('action');
    expect(await system.client.getApproval(shown.id)).toMatchObject({ status: 'approved', superseded_by: again.id });
    expect(existsSync(at(run.id, 'ran.txt')), name).toBe(false);
    await execute(undo);
    await decide(again);
    shown = await nextApproval(system.client, run.id);
    expect(shown.changed, `${name}, undone`).toMatchObject({ approval_id: again.id });
  }
  expect(system.tree(run.id)).toBe(tree);
  for (const line of impossible) await execute(line);
  await decide(shown);
  expect(await finished(system.client, run.id)).toMatchObject({ status: 'succeeded' });
  expect(readFileSync(at(run.id, 'ran.txt'), 'utf8')).toBe('SAFE\n');
}, 120_000);

describe('a background command', () => {
  test('is noticed when it writes through a dirty mapping, which changes no times', async () => {
    const program = `import mmap, os, time
f = os.open("deploy.sh", os.O_RDWR); m = mmap.mmap(f, 10); os.close(f)
m[0] = m[0]
open("mapped", "w").close()
while not os.path.exists("go"): time.sleep(0.02)
m[5:9] = b"EVIL"
os.remove("go")
time.sleep(1000)`;
    const mapping = background(`python3 -c '${program}'`);
    const { run } = await system.client.createRun({
      plan: plan(
        [write('deploy.sh', 'echo SAFE\n')],
        [mapping],
        [{ tool: 'ask_user', args: { question: 'Is it mapped?' } }],
        [bash('true')],
        [bash('bash ./deploy.sh > ran.txt')],
      ),
      policy,
    });
    await decide(await nextApproval(system.client, run.id));
    const question = await nextApproval(system.client, run.id);
    await until('it is mapped', () => existsSync(at(run.id, 'mapped')));
    const { action_digest } = question;
    await system.client.decideApproval(question.id, { decision: 'respond', action_digest, message: 'yes' });
    // The next call finds the new file `mapped` and asks again; then its snapshot reads every file.
    await decide(await nextApproval(system.client, run.id));
    await decide(await nextApproval(system.client, run.id));
    const shown = await nextApproval(system.client, run.id);
    expect(shown.action.args).toMatchObject({ command: 'bash ./deploy.sh > ran.txt' });
    const before = statSync(at(run.id, 'deploy.sh'), { bigint: true });
    await letGo(run.id);
    expect(readFileSync(at(run.id, 'deploy.sh'), 'utf8')).toBe('echo EVIL\n');
    expect(statSync(at(run.id, 'deploy.sh'), { bigint: true }).ctimeNs).toBe(before.ctimeNs);
    await decide(shown);
    const again = await nextApproval(system.client, run.id);
    expect(again.changed).toMatchObject({ changes: [{ path: 'deploy.sh', change: 'modified' }], total: 1 });
    // The call runs the version that was shown the second time.
    expect((await system.client.diff(run.id, { path: 'deploy.sh' })).files[0]?.hunks[0]?.lines).toEqual(['+echo EVIL']);
    await decide(again);
    expect(await finished(system.client, run.id)).toMatchObject({ status: 'succeeded' });
    expect(readFileSync(at(run.id, 'ran.txt'), 'utf8')).toBe('EVIL\n');
  });
});

test('an approved call runs at once when the background command changed nothing', async () => {
  const { runId, shown } = await showBeside(onGo('true'));
  expect(shown.may_write).toMatchObject([{ status: 'running', since: expect.stringMatching(/^20/) }]);
  expect(shown.may_write[0]?.command).toContain('until [ -e go ]');
  await decide(shown);
  expect(await finished(system.client, runId)).toMatchObject({ status: 'succeeded' });
  expect(readFileSync(at(runId, 'ran.txt'), 'utf8')).toBe('SAFE\n');
});

test('background commands are frozen while an approved call runs, and continue later', async () => {
  const counting = background('while sleep 0.01; do echo x >> /tmp/c; [ -e ran.txt ] && echo x >> after.txt; done');
  const call = bash('echo one > ran.txt; sleep 0.5; cat after.txt >> ran.txt 2> /dev/null; true');
  // The question keeps the run open, so that the command continues.
  const { run } = await submit([counting], [call], [{ tool: 'ask_user', args: { question: 'Well?' } }]);
  await decide(await nextApproval(system.client, run.id));
  await decide(await nextApproval(system.client, run.id));
  const question = await nextApproval(system.client, run.id);
  expect(question.kind).toBe('input');
  expect(readFileSync(at(run.id, 'ran.txt'), 'utf8')).toBe('one\n');
  await until('the command continues', () => existsSync(at(run.id, 'after.txt')));
  await cancel(run.id);
});

test('an edited call asks again, too, when its files have changed', async () => {
  const { runId, shown } = await showBeside(onGo('echo "echo EVIL" > deploy.sh'));
  await letGo(runId);
  const { action_digest } = shown;
  const args = { command: 'bash deploy.sh > ran.txt' };
  await system.client.decideApproval(shown.id, { decision: 'edit', action_digest, args });
  const again = await nextApproval(system.client, runId);
  expect(again.action.args).toMatchObject(args);
  expect(existsSync(at(runId, 'ran.txt'))).toBe(false);
  await decide(again, 'reject');
  await cancel(runId);
});

test('other calls of the turn and a sub-agent cannot change an approved call', async () => {
  const sub = [{ steps: [write('deploy.sh', 'echo EVIL\n')] }];
  const { run } = await system.client.createRun({
    plan: {
      groups: [
        { steps: [write('deploy.sh', 'echo SAFE\n')] },
        {
          steps: [
            { name: 'sub', tool: 'task', args: { description: 'write', plan: sub } },
            { tool: 'bash', args: { command: 'bash ./deploy.sh > ran.txt' } },
            write('deploy.sh', 'echo EVIL\n'),
          ],
        },
        { steps: [{ tool: 'task_merge', args: { task_id: { $from: 'sub', pointer: '/task_id' } } }] },
      ],
    },
    policy,
  });
  const shown = await nextApproval(system.client, run.id);
  await until(
    'the sub-agent has completed',
    async () => (await system.client.listTasks(run.id))[0]?.status === 'completed',
  );
  expect((await system.client.getApproval(shown.id)).action_digest).toBe(shown.action_digest);
  await decide(shown);
  await finished(system.client, run.id);
  expect(readFileSync(at(run.id, 'ran.txt'), 'utf8')).toBe('SAFE\n');
});

test('a worker killed during an approved call leaves no frozen command and one effect', async () => {
  const call = bash('echo one >> ran.txt; sleep 1; echo two >> ran.txt');
  const { runId, shown } = await showBeside(onGo('true'), call);
  await decide(shown);
  await until('the command runs', () => existsSync(at(runId, 'ran.txt')));
  await worker.signal('SIGKILL');
  worker = await system.startWorker();
  expect(await finished(system.client, runId)).toMatchObject({ status: 'succeeded' });
  expect(readFileSync(at(runId, 'ran.txt'), 'utf8')).toBe('one\ntwo\n');
  expect((await system.client.listTasks(runId))[0]?.status).toBe('lost');
});

test('an approved background command starts before its call settles', async () => {
  const command = background('bash ./deploy.sh > ran.txt; sleep 1000');
  const { run } = await submit(
    [write('deploy.sh', 'echo SAFE\n')],
    [command],
    [write('deploy.sh', 'echo EVIL\n')],
    [{ tool: 'ask_user', args: { question: 'Well?' } }],
  );
  const shown = await nextApproval(system.client, run.id);
  expect(shown.preview).toMatchObject({ background: true });
  await decide(shown);
  expect(await nextApproval(system.client, run.id)).toMatchObject({ kind: 'input' });
  const steps = (await system.client.listSteps(run.id)).data;
  const [task] = await system.client.listTasks(run.id);
  const started = Date.parse(task?.started_at ?? '');
  expect(started).toBeLessThanOrEqual(Date.parse(steps[1]?.settled_at ?? ''));
  expect(started).toBeLessThan(Date.parse(steps[2]?.started_at ?? ''));
  await cancel(run.id);
});

test('an approved background command does not start beside another one', async () => {
  const quiet = background('sleep 1000');
  const { run } = await system.client.createRun({
    plan: { groups: [{ steps: [quiet] }, { on_error: 'continue', steps: [quiet] }] },
    policy,
  });
  await decide(await nextApproval(system.client, run.id));
  await decide(await nextApproval(system.client, run.id));
  expect(await finished(system.client, run.id)).toMatchObject({ status: 'succeeded' });
  const second = (await system.client.listSteps(run.id)).data[1];
  expect(second?.error).toMatchObject({ code: 'ETASKSOPEN', next: expect.stringContaining('kill_shell') });
  expect(await system.client.listTasks(run.id)).toHaveLength(1);
});

test('an approval lists the repositories of the run, with their configuration', async () => {
  const { run } = await submit(
    [write('a', '')],
    [bash('git init -q sub; git -C sub config alias.st "!echo EVIL"; git update-ref refs/heads/x HEAD')],
    [bash('cd sub && git st')],
  );
  const first = await nextApproval(system.client, run.id);
  expect(first.repositories).toEqual([]);
  await decide(first);
  const { repositories } = await nextApproval(system.client, run.id);
  expect(repositories).toMatchObject([
    { path: '.git/', configuration: null },
    { path: 'sub/.git/', configuration: expect.stringContaining('st = !echo EVIL') },
  ]);
  await cancel(run.id);
});

test('a held merge shows the snapshot and the changes of the sub-agent', async () => {
  const sub = [{ steps: [write('deploy.sh', 'echo SUB\n')] }];
  const { run } = await system.client.createRun({
    plan: {
      groups: [
        { steps: [{ name: 'sub', tool: 'task', args: { description: 'write', plan: sub } }] },
        { steps: [{ tool: 'task_merge', args: { task_id: { $from: 'sub', pointer: '/task_id' } } }] },
      ],
    },
    policy: { rules: [{ match: { tool: 'task_merge' }, action: 'hold' as const }] },
  });
  const shown = await nextApproval(system.client, run.id);
  const child = (await system.client.listTasks(run.id))[0]?.child?.run_id;
  expect(shown.preview).toMatchObject({
    kind: 'merge',
    run_id: child,
    snapshot: expect.stringMatching(/^[0-9a-f]{40}$/),
    changes: [{ path: 'deploy.sh', change: 'added' }],
    total: 1,
    patch: expect.stringContaining('+echo SUB'),
    cut: false,
  });
  await decide(shown);
  expect(await finished(system.client, run.id)).toMatchObject({ status: 'succeeded' });
  expect(readFileSync(at(run.id, 'deploy.sh'), 'utf8')).toBe('echo SUB\n');
});

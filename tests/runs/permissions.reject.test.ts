import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { CreateRun } from '@holdpoint/contract/wire';
import { expect, test } from 'vitest';
import { bash, finished, plan, useSystem } from '../harness/index.ts';

// Loopback is open to show what permissions alone keep closed.
const system = useSystem({ env: () => ({ HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.0/8' }) });

const write = (path: string, content = 'x\n') => ({ tool: 'write_file', args: { path, content } });
const read = (path: string) => ({ tool: 'read_file', args: { path } });
const allowAll = { rules: [{ match: {}, action: 'allow' as const }] };

type Group = NonNullable<CreateRun['plan']>['groups'][number]['steps'];
const run = async (grants: Partial<CreateRun>, ...groups: Group[]) => {
  const going = { groups: groups.map((steps) => ({ steps, on_error: 'continue' as const })) };
  const { run: submitted } = await system.client.createRun({ plan: going, policy: allowAll, ...grants });
  const ended = await finished(system.client, submitted.id);
  const { data: items } = await system.client.listSteps(submitted.id);
  const steps = await Promise.all(items.map(({ id }) => system.client.getStep(id)));
  return { run: ended, steps, tree: system.tree(submitted.id) };
};
const errorsOf = ({ steps }: Awaited<ReturnType<typeof run>>) =>
  steps.map(({ status, error }) => (error === null ? status : `${error.code}: ${error.message}`));

test('a call without its permission is denied and says how to get it', async () => {
  const done = await run(
    { permissions: ['fs:read', 'fs:write:src/**', 'exec:echo'] },
    [write('src/a.txt')],
    [write('docs/a.txt')],
    [bash('echo ok && ls')],
    [bash('echo fine')],
  );
  expect(errorsOf(done)).toEqual([
    'succeeded',
    'EPERMISSION: Not run: the run lacks the permission: fs:write:docs/a.txt.',
    'EPERMISSION: Not run: the run lacks the permission: exec:ls.',
    'succeeded',
  ]);
  expect(done.steps[1]?.error?.next).toContain('Submit the run with the permission fs:write:docs/a.txt');
  expect(existsSync(join(done.tree, 'docs'))).toBe(false);
});

test('a path is judged where its links lead', async () => {
  const path = await system.directoryWith({
    'src/a.txt': 'a\n',
    'secret/key': 'hidden\n',
    'deep/er/b.txt': 'b\n',
    'deep/top.txt': 't\n',
  });
  const links =
    "import os; os.symlink('../secret','src/link'); os.symlink('../deep/er','src/er'); os.symlink('kept','src/alias')";
  const done = await run(
    {
      workspace: { source: { type: 'directory', path } },
      permissions: ['fs:read:src/**', 'fs:write:src/**', 'exec:*'],
      protected: ['src/kept'],
    },
    [bash(`python3 -c "${links}"`)],
    [read('src/link/key')],
    // As text this is src/top.txt; behind the link it is deep/top.txt.
    [read('src/er/../top.txt')],
    [write('src/link/new')],
    [write('src/alias')],
    [read('src/a.txt')],
  );
  expect(errorsOf(done)).toEqual([
    'succeeded',
    'EPERMISSION: Not run: through a link: the run lacks the permission: fs:read:secret/key.',
    'EPERMISSION: Not run: through a link: the run lacks the permission: fs:read:deep/top.txt.',
    'EPERMISSION: Not run: through a link: the run lacks the permission: fs:write:secret/new.',
    'EPERMISSION: Not run: through a link: a protected path: src/kept.',
    'succeeded',
  ]);
});

test('a policy rule on paths sees where a link leads', async () => {
  const policy = {
    rules: [{ match: { paths: ['private/**'] }, action: 'deny' as const, reason: 'private' }, ...allowAll.rules],
  };
  const done = await run({ policy }, [bash('mkdir private; ln -s private open')], [write('open/a')]);
  expect(errorsOf(done)).toEqual(['succeeded', expect.stringMatching(/^EPERMISSION: .*through a link: private/)]);
});

test('what a command really changed is compared with the permissions, and nothing of a violation remains', async () => {
  const path = await system.directoryWith({ 'src/a.txt': 'a\n', 'docs/b.txt': 'b\n', '.env': 'S=1\n' });
  const program = `python3 -c "open('src/a.txt','w').write('new'); open('docs/b.txt','w').write('evil')"`;
  const done = await run(
    {
      workspace: { source: { type: 'directory', path } },
      permissions: ['fs:read', 'fs:write:src/**', 'exec:*'],
      protected: ['.env'],
    },
    [bash(program)],
    [bash('bash -c "$(echo rm) .env"; bash -c "$(echo mkfifo) docs/pipe"')],
    [bash(`python3 -c "import os; os.mkdir(b'docs/\\xff')"`)],
    [bash('cat src/a.txt docs/b.txt .env; ls docs')],
    [bash("python3 -c \"open('src/new.txt','w').write('fine')\"")],
  );
  expect(errorsOf(done)).toEqual([
    'EPERMISSION: Taken back: it changed docs/b.txt, which this run may not write. Nothing of the call remains.',
    expect.stringMatching(/^EPERMISSION: /),
    expect.stringMatching(/^EPERMISSION: Taken back: it changed "docs/),
    'succeeded',
    'succeeded',
  ]);
  expect(done.steps[3]?.result).toMatchObject({ stdout: 'a\nb\nS=1\nb.txt\n' });
  expect(done.steps[0]?.snapshot).toBeNull();
  expect(existsSync(join(done.tree, 'src/new.txt'))).toBe(true);
});

test('a background command that changes a protected path fails at its capture, and its changes are gone', async () => {
  const background = { tool: 'bash', args: { command: "python3 -c \"open('kept','w')\"", run_in_background: true } };
  const wait = { tool: 'task_output', args: { task_id: { $from: 'bg', pointer: '/task_id' }, wait_s: 30 } };
  const done = await run(
    { protected: ['kept'] },
    [{ ...background, name: 'bg' }],
    [wait],
    [bash('ls -A | grep -v .git')],
  );
  const [task] = await system.client.listTasks(done.run.id);
  expect(task).toMatchObject({ status: 'failed', reason: { code: 'EPERMISSION' } });
  expect(existsSync(join(done.tree, 'kept'))).toBe(false);
});

test('a read-only run reads with commands, changes nothing, and takes no snapshot', async () => {
  const path = await system.directoryWith({ 'a.txt': 'a\n' });
  const done = await run(
    { workspace: { source: { type: 'directory', path } }, modes: { read_only: true } },
    [bash('cat a.txt')],
    [bash('echo b > b.txt')],
    [bash('git commit --allow-empty -m x; rm -rf .git/refs; touch .git/x')],
    [write('c.txt')],
    [{ tool: 'bash', args: { command: 'touch d', run_in_background: true } }],
  );
  expect(errorsOf(done)).toEqual([
    'succeeded',
    'EEXIT: exit code 1',
    'EEXIT: exit code 1',
    'EPERMISSION: Not run: the mode of the run: read_only.',
    'succeeded',
  ]);
  expect(done.run.workspace.snapshot).toBe(done.run.workspace.base);
  expect(done.steps.map(({ snapshot }) => snapshot)).toEqual([null, null, null, null, null]);
});

test('a sub-agent has the permissions of its run', async () => {
  const agent = {
    tool: 'task',
    args: { description: 'sub', plan: [{ steps: [write('docs/a.txt')] }] },
  };
  const done = await run({ permissions: ['fs:write:src/**'], modes: { read_only: true } }, [agent]);
  const [task] = await system.client.listTasks(done.run.id);
  const child = await system.client.getRun(task?.child?.run_id ?? '');
  expect(child.request).toMatchObject({ permissions: ['fs:write:src/**'], modes: { read_only: true } });
  expect((await system.client.listSteps(child.id)).data[0]).toMatchObject({ status: 'rejected' });
});

test('permissions and modes leave only some hosts of the allowlist open', async () => {
  const network = { allow: ['*.example.com', 'other.test'] };
  const { run: narrowed } = await system.client.createRun({
    ...{ plan: plan([read('a')]), network },
    permissions: ['fs:read', 'net:api.example.com:443'],
  });
  expect((await system.client.getRun(narrowed.id)).request.network.allow).toEqual(['api.example.com:443']);
  const { run: fixed } = await system.client.createRun({
    plan: plan([read('a')]),
    network,
    modes: { deterministic: true },
  });
  expect((await system.client.getRun(fixed.id)).request.network.allow).toEqual([]);
});

test('a fork may have less and never more', async () => {
  const done = await run({ permissions: ['fs:read', 'fs:write:src/**'], modes: { dry_run: true } }, [read('a')]);
  const refused = system.client.forkRun(done.run.id, {
    ...{ from_step: 0, permissions: ['fs:write:src/a/**', 'fs:write'], modes: { dry_run: false } },
  });
  await expect(refused).rejects.toMatchObject({
    code: 'permissions_widened',
    errors: [{ pointer: '/permissions/1' }, { pointer: '/modes/dry_run' }],
  });
  const { run: fork } = await system.client.forkRun(done.run.id, {
    ...{ from_step: 0, permissions: ['fs:write:src/a/**'], protected: ['x'], modes: { read_only: true } },
  });
  expect((await system.client.getRun(fork.id)).request).toMatchObject({
    permissions: ['fs:write:src/a/**'],
    protected: ['x'],
    modes: { read_only: true, dry_run: true, deterministic: false },
  });
});

test.each([
  [{ permissions: ['fs:wirte'] }, '/permissions/0', 'fs:write'],
  [{ permissions: ['fs:read', 'net:'] }, '/permissions/1', 'net:HOST'],
  [{ protected: ['../x'] }, '/protected/0', 'outside'],
  [{ modes: { readonly: true } as object }, '/modes/readonly', 'read_only'],
])('%o is refused with its place and the nearest name', async (grants, pointer, near) => {
  const refused = system.client.createRun({ plan: plan([read('a')]), ...grants });
  await expect(refused).rejects.toMatchObject({
    status: 422,
    errors: [{ pointer, detail: expect.stringContaining(near) }],
  });
});

test('a redirect leads to no host that the permissions leave out, also where a setting lists it', async () => {
  const visits: string[] = [];
  const [from, to] = [0, 0].map(() =>
    createServer(({ headers: { host }, url = '' }, response) => {
      visits.push(`${host}`);
      if (url === '/') response.end('reached');
      else response.writeHead(302, { location: url.slice(1) }).end();
    }).listen(0, '127.0.0.1'),
  ) as [Server, Server];
  await Promise.all([from, to].map((server) => once(server, 'listening')));
  const [permitted = '', other = ''] = [from, to].map(
    (server) => `127.0.0.1:${(server.address() as AddressInfo).port}`,
  );
  const fetch = { tool: 'web_fetch', args: { url: `http://${permitted}/http://${other}/` } };
  const lists = { toolset: 'workbench', settings: { url_allowlist: [permitted, other] } };
  const results = [];
  for (const permissions of [[`net:${permitted}`], [`net:${permitted}`, `net:${other}`], ['net:*']]) {
    for (const network of [{ allow: [] }, { allow: [permitted, other] }]) {
      const { steps } = await run({ ...lists, permissions, network }, [fetch]);
      results.push(steps[0]?.error?.code ?? steps[0]?.result);
    }
  }
  const reached = expect.objectContaining({ ok: true, value: expect.objectContaining({ body: 'reached' }) });
  expect(results).toEqual(['EREDIRECTREFUSED', 'EREDIRECTREFUSED', reached, reached, reached, reached]);
  expect(visits.filter((host) => host === other)).toHaveLength(4);
  for (const server of [from, to]) server.close();
});

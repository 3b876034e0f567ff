import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import { alwaysEnforced, useTestHost } from './testing/host.ts';

const { host, test } = useTestHost();
beforeAll(async () => {
  process.env.HOLDPOINT_TEST_SECRET = 'swordfish-of-the-worker';
});

test('a file that a command writes belongs to the workspace owner', async ({ workspace }) => {
  const { end, capabilities } = await host.run(workspace, 'echo made > made.txt');
  expect(end).toEqual({ status: 'exited', exit_code: 0, signal: null });
  expect(readFileSync(join(workspace.path, 'made.txt'), 'utf8')).toBe('made\n');
  expect(capabilities).toMatchObject(alwaysEnforced);
});

test('no write reaches a file outside the workspace', async ({ workspace }) => {
  const other = host.makeWorkspace();
  const canary = join(host.directory, 'canary');
  writeFileSync(canary, 'untouched');
  mkdirSync(join(workspace.path, 'd'));
  symlinkSync(canary, join(workspace.path, 'link'));
  symlinkSync(host.directory, join(workspace.path, 'linked-directory'));
  const attempts = [
    'echo x > link',
    'echo x > linked-directory/canary',
    `echo x > ${canary}`,
    'echo x > ../canary',
    `echo x > /proc/1/root${canary}`,
    `echo x > /proc/self/cwd/..${canary}`,
    `echo x > ${other.path}/stolen`,
    `ln ${canary} hard`,
    'echo x > /usr/bin/holdpoint-was-here',
    'echo x > /etc/holdpoint-was-here',
    'mknod disk b 8 0',
    'chroot . /bin/true',
  ];
  const { stdout } = await host.run(
    workspace,
    attempts.map((line) => `(${line}) 2>/dev/null && echo 'DONE ${line}'`).join('\n'),
  );
  expect(stdout.text).toBe('');
  expect(readFileSync(canary, 'utf8')).toBe('untouched');
  expect(existsSync(join(other.path, 'stolen'))).toBe(false);
  expect(existsSync('/usr/bin/holdpoint-was-here')).toBe(false);
  expect(existsSync('/etc/holdpoint-was-here')).toBe(false);
});

test("the host's files, users and secrets are invisible", async ({ workspace }) => {
  const { stdout } = await host.run(
    workspace,
    `cat /etc/shadow /root/.ssh/* ${host.stateDir}/* 2>/dev/null; cat /proc/[0-9]*/environ | tr '\\0' '\\n'; env`,
  );
  expect(stdout.text).not.toContain('swordfish');
  expect(stdout.text).not.toContain('root:');
  expect(stdout.text).toContain('HOME=/tmp');
  const first = await host.run(workspace, 'tr "\\0" "\\n" < /proc/1/environ; tr "\\0" " " < /proc/1/cmdline');
  expect(first.stdout.text).toMatch(/^PWD=\/workspace\n\/bin\/bash /);
  expect(first.stdout.text).not.toContain(workspace.path);
});

test('a command inherits only the standard fds, even when the worker has others', async ({ workspace }) => {
  const { stdout } = await host.run(
    workspace,
    '/usr/bin/python3 -c "import os; print(sorted(os.listdir(\'/proc/self/fd\')))" || ls /proc/self/fd',
  );
  // The fourth fd is the listing itself.
  expect(stdout.text.match(/\d+/g)).toEqual(['0', '1', '2', '3']);
});

test('/dev/stdout, /dev/stderr and /dev/stdin can be opened', async () => {
  const result = await host.run(host.makeWorkspace(), 'cat /dev/stdin > /dev/stdout; echo err > /dev/stderr', {
    stdin: 'grüße',
  });
  expect(result.stdout.text).toBe('grüße');
  expect(result.stderr.text).toBe('err\n');
});

test("the host's loopback is unreachable, and no packet arrives there", async ({ workspace }) => {
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections++;
    socket.end('+PONG\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const socket = join(host.directory, 'redis.sock');
  await new Promise<void>((resolve) => createServer(() => connections++).listen(socket, resolve));
  const script = `
    const net = require('node:net');
    const targets = [{port: ${port}, host: '127.0.0.1'}, {port: ${port}, host: '::1'}, {path: ${JSON.stringify(socket)}}, {port: 80, host: '169.254.169.254'}];
    for (const target of targets) net.connect(target).on('connect', () => console.log('CONNECTED', target)).on('error', () => {});
  `;
  const { stdout, end } = await host.run(workspace, 'node -e "$SCRIPT"', { env: { SCRIPT: script } });
  server.close();
  expect(end).toMatchObject({ exit_code: 0 });
  expect(stdout.text).toBe('');
  expect(connections).toBe(0);
});

test('a server and a client inside still reach each other by name', async () => {
  const script = `
    const server = require('node:net').createServer((s) => s.end('hi')).listen(0, 'localhost', () => {
      require('node:net').connect(server.address().port, 'localhost').on('data', (d) => { console.log(String(d)); server.close(); });
    });
  `;
  const { stdout } = await host.run(host.makeWorkspace(), 'node -e "$SCRIPT"', { env: { SCRIPT: script } });
  expect(stdout.text).toBe('hi\n');
});

test('the system call filter refuses what namespaces alone would allow', async ({ workspace }) => {
  const socket = join(workspace.path, 'host.sock');
  let connections = 0;
  const server = createServer(() => connections++);
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const program = `
import ctypes, socket, os
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    ctypes.set_errno(0)
    result = getattr(libc, name)(*args)
    print(name, result, ctypes.get_errno())
call('mount', b'none', b'/tmp', b'tmpfs', 0, None)
call('unshare', 0x10000000)
call('ptrace', 0, 0, 0, 0)
call('setns', 0, 0)
for family in (1, 38, 40, 17):
    try:
        s = socket.socket(family, socket.SOCK_STREAM if family != 17 else socket.SOCK_RAW)
        s.connect('/workspace/host.sock')
        print('open', family)
    except OSError as error:
        print('socket', family, error.errno)
a, b = socket.socketpair()
a.send(b'x'); print('pair', b.recv(1).decode())
`;
  const { stdout } = await host.run(workspace, '/usr/bin/python3 -c "$PROGRAM"', { env: { PROGRAM: program } });
  server.close();
  expect(stdout.text.split('\n')).toEqual([
    ...['mount -1 1', 'unshare -1 1', 'ptrace -1 1', 'setns -1 1'],
    ...['socket 1 97', 'socket 38 97', 'socket 40 97', 'socket 17 97', 'pair x', ''],
  ]);
  expect(connections).toBe(0);
});

test('kill -9 -1 inside kills no process outside', async ({ workspace }) => {
  const bystander = host.run(workspace, 'read -r line; echo "$line"', { stdin: 'still here' });
  await host.run(workspace, 'kill -9 -1');
  expect((await bystander).stdout.text).toBe('still here\n');
});

test('a sandbox has ripgrep, node and an empty /tmp', async ({ workspace }) => {
  writeFileSync(join(workspace.path, 'a.txt'), 'needle\n');
  const found = await host.exec(workspace, [host.sandbox.ripgrep, '--no-heading', '-n', 'needle', '.']);
  expect(found.stdout.text).toBe('./a.txt:1:needle\n');
  const first = await host.run(
    workspace,
    'touch /tmp/left && node -p 1+1 && /opt/holdpoint/node/bin/node -p process.version',
  );
  expect(first.stdout.text).toBe(`2\n${process.version}\n`);
  expect((await host.run(workspace, 'ls -A /tmp')).stdout.text).toBe('');
});

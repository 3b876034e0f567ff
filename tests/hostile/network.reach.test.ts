import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { findRedisBinaries } from '@holdpoint/embedded-redis';
import type { WorkspaceMount } from '@holdpoint/sandbox/port';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../harness/until.ts';
import { openScene, type Scene } from './host/scene.ts';
import { projectDir, users } from './host/users.ts';

const [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_ALG, AF_VSOCK] = [1, 2, 10, 16, 17, 38, 40];
const [STREAM, DATAGRAM, RAW] = [1, 2, 3];

type Target = [name: string, family: number, type: number, address: string | (string | number)[] | number[] | null];

interface Listening {
  redisPort: number;
  tcpPort: number;
  udpPort: number;
  directory: string;
  ownAddresses: string[];
}

/** What is tried, and how it must end. Nothing waits for an answer: there is no way out at all. */
function targets(at: Listening): [Target, told: string][] {
  const none = 'ECONNREFUSED';
  const noWay = 'ENETUNREACH';
  const noFamily = 'EAFNOSUPPORT';
  return [
    [['the queue on loopback', AF_INET, STREAM, ['127.0.0.1', at.redisPort]], none],
    [['the queue on loopback, by another name', AF_INET, STREAM, ['127.1.2.3', at.redisPort]], none],
    [['the queue on every address', AF_INET, STREAM, ['0.0.0.0', at.redisPort]], none],
    [["the queue's socket", AF_UNIX, STREAM, join(at.directory, 'redis.sock')], noFamily],
    [['a listener on loopback', AF_INET, STREAM, ['127.0.0.1', at.tcpPort]], none],
    [['a listener on loopback, version 6', AF_INET6, STREAM, ['::1', at.tcpPort]], none],
    [['a listener on loopback, mapped', AF_INET6, STREAM, ['::ffff:127.0.0.1', at.tcpPort]], none],
    ...at.ownAddresses.map((address): [Target, string] => [
      [`this host at ${address}`, AF_INET, STREAM, [address, at.tcpPort]],
      noWay,
    ]),
    [['a datagram to loopback', AF_INET, DATAGRAM, ['127.0.0.1', at.udpPort]], none],
    [['metadata', AF_INET, STREAM, ['169.254.169.254', 80]], noWay],
    [['metadata of containers', AF_INET, STREAM, ['169.254.170.2', 80]], noWay],
    [['metadata, version 6', AF_INET6, STREAM, ['fd00:ec2::254', 80]], noWay],
    [['metadata elsewhere', AF_INET, STREAM, ['100.100.100.200', 80]], noWay],
    [['a virtual machine’s agent', AF_INET, STREAM, ['168.63.129.16', 80]], noWay],
    [['a private network', AF_INET, STREAM, ['10.0.0.1', 80]], noWay],
    [['the bridge of containers', AF_INET, STREAM, ['172.17.0.1', 2375]], noWay],
    [['an address for documentation', AF_INET, STREAM, ['192.0.2.1', 443]], noWay],
    [['a name server', AF_INET, DATAGRAM, ['192.0.2.53', 53]], noWay],
    [['a neighbour on the link', AF_INET6, STREAM, ['fe80::1', 80, 0, 1]], noWay],
    [['docker', AF_UNIX, STREAM, '/var/run/docker.sock'], noFamily],
    [['a socket of the host', AF_UNIX, STREAM, join(at.directory, 'open.sock')], noFamily],
    [['a socket of the host in the workspace', AF_UNIX, STREAM, '/workspace/host.sock'], noFamily],
    [['an abstract socket of the host', AF_UNIX, STREAM, '@holdpoint-hostile'], noFamily],
    [['a datagram to a socket of the host', AF_UNIX, DATAGRAM, '/workspace/host.sock'], noFamily],
    [['the hypervisor', AF_VSOCK, STREAM, [2, 1024]], noFamily],
    [['raw packets', AF_PACKET, RAW, null], noFamily],
    [['raw addresses', AF_INET, RAW, null], 'EPERM'],
    [['cryptography of the kernel', AF_ALG, STREAM, null], noFamily],
    [['bluetooth', 31, RAW, null], noFamily],
    [['the audit log', AF_NETLINK, RAW, null], 'opened'],
  ];
}

const program = readFileSync(new URL('inside/connect.py', import.meta.url), 'utf8');

describe.each(users)('the network, with a worker of $name', (user) => {
  let scene: Scene;
  let workspace: WorkspaceMount;
  const servers: Server[] = [];
  let reached = 0;
  let told: [string, string, string | undefined][] = [];
  let redis: Awaited<ReturnType<typeof startRedis>>;

  beforeAll(async () => {
    scene = await openScene(user);
    workspace = scene.makeWorkspace();
    const listen = async (where: string | { port: number; host: string }) => {
      const server = createServer((socket) => {
        reached++;
        socket.destroy();
      }).listen(where);
      await once(server, 'listening');
      servers.push(server);
      if (typeof where === 'string' && where.startsWith('/')) chmodSync(where, 0o777);
      return server;
    };
    const { port } = (await listen({ port: 0, host: '::' })).address() as AddressInfo;
    await listen(join(scene.directory, 'open.sock'));
    await listen(join(workspace.path, 'host.sock'));
    await listen('\0holdpoint-hostile');
    const udp = createSocket('udp4', () => reached++).bind(0, '127.0.0.1');
    await once(udp, 'listening');
    servers.push(udp as unknown as Server);
    redis = await startRedis(scene.directory);
    const ownAddresses = Object.values(networkInterfaces()).flatMap((list) =>
      (list ?? []).filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address),
    );
    const table = targets({
      ...{
        redisPort: redis.port,
        tcpPort: port,
        udpPort: udp.address().port,
        directory: scene.directory,
        ownAddresses,
      },
    });
    const { stdout, stderr } = await scene.worker.run(workspace, '/usr/bin/python3 -c "$PROGRAM"', {
      env: { PROGRAM: program, TARGETS: JSON.stringify(table.map(([target]) => target)) },
    });
    expect(stderr.text).toBe('');
    const found = JSON.parse(stdout.text) as Record<string, string>;
    told = table.map(([[name], expected]) => [name, expected, found[name]]);
  });
  afterAll(async () => {
    for (const server of servers) server.close();
    await redis.stop();
    await scene[Symbol.asyncDispose]();
  });

  test('outside, the listeners answer', async () => {
    const before = reached;
    for (const path of [join(workspace.path, 'host.sock'), '\0holdpoint-hostile']) {
      const socket = connect(path);
      await once(socket, 'close');
    }
    expect(reached - before).toBe(2);
    reached = before;
    expect(await redis.ask('PING')).toBe('+PONG');
  });

  test('inside, nothing is reached, and each attempt says so at once', () => {
    expect(told.map(([name, , found]) => [name, found])).toEqual(told.map(([name, expected]) => [name, expected]));
  });

  test('no connection, no datagram and no request arrived', async () => {
    expect(reached).toBe(0);
    expect(await redis.ask('DBSIZE')).toBe(':0');
    expect(redis.strangers()).toBe(0);
    await scene.expectIntact();
  });

  test('tools that want the network fail with its errors, and leave the host alone', async () => {
    const lines = [
      ['exec 3<>/dev/tcp/127.0.0.1/$PORT', /Connection refused/],
      ['exec 3<>/dev/tcp/169.254.169.254/80', /Network is unreachable/],
      ['exec 3<>/dev/udp/192.0.2.53/53', /Network is unreachable/],
      ['git clone -q http://192.0.2.1/x', /unreachable|Failed to connect|Couldn't connect/i],
      [
        "node -e \"require('node:http').get('http://localhost:' + process.env.PORT).on('error', (e) => { console.error(e.code); process.exit(1) })\"",
        /ECONNREFUSED/,
      ],
      [
        "node -e \"require('node:dns').lookup('example.invalid', (e) => { console.error(e.code); process.exit(1) })\"",
        /ENOTFOUND|EAI_AGAIN/,
      ],
    ] as const;
    for (const [line, expected] of lines) {
      const { end, stderr } = await scene.worker.run(workspace, line, { env: { PORT: String(redis.port) } });
      expect(end).toMatchObject({ status: 'exited' });
      expect(end).not.toMatchObject({ exit_code: 0 });
      expect(stderr.text).toMatch(expected);
    }
    expect(reached).toBe(0);
  });

  test('sockets that a command makes itself lead nowhere outside', async () => {
    const port = 20_000 + (process.pid % 10_000);
    const controller = new AbortController();
    const line = `touch up; exec node -e "require('node:net').createServer().listen(${port}, '0.0.0.0')"`;
    const running = scene.worker.run(workspace, line, { signal: controller.signal });
    await until('it listens', () =>
      scene.worker
        .files(workspace)
        .stat('up')
        .then(
          () => true,
          () => false,
        ),
    );
    const socket = connect(port, '127.0.0.1');
    const outcome = await new Promise((resolve) => {
      socket.once('connect', () => resolve('connected'));
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    });
    expect(outcome).toBe('ECONNREFUSED');
    controller.abort(new Error('seen'));
    await running;
    await scene.expectIntact();
  });
});

/** The queue's own server, with a TCP port on loopback beside its socket. */
async function startRedis(directory: string) {
  const [binary] = await findRedisBinaries(process.env.PATH, projectDir);
  if (!binary) throw new Error('there is no Redis; run npm run setup');
  const reserved = createServer().listen(0, '127.0.0.1');
  await once(reserved, 'listening');
  const { port } = reserved.address() as AddressInfo;
  reserved.close();
  const path = join(directory, 'redis.sock');
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--unixsocket', path, '--unixsocketperm', '777'];
  const child = spawn(binary, [...settings, '--save', '', '--dir', directory], { stdio: 'ignore' });
  let asked = 0;
  let connections = 0;
  const ask = async (words: string): Promise<string> => {
    asked++;
    const socket = connect(path);
    socket.write(`INFO stats\r\n${words}\r\nQUIT\r\n`);
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    await once(socket, 'close');
    connections = Number(/total_connections_received:(\d+)/.exec(text)?.[1]);
    const lines = text.trim().split('\r\n');
    return lines.at(-2) ?? '';
  };
  await until('Redis answers', () =>
    ask('PING').then(
      (answer) => answer === '+PONG',
      () => {
        asked--;
        return false;
      },
    ),
  );
  return {
    port,
    ask,
    /** Connections of others than this test. */
    strangers: () => connections - asked,
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}

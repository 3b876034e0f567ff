import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { installedBinaries } from '@holdpoint/embedded-redis/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../harness/index.ts';
import { openAndClosed, useScene } from './host/index.ts';

const [afUnix, afInet, afInet6, afNetlink, afPacket, afAlg, afVsock] = [1, 2, 10, 16, 17, 38, 40];
const [sockStream, sockDatagram, sockRaw] = [1, 2, 3];

type Target = [name: string, family: number, type: number, address: string | (string | number)[] | number[] | null];

interface Listening {
  redisPort: number;
  tcpPort: number;
  udpPort: number;
  directory: string;
  ownAddresses: string[];
}

/** Connection attempts and their expected ends. No attempt waits for an answer, because there is no way out. */
function targets(at: Listening): [Target, expected: string][] {
  const none = 'ECONNREFUSED';
  const noWay = 'ENETUNREACH';
  const noFamily = 'EAFNOSUPPORT';
  return [
    [['the queue on loopback', afInet, sockStream, ['127.0.0.1', at.redisPort]], none],
    [['the queue on loopback, by another name', afInet, sockStream, ['127.1.2.3', at.redisPort]], none],
    [['the queue on every address', afInet, sockStream, ['0.0.0.0', at.redisPort]], none],
    [["the queue's socket", afUnix, sockStream, join(at.directory, 'redis.sock')], noFamily],
    [['a listener on loopback', afInet, sockStream, ['127.0.0.1', at.tcpPort]], none],
    [['a listener on loopback, version 6', afInet6, sockStream, ['::1', at.tcpPort]], none],
    [['a listener on loopback, mapped', afInet6, sockStream, ['::ffff:127.0.0.1', at.tcpPort]], none],
    ...at.ownAddresses.map((address): [Target, string] => [
      [`this host at ${address}`, afInet, sockStream, [address, at.tcpPort]],
      noWay,
    ]),
    [['a datagram to loopback', afInet, sockDatagram, ['127.0.0.1', at.udpPort]], none],
    [['metadata', afInet, sockStream, ['169.254.169.254', 80]], noWay],
    [['metadata of containers', afInet, sockStream, ['169.254.170.2', 80]], noWay],
    [['metadata, version 6', afInet6, sockStream, ['fd00:ec2::254', 80]], noWay],
    [['metadata elsewhere', afInet, sockStream, ['100.100.100.200', 80]], noWay],
    [['a virtual machine’s agent', afInet, sockStream, ['168.63.129.16', 80]], noWay],
    [['a private network', afInet, sockStream, ['10.0.0.1', 80]], noWay],
    [['the bridge of containers', afInet, sockStream, ['172.17.0.1', 2375]], noWay],
    [['an address for documentation', afInet, sockStream, ['192.0.2.1', 443]], noWay],
    [['a name server', afInet, sockDatagram, ['192.0.2.53', 53]], noWay],
    [['a neighbour on the link', afInet6, sockStream, ['fe80::1', 80, 0, 1]], noWay],
    [['docker', afUnix, sockStream, '/var/run/docker.sock'], noFamily],
    [['a socket of the host', afUnix, sockStream, join(at.directory, 'open.sock')], noFamily],
    [['a socket of the host in the workspace', afUnix, sockStream, '/workspace/host.sock'], noFamily],
    [['an abstract socket of the host', afUnix, sockStream, '@holdpoint-hostile'], noFamily],
    [['a datagram to a socket of the host', afUnix, sockDatagram, '/workspace/host.sock'], noFamily],
    [['the hypervisor', afVsock, sockStream, [2, 1024]], noFamily],
    [['raw packets', afPacket, sockRaw, null], noFamily],
    [['raw addresses', afInet, sockRaw, null], 'EPERM'],
    [['cryptography of the kernel', afAlg, sockStream, null], noFamily],
    [['bluetooth', 31, sockRaw, null], noFamily],
    [['the audit log', afNetlink, sockRaw, null], 'opened'],
  ];
}

const program = readFileSync(new URL('inside/connect.py', import.meta.url), 'utf8');

describe.each(openAndClosed)('the network, with a worker of $name', (user) => {
  const { scene, workspace } = useScene(user);
  const servers: Server[] = [];
  let reached = 0;
  let results: [string, string, string | undefined][] = [];
  let redis: Awaited<ReturnType<typeof startRedis>>;

  beforeAll(async () => {
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
    const { directory } = scene;
    const table = targets({
      redisPort: redis.port,
      tcpPort: port,
      udpPort: udp.address().port,
      directory,
      ownAddresses,
    });
    const { stdout, stderr } = await scene.worker.run(workspace, '/usr/bin/python3 -c "$PROGRAM"', {
      env: { PROGRAM: program, TARGETS: JSON.stringify(table.map(([target]) => target)) },
    });
    expect(stderr.text).toBe('');
    const found = JSON.parse(stdout.text) as Record<string, string>;
    results = table.map(([[name], expected]) => [name, expected, found[name]]);
  });
  afterAll(async () => {
    for (const server of servers) server.close();
    await redis.stop();
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

  test('inside, every attempt fails at once', () => {
    expect(results.map(([name, , found]) => [name, found])).toEqual(
      results.map(([name, expected]) => [name, expected]),
    );
  });

  test('no connection, datagram or request arrived', async () => {
    expect(reached).toBe(0);
    expect(await redis.ask('DBSIZE')).toBe(':0');
    expect(redis.strangers()).toBe(0);
    await scene.expectIntact();
  });

  test('tools that need the network fail and do not affect the host', async () => {
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

  test('sockets that a command creates lead nowhere outside', async () => {
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

/** The queue's server, with a TCP port on loopback beside its socket. */
async function startRedis(directory: string) {
  const [binary] = await installedBinaries();
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
    /** Connections that this test did not make. */
    strangers: () => connections - asked,
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}

/**
 * Restate: its server with the settings of its package (a write-ahead log with fsync), and a service on its SDK for Node. A parked call is
 * suspended after 0.1 s instead of a minute, as every call in wait for a person.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { killWithParent } from '@holdpoint/embedded-redis/testing';
import { cacheDir, loadPackage } from './install.ts';
import { type Peer, servePeer } from './peer.ts';

interface Context {
  run(name: string, action: () => void): Promise<void>;
  awakeable(): { id: string; promise: Promise<unknown> };
}
type Handler = (context: Context, input: { key: string; steps: number }) => Promise<void>;
interface Sdk {
  service(definition: { name: string; handlers: Record<string, unknown> }): unknown;
  handlers: { handler(options: object, handler: Handler): unknown };
  createEndpointHandler(options: { services: unknown[] }): (request: unknown, response: unknown) => void;
}

async function open(): Promise<Peer> {
  process.env.RESTATE_LOGGING = 'ERROR';
  const sdk = loadPackage<Sdk>('@restatedev/restate-sdk');
  const ends = new Map<string, number[]>();
  const awakeables = new Map<string, string>();
  const begun = new Map<string, () => void>();
  const steps: Handler = async (context, { key, steps: count }) => {
    const own: number[] = [];
    ends.set(key, own);
    for (let number = 0; number < count; number++) {
      await context.run('nothing', () => {});
      own.push(performance.now());
    }
  };
  const parked: Handler = async (context, { key }) => {
    const { id, promise } = context.awakeable();
    awakeables.set(key, id);
    await promise;
    await context.run('nothing', () => begun.get(key)?.());
  };
  const service = sdk.service({
    name: 'bench',
    handlers: { steps, parked: sdk.handlers.handler({ inactivityTimeout: 100 }, parked) },
  });
  const endpoint = createServer(sdk.createEndpointHandler({ services: [service] }));
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));

  const directory = mkdtempSync(join(tmpdir(), 'hp-restate-'));
  const [ingress, admin, node] = await Promise.all([freePort(), freePort(), freePort()]);
  const server = spawn(serverProgram(), ['--bind-ip', '127.0.0.1', '--base-dir', directory, '--node-name', 'bench'], {
    cwd: directory,
    env: {
      RESTATE_INGRESS__BIND_PORT: String(ingress),
      RESTATE_ADMIN__BIND_PORT: String(admin),
      RESTATE_BIND_PORT: String(node),
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_LOG_FILTER: 'error',
      DO_NOT_TRACK: '1',
    },
    stdio: 'ignore',
  });
  killWithParent(server.pid ?? 0);
  const ask = async (port: number, path: string, body: unknown): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`Restate answered ${response.status} to ${path}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  const isReady = (): Promise<boolean> =>
    Promise.all(
      [admin, ingress].map((port) => fetch(`http://127.0.0.1:${port}${port === admin ? '' : '/restate'}/health`)),
    ).then(
      (all) => all.every(({ ok }) => ok),
      () => false,
    );
  for (let left = 600; !(await isReady()); left--) {
    if (left === 0 || server.exitCode !== null) throw new Error('the server of Restate did not start');
    await delay(100);
  }
  const { port } = endpoint.address() as AddressInfo;
  await ask(admin, '/deployments', { uri: `http://127.0.0.1:${port}` });
  const suspended = async (): Promise<number> => {
    const query = "SELECT COUNT(1) AS found FROM sys_invocation WHERE status = 'suspended'";
    const { rows } = (await ask(admin, '/query', { query })) as { rows: { found: number }[] };
    return rows[0]?.found ?? 0;
  };

  let serial = 0;
  return {
    async run({ runs, steps: count }) {
      const keys = Array.from({ length: runs }, () => `run-${serial++}`);
      await Promise.all(keys.map((key) => ask(ingress, '/bench/steps', { key, steps: count })));
      return keys.map((key) => ends.get(key) ?? []);
    },
    async park(count) {
      const keys = Array.from({ length: count }, () => `parked-${serial++}`);
      const before = await suspended();
      for (const key of keys) await ask(ingress, '/bench/parked/send', { key, steps: 1 });
      while ((await suspended()) < before + count) await delay(50);
      return keys;
    },
    async release(key) {
      const { promise, resolve } = Promise.withResolvers<number>();
      begun.set(key, () => resolve(performance.now()));
      const from = performance.now();
      await ask(ingress, `/restate/awakeables/${awakeables.get(key)}/resolve`, 'go');
      return (await promise) - from;
    },
    processes: async () => ({ server: [server.pid ?? 0] }),
    async stop() {
      server.kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The package of this platform has the program. */
const serverProgram = (): string =>
  join(cacheDir, `node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`);

async function freePort(): Promise<number> {
  const probe = createTcpServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

await servePeer(open);

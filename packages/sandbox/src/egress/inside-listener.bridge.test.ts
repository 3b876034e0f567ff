import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { rgPath } from '@vscode/ripgrep';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { planChain } from '../bubblewrap/chain.ts';
import { descriptors } from '../bubblewrap/descriptors.ts';
import { gatherEquipment } from '../bubblewrap/equipment.ts';
import { findHostTools } from '../bubblewrap/host-tools.ts';
import { buildFilter } from '../bubblewrap/seccomp.ts';
import { resolveLimits } from '../limits.ts';
import { bwrapCandidates, isRoot, marker, openTestHost, processesWith, type TestHost } from '../test-host.ts';
import { EgressProxy } from './egress-proxy.ts';
import { insideListener, PROXY_PORT, receiveListener } from './inside-listener.ts';
import { listen, loopbackGuard, makeCertificate, openCanary, recorder, stop } from './test-network.ts';

const TOKEN = 'token-of-this-run-0123456789abcdefghij';
const CHANNEL = descriptors.lifeline + 1;

let host: TestHost;
let certificate: { key: string; cert: string };
beforeAll(async () => {
  host = await openTestHost();
  certificate = makeCertificate(['good.test']);
});
afterAll(() => host[Symbol.asyncDispose]());

/** A shell line in a real sandbox with the real profile and filter, and the way to the proxy opened before it. */
async function run(proxy: EgressProxy, line: string) {
  const workspace = host.makeWorkspace();
  writeFileSync(join(workspace.path, 'ca.pem'), certificate.cert, { mode: 0o644 });
  const equipment = gatherEquipment({ node: process.execPath, ripgrep: rgPath, toolchains: [] });
  const script = (name: string) => readFileSync(new URL(`../bubblewrap/${name}`, import.meta.url), 'utf8');
  const open = `NODE_CHANNEL_FD=${CHANNEL} node ${insideListener.inside} ${PROXY_PORT} || exit 125
    exec ${CHANNEL}>&-
    unset NODE_CHANNEL_FD NODE_CHANNEL_SERIALIZATION_MODE
    exec /bin/bash -c "$1"`;
  const chain = planChain(
    {
      tools: findHostTools({ bwrapCandidates, path: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }),
      scripts: { launch: script('launch.sh'), view: script('view.sh') },
      equipment: { ...equipment, command: [...equipment.command, insideListener] },
      filter: buildFilter(process.arch, { unixSockets: false }),
      tmpBytes: 1024 * 1024,
      root: isRoot,
      kept: 1,
    },
    {
      ...{
        workspace,
        cwd: '.',
        env: proxy.environment(PROXY_PORT),
        limits: resolveLimits(),
        stdin: null,
        toolHost: false,
      },
      argv: ['/bin/bash', '-c', open, 'open', line],
    },
  );
  const subprocess = spawn(chain.program, chain.args, {
    ...chain.start,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'ipc'],
    detached: true,
  });
  const pipe = (index: number) => {
    const stream = (subprocess.stdio as readonly unknown[])[index];
    if (!(stream instanceof Duplex)) expect.fail();
    return stream.on('error', () => {}).resume(); // what is not read does not close
  };
  const nul = (words: readonly string[]) => words.map((word) => `${word}\0`).join('');
  pipe(descriptors.options).end(nul(chain.options));
  pipe(descriptors.filter).end(buildFilter(process.arch, { unixSockets: false }));
  pipe(descriptors.lifeline).write(nul([...chain.environment, '']));
  let status = '';
  pipe(descriptors.status).on('data', (chunk: Buffer) => {
    status += chunk.toString();
  });
  let output = '';
  for (const stream of [subprocess.stdout, subprocess.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  // with an IPC channel among its streams, a subprocess never says `close`
  const exited = new Promise<number | null>((resolve) => subprocess.once('exit', resolve));
  const streams = [subprocess.stdout, subprocess.stderr, pipe(descriptors.status)];
  const closed = streams.map((stream) => new Promise((resolve) => stream?.once('close', resolve)));
  const ended = Promise.all(closed).then(() => exited);
  const failed = ended.then(() => Promise.reject(new Error(`it did not start: ${output}`)));
  const server = await Promise.race([receiveListener(subprocess), failed]);
  failed.catch(() => {});
  const release = proxy.serve(server);
  const code = await ended;
  release();
  return { code, output, pid: Number(/"child-pid": (\d+)/.exec(status)?.[1]), listening: server.listening };
}

test('programs inside reach a listed host through the proxy, and nothing else', async () => {
  const target = createServer(certificate, (_request, response) => response.end('hello from outside\n'));
  const port = await listen(target);
  const canary = await openCanary();
  const { connections, onConnection } = recorder();
  await using proxy = new EgressProxy({ guard: loopbackGuard([`good.test:${port}`]), token: TOKEN, onConnection });
  const url = `https://good.test:${port}/`;
  const { code, output, listening } = await run(
    proxy,
    `
    curl -sS --cacert ca.pem ${url}
    echo "curl $?"
    NODE_EXTRA_CA_CERTS=ca.pem node -e "fetch('${url}').then((r) => r.text()).then((text) => console.log('node', text.trim()))"
    curl -s -o /dev/null -w 'no token %{http_connect}\\n' --proxy http://127.0.0.1:${PROXY_PORT} ${url}
    curl -s -o /dev/null -w 'wrong token %{http_connect}\\n' --proxy http://holdpoint:wrong@127.0.0.1:${PROXY_PORT} ${url}
    curl -s -o /dev/null -w 'unlisted %{http_connect}\\n' https://other.test:${port}/
    curl -s -o /dev/null -w 'literal %{http_connect}\\n' https://127.0.0.1:${port}/
    curl -s -w 'plain %{http_code}\\n' http://other.test:${port}/
    curl -s --noproxy '*' http://127.0.0.1:${canary.port}/; echo "direct $?"
    curl -s --noproxy '*' --resolve good.test:${port}:127.0.0.1 ${url}; echo "past the proxy $?"
    node -e "require('node:net').connect('/workspace/any.sock').on('error', (error) => console.log('unix', error.code))"
    for descriptor in /proc/self/fd/*; do [ -e "$descriptor" ] && [ "\${descriptor##*/}" -gt 2 ] && echo "descriptor $descriptor"; done
    echo "node processes $(readlink /proc/[0-9]*/exe | grep -c node)"
    grep -h Seccomp: /proc/self/status
    `,
  );
  expect(output.replaceAll('\t', ' ').trim().split('\n')).toEqual([
    'hello from outside',
    'curl 0',
    'node hello from outside',
    'no token 407',
    'wrong token 407',
    'unlisted 403',
    'literal 403',
    expect.stringMatching(/^EHOSTNOTALLOWED: other\.test:\d+ is not on this run's network allowlist\./),
    'plain 403',
    'direct 7',
    'past the proxy 7',
    'unix EAFNOSUPPORT',
    'node processes 0',
    'Seccomp: 2',
  ]);
  expect([code, listening, canary.connections()]).toEqual([0, false, 0]);
  await expect.poll(() => connections).toHaveLength(7);
  expect(connections.filter(({ verdict }) => verdict === 'allowed')).toMatchObject(
    [1, 2].map(() => ({ host: 'good.test', port, address: '127.0.0.1', code: null })),
  );
  await Promise.all([stop(target), canary.close()]);
});

test('two sandboxes have the same port, and each its own proxy', async () => {
  const ask = `curl -s -w ' %{http_code}' http://good.test:1/; curl -s -o /dev/null -w ' %{http_code}' --noproxy '*' http://localhost:${PROXY_PORT}/`;
  const open = (rules: readonly string[]) =>
    new EgressProxy({ guard: loopbackGuard(rules), token: TOKEN, onConnection: () => {} });
  await using listed = open(['good.test:1']);
  await using unlisted = open([]);
  const [first, second] = await Promise.all([run(listed, ask), run(unlisted, ask)]);
  expect(first.output).toMatch(/^ENETWORK: [\s\S]* 502 407$/);
  expect(second.output).toMatch(/^ENETWORKOFF: [\s\S]* 403 407$/);
});

test('a command cannot take the port over, and nothing of it is left when the command has ended', async () => {
  await using proxy = new EgressProxy({ guard: loopbackGuard([]), token: TOKEN, onConnection: () => {} });
  const word = marker();
  const { code, output, pid } = await run(
    proxy,
    `kill -9 -1 2>/dev/null
    node -e "require('node:net').createServer().on('error', (error) => console.log(error.code)).listen(${PROXY_PORT}, '127.0.0.1')"
    curl -s -o /dev/null -w '%{http_code}\\n' http://good.test/
    (sleep ${word} &)`,
  );
  expect([code, output]).toEqual([0, 'EADDRINUSE\n403\n']);
  expect(pid).toBeGreaterThan(0);
  await expect.poll(() => processesWith(word)).toEqual([]);
});

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { EgressProxy } from '@holdpoint/egress';
import { listen, loopbackGuard, makeCertificate, openCanary, recorder, stop } from '@holdpoint/egress/testing';
import { expect } from 'vitest';
import { processesWith, useTestHost } from './testing/host.ts';

const token = 'token-of-this-run-0123456789abcdefghij';

const { host, test } = useTestHost();

function open(rules: readonly string[]) {
  const { connections, onConnection } = recorder();
  return { connections, proxy: new EgressProxy({ guard: loopbackGuard(rules), token, onConnection }) };
}

/** The project's Node may be one whose `fetch` knows no proxy. */
const ownNode = '/opt/holdpoint/node/bin/node';

test('a command reaches only listed hosts, through the proxy', async ({ workspace, word }) => {
  const certificate = makeCertificate(['good.test']);
  const target = createServer(certificate, (_request, response) => response.end('hello from outside\n'));
  const port = await listen(target);
  const canary = await openCanary();
  const { connections, proxy } = open([`good.test:${port}`]);
  await using egress = proxy;
  writeFileSync(join(workspace.path, 'ca.pem'), certificate.cert);
  const url = `https://good.test:${port}/`;
  const { end, stdout, stderr } = await host.run(
    workspace,
    `
    curl -sS --cacert ca.pem ${url}
    NODE_EXTRA_CA_CERTS=ca.pem ${ownNode} -e "fetch('${url}').then((r) => r.text()).then((text) => console.log('node', text.trim()))"
    curl -s -o /dev/null -w 'no token %{http_connect}\\n' --proxy http://127.0.0.1:3128 ${url}
    curl -s -o /dev/null -w 'unlisted %{http_connect}\\n' https://other.test:${port}/
    curl -s -o /dev/null -w 'literal %{http_connect}\\n' https://127.0.0.1:${port}/
    curl -s --noproxy '*' http://127.0.0.1:${canary.port}/; echo "direct $?"
    node -e "require('node:net').connect('/workspace/any.sock').on('error', (error) => console.log('unix', error.code))"
    node -e "require('node:net').createServer().on('error', (error) => console.log('port', error.code)).listen(3128, '127.0.0.1')"
    for path in /proc/self/fd/*; do [ -e "$path" ] && [ "\${path##*/}" -gt 2 ] && echo "descriptor $path"; done
    echo "node processes $(readlink /proc/[0-9]*/exe | grep -c node), variables $(env | grep -c CHANNEL)"
    (sleep ${word} &)
    `,
    { egress },
  );
  expect([stderr.text, stdout.text.trim().split('\n')]).toEqual([
    '',
    [
      ...['hello from outside', 'node hello from outside', 'no token 407', 'unlisted 403', 'literal 403', 'direct 7'],
      ...['unix EAFNOSUPPORT', 'port EADDRINUSE', 'node processes 0, variables 0'],
    ],
  ]);
  expect(end).toEqual({ status: 'exited', exit_code: 0, signal: null });
  expect(processesWith(word)).toEqual([]);
  // A kept-alive connection may end after the next one begins, so compare them in the order in which they began.
  const begun = connections.toSorted((a, b) => a.at - b.at);
  expect(begun.map(({ verdict, reason }) => reason ?? verdict)).toEqual([
    ...['allowed', 'allowed', 'EPROXYAUTH', 'EHOSTNOTALLOWED', 'EHOSTNOTALLOWED'],
  ]);
  expect(canary.connections()).toBe(0);
  await Promise.all([stop(target), canary.close()]);
});

test('every connection of a command reaches the proxy, also from a spare', async ({ workspace }) => {
  const { connections, proxy } = open([]);
  await using egress = proxy;
  // A socket that another process listens on too loses some of them.
  const line = `for _ in {1..40}; do curl -s -m 20 -o /dev/null -w '%{http_code} ' http://other.test/; done`;
  for (const used of [0, 1]) {
    const before = host.sandbox.spares.used;
    const { stdout } = await host.run(workspace, line, { egress, limits: { processes: 64 } });
    expect([stdout.text, host.sandbox.spares.used - before]).toEqual(['403 '.repeat(40), used]);
  }
  expect(connections).toHaveLength(80);
});

test('a command without egress has no proxy', async () => {
  const line = `curl -s --noproxy '*' http://127.0.0.1:3128/; echo "$? $HTTP_PROXY"`;
  expect((await host.run(host.makeWorkspace(), line)).stdout.text).toBe('7 \n');
});

test('a kill while the way out opens leaves no process', async ({ word }) => {
  const { proxy } = open([]);
  await using egress = proxy;
  for (let ms = 0; ms <= 60; ms += 5) {
    const line = `sleep 1000 # ${word}`;
    const { end } = await host.run(host.makeWorkspace(), line, { egress, signal: AbortSignal.timeout(ms) });
    expect(end).toMatchObject({ status: 'killed' });
  }
  expect(processesWith(word)).toEqual([]);
});

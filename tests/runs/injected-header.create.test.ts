import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttp, type RequestListener, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '@holdpoint/egress/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { bash, finish, placesWith, plan, succeed, useSystem } from '../harness/index.ts';

const value = 'header-value-77fe20cc19';
const folder = mkdtempSync(join(tmpdir(), 'hp-header-'));
const certificate = makeCertificate(['localhost']);
writeFileSync(join(folder, 'upstream.pem'), certificate.cert);

const system = useSystem({
  env: () => ({
    HOLDPOINT_SECRET_TOKEN: value,
    HOLDPOINT_ALLOW_ADDRESSES: '127.0.0.1/32,::1/128',
    NODE_EXTRA_CA_CERTS: join(folder, 'upstream.pem'),
  }),
});
const { client } = system;
const seen: string[] = [];
const sites: Server[] = [];
let secure: string;
let plain: string;

/** Says what it was asked with, as a careless service does. */
const echo: RequestListener = ({ headers, url }, response) => {
  seen.push(`${url} ${headers.authorization}`);
  response.setHeader('content-type', 'text/plain');
  response.end(`${url} ${headers.authorization}\n`);
};
const listen = async (site: Server): Promise<string> => {
  sites.push(site);
  await new Promise<void>((ready) => site.listen(0, '127.0.0.1', ready));
  return `localhost:${(site.address() as AddressInfo).port}`;
};
beforeAll(async () => {
  secure = await listen(createHttps(certificate, echo));
  plain = await listen(createHttp(echo));
});
afterAll(() => {
  for (const site of sites) site.close();
  rmSync(folder, { recursive: true });
});
afterEach(async () => {
  seen.length = 0;
  expect(await placesWith(system, [value])).toEqual([]);
});

/** The project's Node may be one whose `fetch` knows no proxy. */
const ownNode = '/opt/holdpoint/node/bin/node';
const header = (host: string, more = {}) => ({
  name: 'TOKEN',
  as: { header: { host, name: 'authorization', value: 'Bearer {}', ...more } },
});
const policy = { rules: [{ match: {}, action: 'allow' as const }] };

test('commands reach a host over TLS with a header that they never hold', async () => {
  const commands = [
    `curl -sS https://${secure}/curl; curl -sS -H 'Authorization: mine' https://${secure}/own`,
    `${ownNode} -e "fetch('https://${secure}/node').then((r) => r.text()).then((text) => console.log(text.trim()))"`,
    `python3 -c "import urllib.request as u; print(u.urlopen('https://${secure}/python').read().decode().strip())"`,
    `git ls-remote https://${secure}/git 2>/dev/null; true`,
    'env | base64 -w0; set | base64 -w0',
  ];
  const run = await succeed(client, {
    plan: plan(...commands.map((command) => [bash(command)])),
    network: { allow: [secure, plain] },
    secrets: [header(secure)],
    policy,
  });
  const paths = ['/curl', '/own', '/node', '/python', '/git/info/refs?service=git-upload-pack'];
  expect(seen).toEqual(paths.map((path) => `${path} Bearer ${value}`));
  const results = await Promise.all((await client.listSteps(run.id)).data.map(({ id }) => client.getStep(id)));
  expect(results.map(({ result }) => (result as { stdout: string }).stdout).slice(0, 3)).toEqual([
    '/curl Bearer [secret TOKEN]\n/own Bearer [secret TOKEN]\n',
    '/node Bearer [secret TOKEN]\n',
    '/python Bearer [secret TOKEN]\n',
  ]);
});

test('web_fetch has the header, plain HTTP has it only when asked, and what a site echoes cannot be kept in a file', async () => {
  const steps = [
    { tool: 'web_fetch', args: { url: `https://${secure}/fetch` } },
    bash(`curl -sS http://${plain}/plain`),
    bash(`curl -sS https://${secure}/keep > kept.txt`),
  ];
  const groups = steps.map((step) => ({ on_error: 'continue' as const, steps: [step] }));
  const request = { plan: { groups }, network: { allow: [secure, plain] }, policy };
  const run = await finish(client, { ...request, secrets: [header(secure)] });
  const results = (await client.listSteps(run.id)).data;
  expect(results.map(({ status, error }) => error?.code ?? status)).toEqual([
    'succeeded',
    'succeeded',
    'ESECRETWRITTEN',
  ]);
  expect(seen).toEqual([`/fetch Bearer ${value}`, '/plain undefined', `/keep Bearer ${value}`]);
  await finish(client, { ...request, secrets: [header(plain, { plain_http: true })] });
  expect(seen.slice(3)).toEqual(['/fetch undefined', `/plain Bearer ${value}`, '/keep undefined']);
});

test('a header for a host outside the allowlist is refused', async () => {
  const request = { plan: plan([bash('true')]), network: { allow: [plain] }, secrets: [header(secure)] };
  await expect(client.createRun(request)).rejects.toMatchObject({
    status: 422,
    code: 'invalid_secret_use',
    errors: [{ pointer: '/secrets/0/as/header/host' }],
  });
});

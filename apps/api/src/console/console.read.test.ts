import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { problemOf, startTestApi, type TestApi } from '../testing/test-api.ts';

const page = '<!doctype html><title>Holdpoint</title><script type="module" src="/assets/main-1A2b.js"></script>';
const script = `export const text = ${JSON.stringify('console '.repeat(100))};`;
let directory: string;
let api: TestApi;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hp-console-'));
  await writeFile(join(directory, 'outside.js'), 'secret');
  const dist = join(directory, 'dist');
  await mkdir(join(dist, 'assets'), { recursive: true });
  await mkdir(join(dist, '.hidden'));
  await writeFile(join(dist, '.hidden/x.js'), 'secret');
  for (const [name, text] of [
    ['index.html', page],
    ['assets/main-1A2b.js', script],
    ['manifest.webmanifest', '{}'],
  ] as const) {
    await writeFile(join(dist, name), text);
    await writeFile(join(dist, `${name}.br`), brotliCompressSync(text));
    await writeFile(join(dist, `${name}.gz`), gzipSync(text));
  }
  await writeFile(join(dist, 'service-worker.js'), 'self.skipWaiting();');
  api = await startTestApi({ consoleDir: dist });
});
afterAll(async () => {
  await api.stop();
  await rm(directory, { recursive: true });
});

const asBrowser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const get = (path: string, headers: Record<string, string> = asBrowser, method = 'GET') =>
  fetch(`${api.address}${path}`, { headers, method });

/** A request with its path and encoding as they are, which fetch would normalise. */
function raw(
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; bytes: Buffer; encoding: string }> {
  const { hostname, port } = new URL(api.address);
  return new Promise((resolve, reject) => {
    const asked = request({ hostname, port, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const encoding = response.headers['content-encoding'] ?? '';
        resolve({ status: response.statusCode ?? 0, bytes: Buffer.concat(chunks), encoding });
      });
    });
    asked.on('error', reject).end();
  });
}

describe('a browser without a key', () => {
  test.each(['/', '/runs/run_1', '/approvals/apr_1', '/login', '/docsx', '/a/b.c/d'])(
    'gets the page at %s',
    async (path) => {
      const response = await get(path);
      expect([response.status, await response.text()]).toEqual([200, page]);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('cache-control')).toBe('no-cache');
      expect(response.headers.get('vary')).toBe('accept, accept-encoding');
      expect(response.headers.get('content-security-policy')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; manifest-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types worker",
      );
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    },
  );

  test('keeps an asset for a year, and compares everything else', async () => {
    const asset = await get('/assets/main-1A2b.js', { accept: '*/*' });
    expect(asset.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(await asset.text()).toBe(script);
    const worker = await get('/service-worker.js', { accept: '*/*' });
    expect(worker.headers.get('cache-control')).toBe('no-cache');
    expect(worker.headers.get('content-security-policy')).toContain("connect-src 'self'");
    await worker.text();
    const manifest = await get('/manifest.webmanifest', { accept: '*/*' });
    expect(manifest.headers.get('content-type')).toBe('application/manifest+json; charset=utf-8');
    await manifest.text();
  });

  test.each([
    ['br, gzip', 'br'],
    ['gzip, deflate, br;q=0', 'gzip'],
    ['gzip;q=0.5', 'gzip'],
    ['deflate', ''],
    ['', ''],
    ['xbr', ''],
  ])('that accepts %j gets it as %j', async (accepted, encoding) => {
    const answer = await raw('/assets/main-1A2b.js', { 'accept-encoding': accepted });
    expect(answer.encoding).toBe(encoding);
    const plain =
      encoding === 'br'
        ? brotliDecompressSync(answer.bytes)
        : encoding === 'gzip'
          ? gunzipSync(answer.bytes)
          : answer.bytes;
    expect(plain.toString()).toBe(script);
  });

  test('gets 304 for what it has, of the same encoding', async () => {
    const first = await get('/', { ...asBrowser, 'accept-encoding': 'br' });
    await first.text();
    const etag = first.headers.get('etag') ?? '';
    const known = { ...asBrowser, 'accept-encoding': 'br', 'if-none-match': `"other", W/${etag}` };
    const again = await get('/', known);
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect(again.headers.get('etag')).toBe(etag);
    const other = await get('/', { ...known, 'accept-encoding': 'gzip' });
    expect([other.status, await other.text()]).toEqual([200, page]);
  });

  test('gets the same headers by HEAD', async () => {
    for (const path of ['/', '/runs/run_1', '/assets/main-1A2b.js']) {
      const [head, whole] = [await get(path, asBrowser, 'HEAD'), await get(path)];
      for (const name of ['content-length', 'content-type', 'etag', 'cache-control', 'content-security-policy']) {
        expect([path, name, head.headers.get(name)]).toEqual([path, name, whole.headers.get(name)]);
      }
      expect([head.status, await head.text()]).toEqual([200, '']);
      await whole.text();
    }
  });
});

describe('what is not there', () => {
  test.each(['/assets/main-OLD.js', '/assets/', '/assets/x', '/icons/none.png', '/nothing.js', '/index.html.br'])(
    '%s is never the page',
    async (path) => {
      const problem = await problemOf(await get(path, { ...asBrowser, authorization: `Bearer ${api.key}` }));
      expect(problem).toMatchObject({ status: 404, code: 'not_found' });
    },
  );

  test.each(['/v1/nothing', '/v1', '/docs/nothing', '/metrics/x', '/healthz/x', '/openapi.json/x'])(
    '%s stays with the API, for a browser, too',
    async (path) => {
      const response = await get(path, { ...asBrowser, authorization: `Bearer ${api.key}` });
      expect(await problemOf(response)).toMatchObject({ status: 404, code: 'not_found' });
      expect(response.headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
    },
  );

  test('a client that asks for JSON gets the 404 of the API, or the 401', async () => {
    for (const path of ['/', '/runs/run_1', '/login']) {
      expect((await problemOf(await get(path, { accept: 'application/json' }))).code).toBe('unauthorized');
      const headers = { accept: 'application/json', authorization: `Bearer ${api.key}` };
      expect((await problemOf(await get(path, headers))).code).toBe('not_found');
    }
  });

  test('a page takes GET alone', async () => {
    const response = await api.send('/runs/run_1', { method: 'POST', headers: asBrowser });
    expect((await problemOf(response)).code).toBe('not_found');
  });
});

test.each([
  '/../outside.js',
  '/assets/../../outside.js',
  '/assets/..%2f..%2foutside.js',
  '/%2e%2e/outside.js',
  '/assets/%2e%2e/%2e%2e/outside.js',
  '/..%5coutside.js',
  '/assets/..\\..\\outside.js',
  '/assets/....//outside.js',
  '//outside.js',
  '/.hidden/x.js',
  '/assets/main-1A2b.js%00.js',
  '/assets/../.hidden/x.js',
])('no path leaves the folder: %s', async (path) => {
  for (const accept of ['*/*', 'text/html']) {
    const { bytes, status } = await raw(path, { accept });
    expect(bytes.toString()).not.toContain('secret');
    expect(status === 200 ? bytes.toString() : '').toBe(status === 200 ? page : '');
  }
});

test('a folder that is replaced is read whole, and an open page finds the parts of its own build', async () => {
  const dist = join(directory, 'replaced');
  const other = await startTestApi({ consoleDir: dist });
  const builder = fileURLToPath(new URL('./testing/replace-on-request.ts', import.meta.url));
  const child = spawn(process.execPath, [builder, dist], { stdio: ['pipe', 'pipe', 'inherit'] });
  const replace = async (): Promise<void> => {
    child.stdin.write('\n');
    await once(child.stdout, 'data');
  };
  const read = async (): Promise<[number, string]> => {
    const response = await fetch(`${other.address}/`, { headers: asBrowser });
    return [response.status, await response.text()];
  };
  try {
    await replace();
    for (let build = 2; build <= 150; build += 1) {
      const [, ...answers] = await Promise.all([replace(), read(), read(), read()]);
      for (const answer of answers) {
        expect([build, ...answer]).toEqual([
          build,
          200,
          expect.stringMatching(new RegExp(`^build (${build - 1}|${build})$`)),
        ]);
      }
    }
    const part = async (of: number) => (await fetch(`${other.address}/assets/part-${of}.js`)).status;
    expect(await Promise.all([part(150), part(149), part(148)])).toEqual([200, 200, 404]);
  } finally {
    child.kill('SIGKILL');
    await other.stop();
  }
});

test('a folder that appears, changes and goes while the API runs is read as it is', async () => {
  const dist = join(directory, 'changing');
  const other = await startTestApi({ consoleDir: dist });
  const read = async (path = '/') => {
    const response = await fetch(`${other.address}${path}`, { headers: asBrowser });
    return [response.status, await response.text()];
  };
  try {
    expect(await read()).toEqual([404, expect.stringMatching(/^The console is not built.*npm run setup.*\n$/)]);
    expect(await read('/runs/run_1')).toEqual([404, expect.stringContaining('npm run setup')]);
    await mkdir(join(directory, 'build-1'));
    await writeFile(join(directory, 'build-1/index.html'), 'one');
    await symlink('build-1', dist);
    expect(await read()).toEqual([200, 'one']);
    await writeFile(join(directory, 'build-1/index.html'), 'two');
    expect(await read('/runs/run_1')).toEqual([200, 'two']);
  } finally {
    await other.stop();
  }
});

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** A registry of npm and PyPI packages on loopback, as static files: real clients install from the registry. */
export interface PackageRegistry extends AsyncDisposable {
  /** `host:port`, for an allowlist. */
  host: string;
  /** Requested paths, in order. */
  visits: string[];
  /** While set, every request is answered with 503. */
  away: boolean;
  /** Adds a package. @returns its line in a lock file */
  npm(name: string, files: Record<string, string>): { version: string; resolved: string; integrity: string };
  wheel(name: string, files: Record<string, string>): void;
  /** Adds an unchanged wheel. */
  wheelFile(path: string): void;
}

const version = '1.0.0';

export async function startRegistry(): Promise<PackageRegistry> {
  const answers = new Map<string, { type: string; body: Buffer }>();
  const visits: string[] = [];
  const scratch = mkdtempSync(join(tmpdir(), 'hp-registry-'));
  const state = { away: false };
  const server = createServer(({ url = '' }, response) => {
    visits.push(url);
    if (url.startsWith('/hang')) return;
    const answer = state.away ? undefined : answers.get(decodeURIComponent(url));
    if (answer) response.writeHead(200, { 'content-type': answer.type }).end(answer.body);
    else response.writeHead(state.away ? 503 : 404).end();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const write = (folder: string, files: Record<string, string>): void => {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
  };
  const addWheel = (path: string): void => {
    const file = basename(path);
    answers.set(`/files/${file}`, { type: 'application/octet-stream', body: readFileSync(path) });
    const page = `<!DOCTYPE html><a href="/files/${file}">${file}</a>`;
    answers.set(`/simple/${file.split('-')[0]}/`, { type: 'text/html', body: Buffer.from(page) });
  };
  return {
    host,
    visits,
    get away() {
      return state.away;
    },
    set away(is) {
      state.away = is;
    },
    npm(name, files) {
      const folder = mkdtempSync(join(scratch, 'npm-'));
      const manifest = JSON.stringify({ name, version, bin: { [name]: 'index.js' } });
      write(join(folder, 'package'), { 'package.json': manifest, ...files });
      const body = execFileSync('tar', ['-czf', '-', '-C', folder, 'package'], { maxBuffer: 256 * 1024 * 1024 });
      const resolved = `http://${host}/${name}/-/${name}-${version}.tgz`;
      const integrity = `sha512-${createHash('sha512').update(body).digest('base64')}`;
      const dist = { tarball: resolved, integrity };
      const packument = { name, 'dist-tags': { latest: version }, versions: { [version]: { name, version, dist } } };
      answers.set(new URL(resolved).pathname, { type: 'application/octet-stream', body });
      answers.set(`/${name}`, { type: 'application/json', body: Buffer.from(JSON.stringify(packument)) });
      return { version, resolved, integrity };
    },
    wheel(name, files) {
      const folder = mkdtempSync(join(scratch, 'wheel-'));
      const info = `${name}-${version}.dist-info`;
      write(folder, {
        ...files,
        [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`,
        [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
        [`${info}/RECORD`]: '',
      });
      const file = `${name}-${version}-py3-none-any.whl`;
      const names = [...new Set([...Object.keys(files), info].map((one) => one.split('/')[0] ?? ''))];
      execFileSync('python3', ['-m', 'zipfile', '-c', join(folder, file), ...names], { cwd: folder });
      addWheel(join(folder, file));
    },
    wheelFile: addWheel,
    async [Symbol.asyncDispose]() {
      rmSync(scratch, { recursive: true });
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

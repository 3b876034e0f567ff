import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Built, buildConsole, isUpToDate } from '../build.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
let folder: string;
let dist: string;
let built: Built;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'console-'));
  dist = join(folder, 'dist');
  built = await buildConsole(dist);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const zippedSize = (names: string[]): number =>
  names.reduce((sum, name) => sum + gzipSync(readFileSync(join(dist, name)), { level: 9 }).length, 0);

it('keeps script and style of the first page within 200 KB, and each later part within 130 KB', () => {
  expect(built.first.length).toBeGreaterThan(1);
  expect(zippedSize(built.first)).toBeLessThanOrEqual(200_000);
  expect(built.later.filter((name) => zippedSize([name]) > 130_000)).toEqual([]);
});

it('names its files by their content, and has the compressed forms beside them', () => {
  for (const name of [...built.first, ...built.later]) expect(name).toMatch(/^assets\/[\w.-]+-[A-Z0-9]{8}\.(js|css)$/);
  const html = readFileSync(join(dist, 'index.html'), 'utf8');
  expect(html).toMatch(/<script type="module" src="\/assets\/main-/);
  for (const name of built.first) expect(html).toContain(`"/${name}"`);
  for (const name of ['index.html', 'service-worker.js', ...built.first]) {
    expect(readFileSync(join(dist, `${name}.br`)).length).toBeGreaterThan(0);
    expect(readFileSync(join(dist, `${name}.gz`)).length).toBeGreaterThan(0);
  }
});

it('loads nothing from another origin, and has no script or style in its page', () => {
  const html = readFileSync(join(dist, 'index.html'), 'utf8');
  expect(html).not.toMatch(/(src|href)="(?!\/)/);
  expect(html).not.toMatch(/<script(?![^>]*src=)|<style| style=| on\w+=/);
  const style = built.first
    .filter((name) => name.endsWith('.css'))
    .map((name) => readFileSync(join(dist, name), 'utf8'));
  expect(style.join('')).not.toMatch(/url\(|@import/);
});

it('knows whether it was built from the present sources', () => {
  expect(isUpToDate(dist)).toBe(true);
  writeFileSync(join(dist, 'sources.txt'), 'others');
  expect(isUpToDate(dist)).toBe(false);
});

it.each(['@holdpoint/contract/wire', 'zod'])('refuses a page that runs code of %s', async (name) => {
  const planted = join(folder, 'planted.ts');
  const found = fileURLToPath(import.meta.resolve(name));
  writeFileSync(planted, `import * as all from ${JSON.stringify(found)};\nconsole.log(all);\n`);
  await expect(buildConsole(join(folder, 'other'), relative(root, planted))).rejects.toThrow('reaches a bundle');
});

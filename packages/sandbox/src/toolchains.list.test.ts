import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { collectMounts } from './bubblewrap/mounts.ts';
import type { SandboxError } from './errors.ts';
import { findToolchains } from './toolchains.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'holdpoint-toolchains-')));
});
afterEach(() => rmSync(root, { recursive: true }));

function program(path: string): string {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), '#!/bin/sh\n', { mode: 0o755 });
  return dirname(join(root, path));
}

test('runtimes are grouped by the directory to mount', () => {
  // Not among the system's programs of a usual machine.
  const go = program('go/bin/swift');
  const home = program('home/.local/bin/zig');
  program('home/.local/bin/uv');
  expect(findToolchains([go, home, '/usr/bin', 'relative', ''].join(':'))).toEqual([
    { directory: join(root, 'go'), show: [join(root, 'go')], programs: ['swift'] },
    { directory: join(root, 'home/.local'), show: [join(root, 'home/.local')], programs: ['uv', 'zig'] },
  ]);
});

test('runtimes that sandboxes see or the project brings are not listed', () => {
  const seen = program('seen/bin/zig');
  const own = program('project/node_modules/.bin/deno');
  const both = program('both/bin/perl');
  const path = [seen, own, both, '/usr/bin'].join(':');
  expect(findToolchains(path, { mounted: [join(root, 'seen')], project: join(root, 'project') })).toEqual([]);
});

test('a link is followed to its runtime, a dangling link is ignored', () => {
  program('versions/1.2/bin/julia');
  mkdirSync(join(root, 'links'));
  symlinkSync(join(root, 'versions/1.2/bin/julia'), join(root, 'links/julia'));
  symlinkSync(join(root, 'nowhere'), join(root, 'links/ghc'));
  mkdirSync(join(root, 'links/bun'));
  writeFileSync(join(root, 'links/elixir'), '');
  const directory = join(root, 'versions/1.2');
  expect(findToolchains(join(root, 'links'))).toEqual([{ directory, show: [directory], programs: ['julia'] }]);
});

test('a directory with secrets, or a dot directory of a home, is listed in parts', () => {
  const cargo = program('cargo/bin/cargo');
  mkdirSync(join(root, 'cargo/registry'));
  writeFileSync(join(root, 'cargo/credentials.toml'), 'token');
  const local = program('local/bin/uv');
  mkdirSync(join(root, 'local/lib'));
  mkdirSync(join(root, 'local/share/keyrings'), { recursive: true });
  const shows = (path: string) => findToolchains(path).flatMap(({ show }) => show);
  expect(shows(cargo)).toEqual([join(root, 'cargo/bin'), join(root, 'cargo/registry')]);
  expect(shows(local)).toEqual([join(root, 'local/bin'), join(root, 'local/lib')]);
  const before = process.env.HOME;
  process.env.HOME = join(root, 'home');
  try {
    expect(shows(program('home/.bun/bin/bun'))).toEqual([join(root, 'home/.bun/bin')]);
    expect(shows(program('home/bin/zig'))).toEqual([join(root, 'home/bin')]);
  } finally {
    process.env.HOME = before;
  }
});

test.each([
  ['a home', (home: string) => home, /is a home directory/],
  ['a copy of a home', (home: string) => join(home, '../copy'), /looks like a home directory/],
  ['a link to a home', (home: string) => join(home, '../link'), /is a home directory/],
  ['.cargo', (home: string) => join(home, '.cargo'), /contains credentials.toml.*HOLDPOINT_TOOLCHAINS=.*\.cargo\/bin$/],
  ['.local', (home: string) => join(home, '.local'), /contains share\/keyrings/],
  ['the parent of homes', (home: string) => dirname(home), /contains home\/\.ssh/],
  ['the homes', () => '/home', /sandboxes may see/],
])('a toolchain with secrets is refused: %s', (_name, choose, message) => {
  const home = join(root, 'home');
  program('home/.cargo/bin/cargo');
  for (const path of ['.ssh', '.local/share/keyrings']) mkdirSync(join(home, path), { recursive: true });
  writeFileSync(join(home, '.cargo/credentials.toml'), 'token');
  mkdirSync(join(root, 'copy'));
  writeFileSync(join(root, 'copy/.bashrc'), '');
  symlinkSync(home, join(root, 'link'));
  const before = process.env.HOME;
  process.env.HOME = home;
  try {
    collectMounts({ node: process.execPath, ripgrep: process.execPath, toolchains: [choose(home)] });
    expect.fail('it was mounted');
  } catch (error) {
    const { code, message: text, next } = error as SandboxError;
    expect({ code, text: `${text} ${next}` }).toEqual({
      code: 'ESANDBOXMISSING',
      text: expect.stringMatching(message),
    });
  } finally {
    process.env.HOME = before;
  }
});

test('a part of a directory with secrets is mounted and put on PATH', () => {
  const bin = program('cargo/bin/cargo');
  writeFileSync(join(root, 'cargo/credentials.toml'), 'token');
  const { command, path } = collectMounts({ node: process.execPath, ripgrep: process.execPath, toolchains: [bin] });
  expect(command).toContainEqual({ host: bin, inside: bin });
  expect(path).toContain(bin);
});

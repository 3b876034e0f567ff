import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
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

test('runtimes are grouped by the directory that would show them', () => {
  const go = program('go/bin/go');
  const home = program('home/.local/bin/zig');
  program('home/.local/bin/uv');
  expect(findToolchains([go, home, '/usr/bin', 'relative', ''].join(':'))).toEqual([
    { directory: join(root, 'go'), programs: ['go'] },
    { directory: join(root, 'home/.local'), programs: ['uv', 'zig'] },
  ]);
});

test('what sandboxes see already, or the project brings, is no finding', () => {
  const seen = program('seen/bin/zig');
  const own = program('project/node_modules/.bin/deno');
  const both = program('both/bin/perl');
  const path = [seen, own, both, '/usr/bin'].join(':');
  expect(findToolchains(path, { mounted: [join(root, 'seen')], project: join(root, 'project') })).toEqual([]);
});

test('a link is followed to where the runtime is; one that leads nowhere, or is no program, is none', () => {
  program('versions/1.2/bin/julia');
  mkdirSync(join(root, 'links'));
  symlinkSync(join(root, 'versions/1.2/bin/julia'), join(root, 'links/julia'));
  symlinkSync(join(root, 'nowhere'), join(root, 'links/ghc'));
  mkdirSync(join(root, 'links/bun'));
  writeFileSync(join(root, 'links/elixir'), '');
  expect(findToolchains(join(root, 'links'))).toEqual([{ directory: join(root, 'versions/1.2'), programs: ['julia'] }]);
});

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { quietBash } from './profile.ts';

test('bash does not run ~/.bashrc although its stdin is a socket', () => {
  const home = mkdtempSync(join(tmpdir(), 'holdpoint-home-'));
  const canary = join(home, 'canary');
  writeFileSync(join(home, '.bashrc'), `echo run > ${canary}`);
  const run = (...options: string[]) =>
    execFileSync('/bin/bash', [...options, '-c', 'true'], { env: { HOME: home }, input: '' });
  try {
    run(...quietBash);
    expect(existsSync(canary)).toBe(false);
    run('-p');
    expect(existsSync(canary)).toBe(true);
  } finally {
    rmSync(home, { recursive: true });
  }
});

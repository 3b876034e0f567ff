import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { followLines } from './log-lines.ts';
import { rotateLog } from './rotate-log.ts';

const largest = 256 * 1024;

it('truncates a log while its process writes and a reader follows', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'hp-rotate-'));
  const file = join(directory, 'part.log');
  const log = openSync(file, 'a');
  // Writes without a pause until a line on stdin asks it to stop.
  const program = `const { writeSync } = require('node:fs');
    let asked = false;
    process.stdin.once('data', () => { asked = true; });
    const write = (n) => {
      if (asked) { writeSync(2, 'written'); process.stdin.once('data', () => { writeSync(1, 'last\\n'); process.exit(); }); return; }
      for (let line = 0; line < 500; line++) writeSync(1, n + line + ' ' + 'x'.repeat(90) + '\\n');
      setImmediate(write, n + 500);
    };
    write(0);`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['pipe', log, 'pipe'] });
  const ended = once(child, 'exit');
  const over = new AbortController();
  let seen = '';
  const following = (async () => {
    const lines = followLines(file, { from: 0, everyMs: () => 5, signal: over.signal });
    for await (const line of lines) {
      seen = line;
      if (line === 'last') return;
    }
  })();
  try {
    let most = 0;
    let rotations = 0;
    let written = false;
    let isAsked = false;
    if (child.stdin === null || child.stderr === null) throw new Error('no pipes');
    child.stderr.once('data', () => {
      written = true;
    });
    while (!written) {
      most = Math.max(most, statSync(file).size);
      if (statSync(file).size > largest) rotations++;
      rotateLog(file, largest);
      if (rotations === 3 && !isAsked) {
        isAsked = true;
        child.stdin.write('enough\n');
      }
      await turn();
    }
    expect(rotations).toBeGreaterThanOrEqual(3);
    expect(statSync(file).size).toBeLessThanOrEqual(most);
    expect(existsSync(`${file}.1`)).toBe(true);
    rotateLog(file, 0);
    child.stdin.write('go\n');
    await ended;
    await following;
    expect(seen).toBe('last');
    expect(readFileSync(file, 'utf8')).toBe('last\n');
  } finally {
    over.abort();
    child.kill('SIGKILL');
    closeSync(log);
    rmSync(directory, { recursive: true, force: true });
  }
});

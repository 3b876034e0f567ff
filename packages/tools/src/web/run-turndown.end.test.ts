import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { runTurndown } from './run-turndown.ts';

const LIMITS = { deadline_ms: 60_000, heap_mb: 256, max_chars: 1_000_000 };
/** Takes minutes where it is not ended: a fifteenth of it takes 4 s, and the time grows with the square. */
const ENDLESS = '<div>'.repeat(300_000);

describe('runTurndown', () => {
  it('says what it is that failed', async () => {
    expect(await runTurndown(ENDLESS, { ...LIMITS, deadline_ms: 200 })).toEqual({
      ok: false,
      reason: 'it took longer than 0.2 s',
    });
    expect(await runTurndown('<p>a <b>b</b></p>'.repeat(100_000), { ...LIMITS, heap_mb: 24 })).toEqual({
      ok: false,
      reason: 'it took too much memory',
    });
    expect(await runTurndown(`${'<span>'.repeat(15_000)}text`, LIMITS)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('call stack'),
    });
  });

  it('cuts what is too long, and says so', async () => {
    expect(await runTurndown('<p>abc', { ...LIMITS, max_chars: 2 })).toEqual({
      ok: true,
      markdown: 'ab',
      complete: false,
    });
  });

  it('ends its process when it is aborted', async () => {
    const controller = new AbortController();
    const running = runTurndown(ENDLESS, LIMITS, controller.signal);
    const rejected = expect(running).rejects.toThrow('stop');
    controller.abort(new Error('stop'));
    await rejected;
    await expect(runTurndown('a', LIMITS, controller.signal)).rejects.toThrow('stop');
  });

  it('leaves no process behind, nor anything that keeps this one', async () => {
    const program = `
      import { spawnSync } from 'node:child_process';
      import { runTurndown } from ${JSON.stringify(new URL('./run-turndown.ts', import.meta.url).href)};
      const limits = ${JSON.stringify(LIMITS)};
      const endless = '<div>'.repeat(300_000);
      const report = [(await runTurndown('<h1>a', limits)).markdown];
      report.push((await runTurndown(endless, { ...limits, deadline_ms: 200 })).ok);
      const controller = new AbortController();
      setTimeout(() => controller.abort(new Error('stop')), 200);
      report.push(await runTurndown(endless, limits, controller.signal).catch(({ message }) => message));
      const { stdout } = spawnSync('ps', ['--ppid', String(process.pid), '-o', 'args='], { encoding: 'utf8' });
      report.push(stdout.split('\\n').filter((line) => line.includes('turndown')).length);
      process.stdout.write(JSON.stringify(report));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      timeout: 25_000,
    });
    expect(JSON.parse(stdout)).toEqual(['# a', false, 'stop', 0]);
  });
});

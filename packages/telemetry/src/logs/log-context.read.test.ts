import { pino } from 'pino';
import { expect, test } from 'vitest';
import { logOptions } from '../log.ts';
import { withLogContext } from './log-context.ts';
import { prettyLine } from './pretty-line.ts';

function openLogger() {
  const lines: string[] = [];
  const traceOf = (runId: string): string => `trace of ${runId}`;
  const logger = pino({ ...logOptions({ traceOf }), base: null }, { write: (line) => void lines.push(line) });
  const parsed = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { logger, lines, parsed };
}

test('a line says what its work is about, also after waiting', async () => {
  const { logger, parsed } = openLogger();
  await withLogContext({ run_id: 'run_1', step_id: 'step_1' }, async () => {
    logger.info('first');
    await new Promise(setImmediate);
    logger.warn({ err: new Error('x') }, 'later');
  });
  logger.info('outside');
  const about = { run_id: 'run_1', step_id: 'step_1', trace_id: 'trace of run_1' };
  expect(parsed()).toMatchObject([{ ...about, msg: 'first' }, { ...about, err: { message: 'x' } }, { msg: 'outside' }]);
  expect(parsed()[2]).not.toHaveProperty('run_id');
});

test('a line about another run has nothing of the work that logs it', () => {
  const { logger, parsed } = openLogger();
  withLogContext({ run_id: 'run_1', step_id: 'step_1' }, () => logger.info({ run_id: 'run_2' }, 'another'));
  expect(parsed()[0]).toMatchObject({ run_id: 'run_2', trace_id: 'trace of run_2' });
  expect(parsed()[0]).not.toHaveProperty('step_id');
});

test('a line for a terminal is short, and steers nothing', () => {
  const { logger, lines } = openLogger();
  const run = { run_id: 'run_1', path: 'a b', text: 'x\u001b[2J\u009b\u202e' };
  logger.warn({ ...run, err: new Error('bad\u001b]0;title\u0007') }, 'repaired \u001b[31mstuck run');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: styles of the level alone.
  const text = prettyLine(lines[0] ?? '').replaceAll(/\u001b\[\d+m/g, '');
  expect(text).toMatch(/^\d\d:\d\d:\d\d\.\d{3} WARN {2}/);
  expect(text).toContain('run_id=run_1');
  expect(text).toContain('path=a b');
  expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Cf}/u);
  expect(prettyLine('no JSON\n')).toBe('no JSON\n');
});

import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { logOptions, openDestination } from './log.ts';

afterEach(() => void vi.useRealTimers());

function openLogger(isUnique?: (fields: object) => boolean) {
  const lines: string[] = [];
  const logger = pino(logOptions({ isUnique }), { write: (line) => void lines.push(line) });
  return { logger, lines, parsed: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

test('logs a repeated error once a second, with the number of suppressed lines', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { logger, parsed } = openLogger();
  for (let index = 0; index < 3000; index++) {
    logger.warn({ queue: 'steps', err: new Error('READONLY') }, 'queue worker error');
    vi.advanceTimersByTime(1);
  }
  vi.advanceTimersByTime(2000);
  const lines = parsed();
  expect(lines.length).toBeLessThanOrEqual(5);
  const suppressed = lines.reduce((sum, line) => sum + Number(line.suppressed ?? 0), 0);
  const first = lines.filter((line) => line.suppressed === undefined).length;
  expect(first + suppressed).toBe(3000);
});

test('logs every unique line, and every line without an error', () => {
  const { logger, lines } = openLogger((fields) => 'code' in fields && fields.code === 'internal');
  for (const name of ['a', 'b']) logger.warn({ err: new Error(name) }, 'failed');
  for (let index = 0; index < 3; index++) {
    logger.error({ err: new Error('x'), code: 'internal' }, 'failed');
    logger.warn({ n: index }, 'no error');
    logger.info({ err: new Error('y') }, 'not a problem');
  }
  expect(lines).toHaveLength(2 + 9);
});

test('logs no arguments of a Redis command', () => {
  const { logger, lines } = openLogger();
  const error = Object.assign(new Error('OOM command not allowed'), {
    name: 'ReplyError',
    command: { name: 'evalsha', args: ['sha', '1', 'a-secret-argument'] },
  });
  logger.warn({ err: error }, 'queue worker error');
  expect(lines.join('')).toContain('"command":"evalsha"');
  expect(lines.join('')).not.toContain('a-secret-argument');
});

test('survives a log that cannot be written, and writes it later', () => {
  const directory = mkdtempSync(join(tmpdir(), 'hp-log-'));
  try {
    const file = join(directory, 'log');
    const full = openSync('/dev/full', 'w');
    const logger = pino(openDestination(full));
    for (let index = 0; index < 3; index++) logger.info('lost for now');
    closeSync(full);
    // The same descriptor, as when the disk has space again.
    expect(openSync(file, 'w')).toBe(full);
    logger.info('written again');
    expect(readFileSync(file, 'utf8')).toContain('written again');
    closeSync(full);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

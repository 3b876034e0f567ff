import type { CommandEnd } from '@holdpoint/contract';

export const mib = 1024 * 1024;

export const exited = (exit_code: number, signal: string | null = null): CommandEnd => ({
  status: 'exited',
  exit_code,
  signal,
});

export const quota = (name: Extract<CommandEnd, { status: 'quota' }>['quota'], limit: number): CommandEnd => ({
  status: 'quota',
  quota: name,
  limit,
});

export const timedOut = (after_ms: number): CommandEnd => ({ status: 'timed_out', after_ms });

import type { Worker } from '@holdpoint/client/wire/operation';
import type { Finding } from './finding.ts';

const name = 'limits';

/** What the workers let no run pass. The API is started with the same setting. */
export function checkCeilings(workers: readonly Pick<Worker, 'ceilings'>[]): Finding {
  const settings = [...new Set(workers.map(({ ceilings }) => textOf(ceilings)))];
  if (settings.length === 0)
    return { name, level: 'ok', text: 'not known: no worker is alive to say how it was started' };
  const finding = { name, text: settings.join('\nanother worker: '), data: { ceilings: workers[0]?.ceilings ?? {} } };
  if (settings.length === 1) return { ...finding, level: 'ok' };
  return { ...finding, level: 'warn', next: 'Start the API and all workers with the same HOLDPOINT_LIMITS.' };
}

function textOf({ command = {}, ...limits }: NonNullable<Worker['ceilings']> = {}): string {
  const entries = [
    ...Object.entries(limits),
    ...Object.entries(command).map(([limit, most]) => [`command.${limit}`, most] as const),
  ];
  if (entries.length === 0) return 'no ceilings (HOLDPOINT_LIMITS)';
  return `at most ${entries.map(([limit, most]) => `${limit} ${most}`).join(', ')} (HOLDPOINT_LIMITS)`;
}

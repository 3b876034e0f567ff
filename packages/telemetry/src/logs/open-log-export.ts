import { Outbox } from '../outbox.ts';
import type { LogExportSettings } from '../settings/log-export.ts';
import { stopWithin } from '../stop-within.ts';
import type { LogExport, LogExportDeps } from './log-export.ts';

/** Lines go to the thread as they are. Off, nothing is kept. @param settings undefined: off */
export function openLogExport(
  { thread, onDropped, stopMs = 3000 }: LogExportDeps,
  settings: LogExportSettings | undefined,
): LogExport | undefined {
  if (settings === undefined) return undefined;
  thread.onDropped('logs', (lines) => onDropped(lines, 'not_sent'));
  const outbox = new Outbox<string>({
    ...settings.queue,
    send: (lines) => thread.ask<void>('lines', lines).catch(() => onDropped(lines.length, 'not_sent')),
    onFull: () => onDropped(1, 'queue_full'),
  });
  return {
    write: (line) => outbox.put(line),
    stop: () => stopWithin(stopMs, () => outbox.flush()),
  };
}

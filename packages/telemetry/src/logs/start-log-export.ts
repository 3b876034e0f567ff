import type { Service } from '../resource.ts';
import type { LogExportSettings } from './log-export-settings.ts';

/** Why lines were dropped: the receiver is too slow, or it refused them or is gone. */
export type LogDrop = 'queue_full' | 'not_sent';

export interface LogExport {
  /** Takes a line as it was logged: redacted, one JSON object. */
  write(line: string): void;
  /** Sends what is left, in bounded time. */
  stop(): Promise<void>;
}

export interface LogExportDeps {
  service: Service;
  /** The span of the run or step that a line is about. */
  spanOf(about: { run_id: string; step_id?: string | undefined }): string;
  onDropped(lines: number, reason: LogDrop): void;
}

/** Starts to send the log by OTLP. Off, nothing of the SDK is imported and no line is parsed. */
export async function startLogExport(
  deps: LogExportDeps,
  settings: LogExportSettings | undefined,
): Promise<LogExport | undefined> {
  if (settings === undefined) return undefined;
  const { openLogExport } = await import('./open-log-export.ts');
  return openLogExport(deps, settings);
}

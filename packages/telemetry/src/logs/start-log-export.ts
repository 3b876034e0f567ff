import type { LogExport, LogExportDeps } from './log-export.ts';
import type { LogExportSettings } from './log-export-settings.ts';

/** Starts to send the log by OTLP. Off, nothing of the SDK is imported and no line is parsed. */
export async function startLogExport(
  deps: LogExportDeps,
  settings: LogExportSettings | undefined,
): Promise<LogExport | undefined> {
  if (settings === undefined) return undefined;
  const { openLogExport } = await import('./open-log-export.ts');
  return openLogExport(deps, settings);
}

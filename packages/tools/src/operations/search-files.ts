import type { CapabilityReport } from '@holdpoint/contract';
import type { ToolContext } from '../tool.ts';
import type { Failure } from './cut-short.ts';
import { type TextQuery, textFileFlags } from './ripgrep-flags.ts';
import { type FoundText, findText } from './search-text.ts';

export interface FileSearch<Mode extends TextQuery['output_mode']> extends TextQuery {
  output_mode: Mode;
  /** At the end of the time the search returns the findings so far. */
  deadline_ms: number;
  /** Counts the searched text files. The count reads all of them once more. @default false */
  count_files?: boolean;
}

export type SearchResult<Mode extends TextQuery['output_mode']> =
  | (FoundText<Mode> & {
      ok: true;
      /** Text files that passed the filter; null when they were not counted in time. */
      files_searched: number | null;
      capabilities: CapabilityReport;
    })
  | { ok: false; failure: Failure };

/**
 * Searches the contents of files with ripgrep and returns all findings, up to 16 MiB of output. Failures have the codes EGLOBINVALID
 * (thrown as a `FileError`), EINVALIDPATTERN and EINVALIDTYPE.
 */
export async function searchFiles<Mode extends TextQuery['output_mode']>(
  context: ToolContext,
  query: FileSearch<Mode>,
): Promise<SearchResult<Mode>> {
  if (query.glob !== undefined) await checkGlob(context, query.glob);
  const bounds = { wall_ms: query.deadline_ms, kept_bytes: 32 * mib, output_bytes: 64 * mib, partial: true };
  const [{ result, found }, counted] = await Promise.all([
    findText(context, query, bounds),
    query.count_files === true ? countTextFiles(context, query) : null,
  ]);
  if ('error' in found) return { ok: false, failure: { ...found, capabilities: result.capabilities } };
  return { ok: true, ...found, files_searched: counted, capabilities: result.capabilities };
}

const mib = 1024 * 1024;

/**
 * ripgrep's own number of searched files includes binary ones. Here ripgrep ends each text file's name with a NUL, and the function counts
 * the NULs.
 */
async function countTextFiles(
  context: ToolContext,
  query: FileSearch<TextQuery['output_mode']>,
): Promise<number | null> {
  const { end, nuls } = await context.search({
    ...{ path: query.path, args: textFileFlags(query), keeps: 'nuls' },
    limits: { wall_ms: query.deadline_ms },
  });
  return end.status === 'exited' && end.signal === null && end.exit_code <= 2 ? nuls : null;
}

/** Throws `FileError` EGLOBINVALID for an unusable pattern, by the same parser as a glob. A leading `!` inverts the pattern. */
async function checkGlob({ files, signal }: ToolContext, pattern: string): Promise<void> {
  await files.glob({ patterns: [pattern.replace(/^!?\/?/, '')], depth: 0 }, signal);
}

import { FileError, type Preview, type ToolOutcome } from '@holdpoint/contract';
import { type FileRename, LanguageError, type LanguagePort, type NamedPlace, type Places } from '../language/port.ts';
import { decodeText, maxTextFile } from '../text-work/text.ts';
import type { ToolContext } from '../tool.ts';
import { failure } from './cut-short.ts';
import { makeChanges, previewChanges } from './make-changes.ts';
import { PatchRefused, type PlannedChange } from './plan-patch.ts';
import { readTextFile } from './read-text.ts';
import { relativePath } from './touched.ts';

/** Asks the language server of a file for the places of a name. @returns a value `{places, total}` */
export async function findPlaces(
  context: ToolContext,
  ask: 'definition' | 'references',
  named: NamedPlace,
): Promise<ToolOutcome> {
  try {
    const { places, total } = await languageOf(context)[ask](within(named));
    return { status: 'succeeded', value: { places: places.map((one) => ({ ...one })), total } satisfies Places };
  } catch (error) {
    return languageFailure(error);
  }
}

/** @throws LanguageError in a run without language servers */
function languageOf({ language }: ToolContext): LanguagePort {
  if (language !== undefined) return language;
  const next = 'Search for the name instead.';
  throw new LanguageError('ENOSERVER', 'This run has no language servers.', next);
}

/** The place with its path relative to the root. */
const within = <Named extends NamedPlace>(named: Named): Named => ({ ...named, path: relativePath(named.path) });

/** Any other error is thrown again. */
function languageFailure(error: unknown): ToolOutcome {
  if (!(error instanceof LanguageError)) throw error;
  return failure(error.code, error.message, error.next);
}

export interface Renaming extends NamedPlace {
  new_name: string;
}

/** Renames a symbol at all of its places, as the language server of its file finds them: all files or none. */
export const renameSymbol = (context: ToolContext, renaming: Renaming): Promise<ToolOutcome> =>
  makeChanges(context, () => planRename(context, renaming)).catch(languageFailure);

export const previewRename = (context: ToolContext, renaming: Renaming): Promise<Preview> =>
  previewChanges(context, () => planRename(context, renaming)).catch((error: unknown) => {
    if (!(error instanceof LanguageError)) throw error;
    return { kind: 'problem', message: error.message };
  });

const mostFiles = 500;

async function planRename(context: ToolContext, renaming: Renaming): Promise<PlannedChange[]> {
  const files = await languageOf(context).rename(within(renaming));
  if (files.length > mostFiles) {
    const message = `The rename changes ${files.length} files; a call changes ${mostFiles} at most. Nothing was changed.`;
    throw new LanguageError('ERENAME', message, 'Rename with a command, and look at the diff.');
  }
  const changes: PlannedChange[] = [];
  for (const one of files) changes.push(await planFile(context, one));
  return changes;
}

async function planFile(context: ToolContext, { path, sha256, edits }: FileRename): Promise<PlannedChange> {
  const read = await readTextFile(context, path);
  if (!read.ok) throw new PatchRefused(read.failure);
  const { data: before } = read.file;
  if (read.file.sha256 !== sha256)
    throw new FileError('ECHANGED', path, `${path} was changed after the server had read it`);
  const { text, bom, lossy } = decodeText(before);
  const data = Buffer.from(`${bom ? '\uFEFF' : ''}${lossy ? '' : edited(path, text, edits)}`);
  if (lossy || data.length > maxTextFile) {
    const why = lossy ? 'has bytes that are not UTF-8' : `would have ${data.length} bytes`;
    const next = 'Rename with a command, and look at the diff.';
    throw new PatchRefused(failure('ERENAME', `${path} ${why}. Nothing was changed.`, next, { path }));
  }
  return { kind: 'update', path, data, before, sha256 };
}

/** The text with its edits made. The edits come from a program of the workspace. @throws LanguageError when they overlap or lie outside */
function edited(path: string, text: string, edits: FileRename['edits']): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text: replacement } of edits) {
    if (start < at || end < start || end > text.length) {
      const message = `The language server answered with edits of ${path} that cannot be made. Nothing was changed.`;
      throw new LanguageError('ERENAME', message, 'Make the edits by themselves.');
    }
    parts.push(text.slice(at, start), replacement);
    at = end;
  }
  return [...parts, text.slice(at)].join('');
}

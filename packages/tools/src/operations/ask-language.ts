import type { ToolOutcome } from '@holdpoint/contract';
import { LanguageError, type LanguagePort, type NamedPlace, type Places } from '../language/port.ts';
import type { ToolContext } from '../tool.ts';
import { failure } from './cut-short.ts';
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
export function languageOf({ language }: ToolContext): LanguagePort {
  if (language !== undefined) return language;
  const next = 'Search for the name instead.';
  throw new LanguageError('ENOSERVER', 'This run has no language servers.', next);
}

/** The place with its path relative to the root. */
export const within = <Named extends NamedPlace>(named: Named): Named => ({ ...named, path: relativePath(named.path) });

/** Any other error is thrown again. */
export function languageFailure(error: unknown): ToolOutcome {
  if (!(error instanceof LanguageError)) throw error;
  return failure(error.code, error.message, error.next);
}

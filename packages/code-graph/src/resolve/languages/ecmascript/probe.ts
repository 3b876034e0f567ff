import { joinPath } from '../../index-paths.ts';
import { asString, readJson } from '../../read-json.ts';
import type { ImportContext } from '../resolve-import.ts';

/** The file meant by a path with another extension, or without an extension. */
export type Probe = (base: string | undefined, options: { isScript: boolean }) => string | undefined;

const typed = ['.ts', '.tsx', '.mts', '.cts', '.d.ts', '.d.mts', '.d.cts'];
const plain = ['.js', '.jsx', '.mjs', '.cjs'];
const others = ['.json', '.vue', '.svelte'];
/** Extensions compiled by TypeScript to each key. */
const compiledFrom: Record<string, string[]> = {
  '.js': ['.ts', '.tsx', '.d.ts'],
  '.jsx': ['.tsx', '.d.ts'],
  '.mjs': ['.mts', '.d.mts'],
  '.cjs': ['.cts', '.d.cts'],
};

export function openProbe({ paths, configuration }: Pick<ImportContext, 'paths' | 'configuration'>): Probe {
  function file(base: string, isScript: boolean): string | undefined {
    const written = /\.[cm]?jsx?$/.exec(base)?.[0] ?? '';
    const stem = base.slice(0, base.length - written.length);
    const sources = (compiledFrom[written] ?? []).map((ending) => stem + ending);
    const added = [...(isScript ? [...plain, ...typed] : [...typed, ...plain]), ...others].map(
      (ending) => base + ending,
    );
    return [...(isScript ? [base, ...sources] : [...sources, base]), ...added].find(paths.has);
  }

  return (base, { isScript }) => {
    if (base === undefined) return undefined;
    const direct = base === '' ? undefined : file(base, isScript);
    if (direct !== undefined) return direct;
    if (!paths.isFolder(base) && base !== '') return undefined;
    const own = readJson(configuration.get(joinPath(base, 'package.json') ?? ''));
    const entries = [asString(own?.types), asString(own?.module), asString(own?.main)];
    for (const entry of [...entries, 'index']) {
      const target = entry === undefined ? undefined : joinPath(base, entry);
      const found = target === undefined || target === base ? undefined : entryFile(target, isScript);
      if (found !== undefined) return found;
    }
    return undefined;
  };

  function entryFile(target: string, isScript: boolean): string | undefined {
    return file(target, isScript) ?? file(joinPath(target, 'index') ?? '', isScript);
  }
}

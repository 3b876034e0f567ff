import type { Toolchain } from '@holdpoint/contract';
import type { Runtime } from '@holdpoint/sandbox';
import { compare, satisfies, validRange } from 'semver';
import type { Wanted } from './wanted.ts';

/** The runtime of a language, chosen for a run. */
export interface Choice {
  toolchain: Toolchain;
  /** Undefined: the machine has no runtime of the language. */
  runtime: Runtime | undefined;
}

const languages = ['node', 'python'] as const;

/** Chooses the best runtimes of the machine for a project. Holdpoint's own Node is chosen only where there is no other Node. Pure. */
export const chooseToolchains = (runtimes: readonly Runtime[], wanted: readonly Wanted[]): Choice[] =>
  languages.flatMap((language) => {
    const found = runtimes.filter((one) => one.language === language);
    const ask = wanted.find((one) => one.language === language);
    return found.length === 0 && ask === undefined ? [] : [choose(language, found, ask)];
  });

function choose(language: Toolchain['language'], found: readonly Runtime[], wanted: Wanted | undefined): Choice {
  const others = found.filter(({ isOwn }) => !isOwn).sort((a, b) => compare(b.version, a.version));
  const own = found.find(({ isOwn }) => isOwn);
  // Commands keep the runtime they already find first, when its version fits.
  const known = [...others].sort((a, b) => Number(b.isFirst) - Number(a.isFirst));
  const fitting = wanted && known.find(({ version }) => fits(version, wanted.range));
  const runtime = fitting ?? nearest(known, others, wanted) ?? own;
  return {
    runtime,
    toolchain: {
      ...{ language, version: runtime?.version ?? null, path: runtime?.path },
      ...(runtime?.isOwn && { own: true }),
      ...(wanted && { wanted: wanted.text, by: wanted.by }),
      fits: wanted === undefined || (runtime !== undefined && fits(runtime.version, wanted.range)),
    },
  };
}

const fits = (version: string, range: string | undefined): boolean =>
  range !== undefined && validRange(range) !== null && satisfies(version, range);

/**
 * Where no version fits: a version with the same beginning as the wanted plain version, else the runtime commands already find, else the
 * newest.
 */
function nearest(
  known: readonly Runtime[],
  newest: readonly Runtime[],
  wanted: Wanted | undefined,
): Runtime | undefined {
  const [first] = known;
  const parts = /^\d+(\.\d+)*$/.test(wanted?.range ?? '') ? (wanted?.range ?? '').split('.') : [];
  for (let count = parts.length - 1; count > 0; count--) {
    const start = `${parts.slice(0, count).join('.')}.`;
    const found = newest.find(({ version }) => version.startsWith(start));
    if (found !== undefined) return found;
  }
  return first?.isFirst ? first : newest[0];
}

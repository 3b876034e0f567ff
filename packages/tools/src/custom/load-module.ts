import { createRequire, registerHooks } from 'node:module';
import { isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkDefinition, type Definition } from './definition-shapes.ts';

/**
 * The definitions exported by a module: its own toolsets, then its additions to other toolsets.
 * @param from the base directory of paths and packages
 * @throws Error with the reason of an unusable module
 */
export async function loadModule(specifier: string, from: string): Promise<Definition[]> {
  const exported = await within(import(/* @vite-ignore */ urlOf(specifier, from)));
  // Once each: the exports of a CommonJS module may be known by name, by default, or by both.
  const values = new Map(
    [...named(exported), ...named(exported.default)].map(([name, value]) => [value, name] as const),
  );
  const found = [...values].flatMap(([value, name]) => definitionsIn(name, value));
  // The exports of a module are in the order of their names.
  const definitions = [...found.filter((one) => !('addsTo' in one)), ...found.filter((one) => 'addsTo' in one)];
  if (definitions.length > 0) return definitions;
  const names = Object.keys(exported).join(', ') || 'nothing';
  throw new Error(`it exports no toolset, but ${names}. Export {name, tools} or {addsTo, tools}`);
}

const named = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !('tools' in value)
    ? Object.entries(value)
    : [];

function definitionsIn(name: string, value: unknown): Definition[] {
  if (Array.isArray(value)) return value.flatMap((one, index) => definitionsIn(`${name}[${index}]`, one));
  if (typeof value !== 'object' || value === null) return [];
  if ('execute' in value && !('tools' in value)) {
    throw new Error(`${name} is a tool alone; export {name, tools: [tool]} or {addsTo: "holdpoint", tools: [tool]}`);
  }
  if (!('tools' in value || 'addsTo' in value)) return [];
  try {
    return [checkDefinition(value)];
  } catch (cause) {
    throw new Error(`${name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

function urlOf(specifier: string, from: string): string {
  if (specifier.startsWith('file:')) return specifier;
  if (isAbsolute(specifier) || /^\.\.?\//.test(specifier)) return pathToFileURL(resolve(from, specifier)).href;
  // Without its conditions, `require.resolve` finds no package with only an `import` entry.
  const hooks = registerHooks({
    resolve: (name, context, next) => next(name, { ...context, conditions: ['node', 'import', 'module-sync'] }),
  });
  try {
    return pathToFileURL(createRequire(join(from, 'package.json')).resolve(specifier)).href;
  } finally {
    hooks.deregister();
  }
}

/** An endless import of a module must not hold up the start without a word. */
async function within(loading: Promise<Record<string, unknown>>): Promise<Record<string, unknown>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not load within ${loadMs / 1000} s`)), loadMs);
  });
  return Promise.race([loading, late]).finally(() => clearTimeout(timer));
}

const loadMs = 30_000;

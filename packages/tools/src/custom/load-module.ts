import { createRequire, registerHooks } from 'node:module';
import { isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkDefinition, type Definition } from './definition-shapes.ts';

/**
 * The definitions that a module exports: its own toolsets, then what it adds to others.
 * @param from the directory that paths and packages are resolved from
 * @throws Error that says why it cannot be used
 */
export async function loadModule(specifier: string, from: string): Promise<Definition[]> {
  const exported = await within(import(/* @vite-ignore */ urlOf(specifier, from)));
  // Once each: what a CommonJS module exports may be known by its names, by its default, or by both.
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
  // Without its conditions, `require.resolve` finds no package that has only an `import` entry.
  const hooks = registerHooks({
    resolve: (name, context, next) => next(name, { ...context, conditions: ['node', 'import', 'module-sync'] }),
  });
  try {
    return pathToFileURL(createRequire(join(from, 'package.json')).resolve(specifier)).href;
  } finally {
    hooks.deregister();
  }
}

/** A module that waits for ever must not hold up the start without a word. */
async function within(loading: Promise<Record<string, unknown>>): Promise<Record<string, unknown>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not load within ${loadMs / 1000} s`)), loadMs);
  });
  return Promise.race([loading, late]).finally(() => clearTimeout(timer));
}

const loadMs = 30_000;

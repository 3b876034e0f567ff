import { type ArgumentTest, canonicalJson, type Json, resolvePointer } from '@holdpoint/contract';
import { compileGlob } from './glob.ts';
import { compileRegex, type RegexBudget } from './regex.ts';
import type { Truth } from './truth.ts';

export interface ArgumentMatcher {
  pointer: string;
  test(args: Json, budget: RegexBudget): Truth;
}

/** @throws GlobError, RegexError */
export function compileArgument(pointer: string, wanted: ArgumentTest): ArgumentMatcher {
  const test = compileTest(wanted);
  return {
    pointer,
    test(args, budget) {
      const value = resolvePointer(args, pointer);
      return value === undefined ? 'no' : test(value, budget);
    },
  };
}

function compileTest(wanted: ArgumentTest): (value: unknown, budget: RegexBudget) => Truth {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return isEqual(wanted);
  if ('equals' in wanted) return isEqual(wanted.equals);
  if ('glob' in wanted) {
    const glob = compileGlob(wanted.glob, false);
    return (value) => (glob.test(textOf(value)) ? 'yes' : 'no');
  }
  const regex = compileRegex(wanted.regex);
  return (value, budget) => regex.test(textOf(value), budget);
}

function isEqual(wanted: unknown): (value: unknown) => Truth {
  const text = canonicalJson(wanted);
  const isPlain = typeof wanted !== 'object' || wanted === null;
  return (value) => ((isPlain ? value === wanted : canonicalJson(value) === text) ? 'yes' : 'no');
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : canonicalJson(value));

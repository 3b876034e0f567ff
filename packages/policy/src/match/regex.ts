import { RE2JS } from 're2js';
import type { Truth } from './truth.ts';

class RegexError extends Error {
  override name = 'RegexError';
}

/** Counts the work of all regular expressions in a judgement: the judgement ends after the same work on every machine. */
export interface RegexBudget {
  left: number;
}

/** Instructions times characters. The worst expression takes 13 ns for each, so a judgement takes at most 0.2 s. */
export const regexBudget = 16_000_000;

export interface Regex {
  source: string;
  /** `maybe`: the budget is used up. */
  test(text: string, budget: RegexBudget): Truth;
}

/** Instructions of an expression. `[ab]{250}` has 250. */
const maxInstructions = 500;
/** Checked before the compilation: a repetition is written out, and nested repetitions multiply. */
const maxSource = 500;

/** Compiles for RE2. RE2 takes time linear in the text. @throws RegexError with the mistake in the expression */
export function compileRegex(source: string): Regex {
  if (source.length > maxSource) throw new RegexError(`is longer than ${maxSource} characters`);
  const compiled = compile(source);
  const instructions = compiled.programSize();
  if (instructions > maxInstructions) {
    throw new RegexError(`needs ${instructions} instructions, more than ${maxInstructions}; repeat less`);
  }
  const start = literalStart(source);
  return {
    source,
    test(text, budget) {
      if (!text.startsWith(start)) return 'no';
      budget.left -= instructions * text.length;
      if (budget.left < 0) return 'maybe';
      return compiled.test(text) ? 'yes' : 'no';
    },
  };
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source, RE2JS.DOTALL);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replace(/^error parsing regexp: /, '') : String(cause);
    throw new RegexError(`does not run in linear time (RE2): ${why}`, { cause });
  }
}

/** The plain text after `^` at the start of every match. A search in RE2 takes 100 times as long as this comparison. */
function literalStart(source: string): string {
  const plain = /^\^([\w /:=-]+)/.exec(source)?.[1] ?? '';
  if (plain === '' || hasTopAlternative(source)) return '';
  // A quantifier behind the text may take its last character away.
  return /[*?+{]/.test(source[plain.length + 1] ?? '') ? plain.slice(0, -1) : plain;
}

/** Whether a bar may stand outside of every group. */
const hasTopAlternative = (source: string): boolean => {
  const first = source.indexOf('|');
  if (first === -1) return false;
  const simple = /^[^()|[\]\\]*(\([^()[\]\\]*\)[^()|[\]\\]*)*$/;
  return !simple.test(source);
};

import picomatch from 'picomatch';
import { Refusal } from './protocol.ts';

/** fast-glob makes a pattern for each choice of braces. */
const maxChoices = 1000;

/** @throws Refusal EGLOBINVALID for an invalid pattern, or a pattern with too many choices of braces */
export function checkGlob(pattern: string): void {
  try {
    // With `debug`, picomatch also refuses character classes invalid in regular expressions.
    picomatch.makeRe(pattern, { strictBrackets: true, posix: true, debug: true });
  } catch (error) {
    throw invalid(pattern, error instanceof Error ? error.message : String(error));
  }
  if (countChoices(pattern) > maxChoices) throw invalid(pattern, `its braces have more than ${maxChoices} choices`);
}

function invalid(pattern: string, why: string): Refusal {
  return new Refusal('EGLOBINVALID', `the pattern ${JSON.stringify(pattern)} cannot be used: ${why}`);
}

/** An upper bound: `{a,b}{c,d}` has four choices, `{1..10}` ten, and the parts of nested braces add up. */
function countChoices(pattern: string): number {
  /** For each open brace: the choices of its finished parts, and of its present part. */
  const open: { finished: number; part: number; from: number }[] = [{ finished: 0, part: 1, from: 0 }];
  for (let at = 0; at < pattern.length; at++) {
    const level = open.at(-1);
    if (level === undefined || !Number.isFinite(level.part)) break;
    if (pattern[at] === '\\') at++;
    else if (pattern[at] === '{') open.push({ finished: 0, part: 1, from: at + 1 });
    else if (pattern[at] === ',' && open.length > 1) {
      level.finished += level.part;
      level.part = 1;
    } else if (pattern[at] === '}' && open.length > 1) {
      open.pop();
      const above = open.at(-1);
      if (above) above.part *= Math.max(level.finished + level.part, rangeLength(pattern.slice(level.from, at)));
    }
  }
  return open.reduce((product, { finished, part }) => product * (finished + part), 1);
}

function rangeLength(text: string): number {
  const [, from, to] = /^(-?\d+)\.\.(-?\d+)/.exec(text) ?? [];
  return from === undefined ? 1 : Math.abs(Number(to) - Number(from)) + 1;
}

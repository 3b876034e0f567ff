import type { Random } from '../chaos/random.ts';
import { growLine } from './grow-line.ts';
import { chooseRules, makeRules, quote, type Rules } from './judge-line.ts';
import { type Done, runLines, type Shell } from './run-lines.ts';
import type { SmallRoot } from './small-root.ts';

/** An allowed line, with its forbidden effects. */
export interface Misread {
  line: string;
  shell: Shell;
  rules: readonly string[];
  did: string;
}

export interface Counts {
  judged: number;
  ran: number;
  /** Lines with an end of their shell, or without an end. */
  stopped: string[];
}

interface Tried {
  line: string;
  shell: Shell;
  rules: Rules;
}

/** Grows and judges lines, runs the allowed lines, and returns lines with effects no rule allows. */
export async function findMisread(root: SmallRoot, random: Random, size: number, counts: Counts): Promise<Misread[]> {
  const rules = chooseRules(random);
  const tried: Tried[] = [];
  for (let index = 0; index < size; index += 1) {
    const line = growLine(random);
    if (line.includes('\0')) continue;
    counts.judged += 1;
    const shell = random.chance(0.85) ? 'bash' : 'dash';
    if (rules.allows(asCall(shell, line))) tried.push({ line, shell, rules });
  }
  const found: Misread[] = [];
  for (const shell of ['bash', 'dash'] as const) {
    const own = tried.filter((one) => one.shell === shell);
    found.push(...(await runAll(root, shell, own, counts)));
  }
  return found;
}

/** The shell of a call is bash. Lines for dash are judged as a script for dash. */
const asCall = (shell: Shell, line: string): string => (shell === 'bash' ? line : `sh -c ${quote(line)}`);

async function runAll(root: SmallRoot, shell: Shell, tried: readonly Tried[], counts: Counts): Promise<Misread[]> {
  const done = await runLines(
    root,
    shell,
    tried.map(({ line }) => line),
  );
  counts.ran += tried.length;
  counts.stopped.push(...tried.flatMap(({ line }, index) => (done[index]!.stopped ? [line] : [])));
  return tried.flatMap(({ line, rules }, index) => {
    const did = wrong(done[index]!, rules);
    return did === undefined ? [] : [{ line, shell, rules: rules.names, did }];
  });
}

/** The effects of a line against the rules. A started program is judged with its real arguments. */
function wrong({ started, wrote }: Done, rules: Rules): string | undefined {
  const program = started.find((argv) => !rules.allows(argv.map(quote).join(' ')));
  if (program) return `started ${program.map((word) => JSON.stringify(word)).join(' ')}`;
  return wrote ? 'changed files' : undefined;
}

/** The smallest allowed line with a forbidden effect: pieces are removed as long as the effect remains. */
export async function shrink(root: SmallRoot, found: Misread): Promise<Misread> {
  const rules = makeRules(found.rules);
  let best = found;
  for (let size = Math.ceil(best.line.length / 2); size >= 1; ) {
    const shorter = without(best.line, size).filter((line) => rules.allows(asCall(best.shell, line)));
    const done = await runLines(root, best.shell, shorter);
    const index = done.findIndex((one) => wrong(one, rules) !== undefined);
    if (index >= 0) best = { ...best, line: shorter[index]!, did: wrong(done[index]!, rules)! };
    else size = size === 1 ? 0 : Math.ceil(size / 2);
  }
  return best;
}

const without = (line: string, size: number): string[] =>
  Array.from({ length: Math.max(0, line.length - size + 1) }, (_, at) => line.slice(0, at) + line.slice(at + size));

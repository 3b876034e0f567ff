import type { CommandResult } from '@holdpoint/contract';

const notWritable = /: Read-only file system$/m;
const notFound = /^(?:.*: )?(?:line \d+: )?(?:exec: )?([^\s:]+): (?:command )?not found$/gm;
const notStarted = /: (?:Permission denied|cannot execute[^\n]*|bad interpreter: [^\n]*)$/m;

/** Parts of the system hidden from the command. */
const notShown = /\/(?:usr|opt|etc)\/[^\n]*: No such file or directory$/m;

/**
 * Adds advice to the result of a command restricted to reading. Where the kernel stopped the command, the advice says why, and how to have
 * the line judged as a writing line: the author of the line cannot know the policy's judgement.
 */
export function withAdvice(result: CommandResult, programs: readonly string[], isCombined: boolean): CommandResult {
  const stream = isCombined ? 'stdout' : 'stderr';
  const { text } = result[stream];
  const hasFailed = result.end.status === 'exited' && result.end.exit_code !== 0;
  const asksForPrograms = hasFailed && programs.includes('which');
  if ((isCombined && !hasFailed) || !(asksForPrograms || wasKept(text, programs))) return result;
  return {
    ...result,
    [stream]: {
      ...result[stream],
      text: `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${adviceOf(programs)}`,
    },
  };
}

function wasKept(text: string, programs: readonly string[]): boolean {
  const missing = [...text.matchAll(notFound)].some(([, name = '']) => !programs.includes(name));
  return missing || notShown.test(text) || notWritable.test(text) || notStarted.test(text);
}

const adviceOf = (programs: readonly string[]): string =>
  `holdpoint: the policy let this line through because its programs only read (${programs.join(', ') || 'the shell alone'}). So it ran with its files ` +
  'read-only, without a network, and saw no other program and little of /usr, /etc and /opt. If it needs them, or has to write, put WRITES=1 before it: ' +
  'then the policy judges it as a line that may write.\n';

import type { CommandResult } from '@holdpoint/contract';

const notWritable = /: Read-only file system$/m;
const notFound = /^(?:.*: )?(?:line \d+: )?(?:exec: )?([^\s:]+): (?:command )?not found$/gm;
const notStarted = /: (?:Permission denied|cannot execute[^\n]*|bad interpreter: [^\n]*)$/m;

/** Parts of the system that are not shown. */
const notShown = /\/(?:usr|opt|etc)\/[^\n]*: No such file or directory$/m;

/**
 * The result of a command that was held to reading. Where the kernel kept it from something, its errors say why, and how the line is judged as
 * one that writes: who wrote it cannot know that the policy took it for a reading one.
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

import type { ApprovalContext } from '@holdpoint/contract/wire';
import { codeText, nameText, oneLine, plain } from '@holdpoint/readable';
import type { Colors } from '../shell/index.ts';
import { counted } from './units.ts';

/** The lines of `approvals show` about the past of a call: words of the model, files and hosts read, earlier decisions. */
export function contextText({ message, since, read, decided }: ApprovalContext, colors: Colors): string[] {
  return [
    ...(message === null || message === ''
      ? []
      : [colors.bold('the model said'), ...plain(message).split('\n').map(barred)]),
    ...(read.calls === 0 ? [] : [colors.bold(sinceText(since)), ...readText(read)]),
    ...(decided === null ? [] : decidedText(decided)),
  ];
}

const barred = (line: string): string => `| ${line}`;

const sinceText = (since: ApprovalContext['since']): string =>
  since === null ? 'read since the run began' : `read since ${nameText(since.by)} decided (${since.decision})`;

/** Longer lists are in the answer of the API, and in --json. */
const mostShown = 8;

function readText({ calls, files, hosts, commands, cut }: ApprovalContext['read']): string[] {
  return [
    `${counted(calls, 'call')}${cut ? ' or more' : ''}`,
    ...listText('files', files.map(nameText)),
    ...listText('hosts', hosts.map(nameText)),
    ...listText(
      'commands',
      commands.map((line) => oneLine(codeText(line), 80)),
    ),
  ];
}

function listText(name: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  const more = items.length - mostShown;
  return [`${name}: ${items.slice(0, mostShown).join(', ')}${more > 0 ? ` and ${more} more` : ''}`];
}

function decidedText({ same, alike, head, runs, complete }: NonNullable<ApprovalContext['decided']>): string[] {
  const what = head === null ? 'calls of this tool' : `calls that begin with ${codeText(head)}`;
  const where = complete ? '' : ` (in the newest ${counted(runs, 'run')})`;
  return [`this very call: ${countText(same)}`, `${what}: ${countText(alike)}${where}`];
}

const words = { approve: 'approved', edit: 'edited', reject: 'rejected', respond: 'answered', expired: 'expired' };

function countText(counts: NonNullable<ApprovalContext['decided']>['same']): string {
  const parts = Object.entries(words).flatMap(([name, word]) => {
    const count = counts[name as keyof typeof words];
    return count === 0 ? [] : [`${word} ${count === 1 ? 'once' : `${count} times`}`];
  });
  return parts.length === 0 ? 'never decided before' : parts.join(', ');
}

import type { PullRequestReport } from '@holdpoint/engine/worker';
import { oneLine } from '@holdpoint/readable';
import type { CommitStatus } from '../port.ts';

/** Most characters of a description at GitHub. */
const longest = 140;

/** What a reader sees beside the commit: the validators, and who decided on what. */
export const statusesOf = ({ validators, decisions, decided, digest }: PullRequestReport): CommitStatus[] => [
  { context: 'holdpoint/validators', description: describeValidators(validators) },
  { context: 'holdpoint/decisions', description: describeDecisions({ decisions, decided, digest }) },
];

function describeValidators(validators: PullRequestReport['validators']): string {
  if (validators.length === 0) return 'no validators were asked for';
  const passed = validators.filter(({ status }) => status === 'passed').length;
  return oneLine(`${passed} of ${validators.length} passed: ${validators.map(({ name }) => name).join(', ')}`, longest);
}

function describeDecisions({ decisions, decided, digest }: Omit<PullRequestReport, 'message' | 'validators'>): string {
  const last = decisions.at(-1);
  if (last === undefined) return oneLine(`no decision was asked for; plan ${short(digest)}`, longest);
  const count = decided === 1 ? '1 decision' : `${decided} decisions, the last`;
  return oneLine(`${count}: ${last.decision} by ${oneLine(last.by, 60)}, ${short(last.digest)}`, longest);
}

const short = (digest: string): string => digest.slice(0, 'sha256:'.length + 16);

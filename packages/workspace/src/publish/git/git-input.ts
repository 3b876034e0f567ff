import { canonicalJson } from '@holdpoint/contract';
import { type PublishRequest, type RunFolder, WorkspaceError, type WorkspaceRecord } from '../../deps.ts';
import type { Scope } from '../../left-out/find-left-out.ts';
import type { SharedRules } from '../../left-out/ignore-rules.ts';
import { type Folder, isRefName } from '../../store/objects/index.ts';

/** A request to publish to a git source. */
export interface GitInput extends PublishRequest {
  folder: RunFolder;
  record: WorkspaceRecord;
  /** Shared by the questions of a plan. */
  rules?: SharedRules;
}

/** @param tracked trees of the source: files in them are published even when an ignore rule matches */
export const scopeOf = ({ folder, record, target, rules }: GitInput, tracked: readonly Folder[]): Scope => ({
  folder,
  record,
  tracked,
  rules,
  includeIgnored: target.include_ignored === true,
});

/** The pull request of a request as one text, for comparison. */
export const pullRequestText = ({ target: { pull_request: pull } }: GitInput): string | undefined =>
  pull && canonicalJson(pull);

/** A file name of 255 bytes, minus git's `.lock` suffix during the write of a ref. */
const longestPart = 250;

/** The full name of a branch from its short or full name. Throws `EBRANCHINVALID` before a bad name reaches a command line. */
export function branchName(given: string): string {
  const short = given.replace(/^refs\/heads\//, '');
  // `git branch` refuses these two although they are valid ref names.
  const isPlain = !short.startsWith('-') && short !== 'HEAD';
  const fits = short.split('/').every((part) => Buffer.byteLength(part) <= longestPart);
  const branch = `refs/heads/${short}`;
  if (isPlain && fits && isRefName(branch)) return branch;
  throw new WorkspaceError('EBRANCHINVALID', `${JSON.stringify(given)} is not a valid branch name.`);
}

import { cutDiff, unifiedDiff } from './patch.ts';
import { type Replacement, type ReplaceResult, replaceText } from './replace-text.ts';
import { decodeText } from './text.ts';

export interface EditInput {
  data: Buffer;
  /** Each edit finds its text in the result of the edits before it. */
  edits: readonly Replacement[];
  /** The file name in the diff. */
  path: string;
  /** The most UTF-8 bytes of the diff. */
  diffBytes: number;
}

type Replaced = Extract<ReplaceResult, { status: 'replaced' }>;

/** `failed`: the first edit that cannot be made, counted from 0. No edit is made then. `lines`: of the last edit. */
export type EditedText =
  | (Replaced & { diff: string; diff_truncated: boolean })
  | (Exclude<ReplaceResult, Replaced> & { failed: number });

/** The content of a file after all edits, with a diff. */
export function editText({ data: before, path, diffBytes, edits }: EditInput): EditedText {
  let data = before;
  let count = 0;
  let lines: number[] = [];
  for (const [failed, edit] of edits.entries()) {
    const result = replaceText(data, edit);
    if (result.status !== 'replaced') return { ...result, failed };
    count += result.count;
    ({ data, lines } = result);
  }
  return { status: 'replaced', data, count, lines, ...diffData({ path, before, after: data, diffBytes }) };
}

/** The diff of a new content. The diff includes a byte order mark dropped by the new content. */
export function diffWritten({ path, before, after, diffBytes }: WrittenInput): {
  diff: string;
  diff_truncated: boolean;
} {
  const current = before === null ? null : decodeText(before);
  const old = current === null ? null : `${current.bom ? '\uFEFF' : ''}${current.text}`;
  return cutDiff(unifiedDiff({ path, before: old, after, most: diffBytes }), diffBytes);
}

export interface WrittenInput {
  path: string;
  /** null for a new file */
  before: Buffer | null;
  after: string | null;
  diffBytes: number;
}

function diffData({
  path,
  before,
  after,
  diffBytes,
}: Omit<WrittenInput, 'before' | 'after'> & { before: Buffer; after: Buffer }) {
  const change = { path, before: decodeText(before).text, after: decodeText(after).text, most: diffBytes };
  return cutDiff(unifiedDiff(change), diffBytes);
}

import { cutDiff, unifiedDiff } from './patch.ts';
import { type Replacement, type ReplaceResult, replaceText } from './replace-text.ts';
import { decodeText } from './text.ts';

export interface EditInput extends Replacement {
  data: Buffer;
  /** The file name in the diff. */
  path: string;
  /** The most UTF-8 bytes of the diff. */
  diffBytes: number;
}

type Replaced = Extract<ReplaceResult, { status: 'replaced' }>;

export type EditedText = (Replaced & { diff: string; diff_truncated: boolean }) | Exclude<ReplaceResult, Replaced>;

/** The content of a file after an edit, with a diff. */
export function editText({ data, path, diffBytes, ...replacement }: EditInput): EditedText {
  const result = replaceText(data, replacement);
  if (result.status !== 'replaced') return result;
  return { ...result, ...diffData({ path, before: data, after: result.data, diffBytes }) };
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

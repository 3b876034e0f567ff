import type { LineComment } from '@holdpoint/contract/wire';
import { codeText, nameText } from '@holdpoint/readable';
import { ApiProblem } from '../../errors/to-problem.ts';

/**
 * The words of a person with the comments on lines, as the model reads them. The same comments give the same text, so a repeated request
 * is recognised.
 * @throws ApiProblem `invalid_request` when the whole is longer than `most` characters
 */
export function withComments(
  words: string | undefined,
  comments: readonly LineComment[] | undefined,
  { most }: { most: number },
): string | undefined {
  if (comments === undefined || comments.length === 0) return words;
  const parts = words === undefined || words.trim() === '' ? [] : [words];
  const text = [...parts, 'Comments on lines:', ...comments.map(commentText)].join('\n\n');
  if (text.length <= most) return text;
  const detail = `the message and its comments have ${text.length} characters together, and ${most} are allowed`;
  throw new ApiProblem('invalid_request', detail, { errors: [{ pointer: '/comments', detail }] });
}

function commentText({ path, line, side = 'new', snapshot, quote, text }: LineComment): string {
  const version = side === 'old' ? ', before the change' : '';
  const at = snapshot === undefined ? '' : ` (snapshot ${snapshot.slice(0, 10)})`;
  const place = `${nameText(path)}, line ${line}${version}${at}`;
  return [place, ...(quote === undefined ? [] : [`> ${codeText(quote).replaceAll('\n', ' ')}`]), text].join('\n');
}

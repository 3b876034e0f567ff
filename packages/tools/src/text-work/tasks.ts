import { diffWritten, type EditInput, editText, type WrittenInput } from '../operations/edit-text.ts';
import { type ExcerptInput, excerptOf } from '../operations/excerpt.ts';
import type { PageBody } from '../web/read-page.ts';
import type { ResultsPage } from '../web/search/read-results.ts';
import { weighJson } from './weigh-json.ts';

/** Everything that is done to texts of unknown size. Pure: they know nothing but what they are given, which crosses into a thread. */
export const textTasks = {
  edit: (input: EditInput) => editText({ ...input, data: asBuffer(input.data) }),
  diff: (input: WrittenInput) => diffWritten({ ...input, before: input.before && asBuffer(input.before) }),
  excerpt: (input: ExcerptInput) => excerptOf({ ...input, data: asBuffer(input.data) }),
  weigh: weighJson,
  // Only a thread loads the parser of HTML.
  page: async (input: PageBody) => {
    const { readPage } = await import('../web/read-page.ts');
    return readPage({ ...input, body: asBuffer(input.body) });
  },
  results: async (input: ResultsPage) => {
    const { readResults } = await import('../web/search/read-results.ts');
    return readResults({ ...input, body: asBuffer(input.body) });
  },
};
export type TextTasks = typeof textTasks;

/** Bytes arrive in a thread as an array. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

import { diffWritten, type EditInput, editText, type WrittenInput } from '../operations/edit-text.ts';
import { type ExcerptInput, excerptOf } from '../operations/excerpt.ts';
import type { PageBody } from '../web/read-page.ts';
import type { ResultsPage } from '../web/search/read-results.ts';
import { weighJson } from './weigh-json.ts';

/** All work on texts of unknown size. The functions are pure: their input and output cross into a thread and back. */
export const textTasks = {
  edit: (input: EditInput) => editText({ ...input, data: asBuffer(input.data) }),
  diff: (input: WrittenInput) => diffWritten({ ...input, before: input.before && asBuffer(input.before) }),
  excerpt: (input: ExcerptInput) => excerptOf({ ...input, data: asBuffer(input.data) }),
  weigh: weighJson,
  // Imported here so that only a thread loads the HTML parser.
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

/** A Buffer arrives in a thread as a Uint8Array. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

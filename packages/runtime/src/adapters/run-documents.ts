import { pdfBounds } from '@holdpoint/contract';
import type { Documents } from '@holdpoint/documents';
import { SandboxError } from '@holdpoint/sandbox';
import type { Redactor } from '@holdpoint/secrets';
import type { ToolContext } from '@holdpoint/tools';

interface Reading {
  run: { id: string; uid: number; gid: number };
  /** Asked for after the file was read: the call may have read a value for the first time. */
  redactor: () => Pick<Redactor, 'find'>;
}

type ReadPages = NonNullable<ToolContext['pages']>;

/** The pages of a run's documents, for the run's tools. A file that ends its reader, or takes too long, is a fact about the file. */
export const runDocuments =
  (documents: Documents, { run, redactor }: Reading): ReadPages =>
  async ({ data, offset, limit }) => {
    const found = await readText(documents, run, { data, offset, limit: Math.min(limit, mostPages) });
    if ('problem' in found || found.pages.length === 0) return found;
    const last = offset - 1 + Math.min(found.pages.length, pdfBounds.pages);
    const made = await documents.file({ run, data, first: offset, last, most: pdfBounds.bytes });
    // The bytes of a page may be compressed, where no value of a secret is found: its texts decide.
    if ('problem' in made || hasSecret(redactor(), made.texts)) return found;
    return { ...found, file: { data: made.file, pages: made.pages } };
  };

/** A value may be broken into lines. */
const hasSecret = ({ find }: ReturnType<Reading['redactor']>, texts: string): boolean =>
  find(texts).length > 0 || find(texts.replaceAll('\n', '')).length > 0;

/** A text of more pages would have no file of the same pages. */
const mostPages = pdfBounds.pages;

async function readText(
  documents: Documents,
  run: Reading['run'],
  asked: Parameters<ReadPages>[0],
): Promise<Awaited<ReturnType<Documents['pages']>> | { problem: 'late'; message: string }> {
  try {
    return await documents.pages({ ...asked, run });
  } catch (error) {
    if (!(error instanceof SandboxError) || !error.code.startsWith('EPROGRAM')) throw error;
    return { problem: error.code === 'EPROGRAMTIMEOUT' ? ('late' as const) : 'broken', message: error.message };
  }
}

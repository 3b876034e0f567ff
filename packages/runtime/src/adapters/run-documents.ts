import type { Documents } from '@holdpoint/documents';
import { SandboxError } from '@holdpoint/sandbox';
import type { ToolContext } from '@holdpoint/tools';

/** The pages of a run's documents, for the run's tools. A file that ends its reader, or takes too long, is a fact about the file. */
export const runDocuments =
  (documents: Documents, run: { id: string; uid: number; gid: number }): NonNullable<ToolContext['pages']> =>
  async (asked) => {
    try {
      return await documents.pages({ ...asked, run });
    } catch (error) {
      if (!(error instanceof SandboxError) || !error.code.startsWith('EPROGRAM')) throw error;
      return { problem: error.code === 'EPROGRAMTIMEOUT' ? 'late' : 'broken', message: error.message };
    }
  };

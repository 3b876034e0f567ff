import { z } from 'zod';

/** Some pages of a PDF as a file of their own, kept by digest, apart from the log: a result names the file, and the blob store has its bytes. */
export const keptPdfSchema = z.strictObject({
  media_type: z.literal('application/pdf'),
  pages: z.int().min(1),
  bytes: z.int().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
export type KeptPdf = z.infer<typeof keptPdfSchema>;

/**
 * Bounds of the pages in one result. A model reads a page as its text and an image, together some 3,000 tokens; a request has room for the
 * bytes of several results. The bounds of the providers are far above (`pdf-bounds.ts` of the package models).
 */
export const pdfBounds = { bytes: 3 * 1024 * 1024, pages: 10 };

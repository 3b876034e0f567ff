/** A line of JSON for the program inside: what to read of a PDF. Pages count from 1. */
export type DocumentRequest = PagesRequest | FileRequest;

interface PagesRequest {
  asks: 'pages';
  /** The file in base64. */
  pdf: string;
  offset: number;
  limit: number;
}

interface FileRequest {
  asks: 'file';
  pdf: string;
  first: number;
  last: number;
  /** Most bytes of the new file. */
  most: number;
}

/** The text of a page, in lines. */
export interface Page {
  page: number;
  text: string;
  /** Characters left out at the end. */
  cut?: number;
}

/** Pages until about 16 KiB of text, and at least a single page. */
export interface Pages {
  total_pages: number;
  pages: Page[];
}

/** Some pages as a PDF of their own, with their visible content alone. */
export interface PagesFile {
  /** In base64. Fewer pages than asked for when more were too large. */
  file: string;
  pages: number;
  /** Every text of these pages, notes and values of forms included. */
  texts: string;
}

/** Why a PDF has no pages to read. */
export interface PdfProblem {
  problem: 'password' | 'broken' | 'large';
  message: string;
}

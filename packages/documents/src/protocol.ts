/** A line of JSON for the program inside: the pages of a PDF, from `offset` on, counted from 1. */
export interface PagesRequest {
  /** The file in base64. */
  pdf: string;
  offset: number;
  limit: number;
}

/** The text of a page, in lines. */
export interface Page {
  page: number;
  text: string;
  /** Characters left out at the end. */
  cut?: number;
}

/** Pages until about 16 KiB of text; at least one, while there is one. */
interface Pages {
  total_pages: number;
  pages: Page[];
}

/** Why a PDF has no pages to read. */
interface PdfProblem {
  problem: 'password' | 'broken';
  message: string;
}

/** The answer's line. */
export type PagesReply = Pages | PdfProblem;

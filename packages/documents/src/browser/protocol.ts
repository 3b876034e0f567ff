/** The only line of JSON for the program inside: what to serve and what to show. */
export interface ShotRequest {
  /** The Chromium, as the sandbox sees it. */
  browser: string;
  /** A line for bash that serves the page. */
  serve: string;
  /** The directory of the command, absolute inside. */
  cwd: string;
  url: string;
  width: number;
  height: number;
  /** The whole page instead of the visible part. */
  whole: boolean;
  /** Milliseconds for the server to listen, and for the page to load. */
  listen_ms: number;
  load_ms: number;
  /** Milliseconds for each answer of the browser: a page that never stops a script gives none. */
  answer_ms: number;
  /** Bounds of the image. */
  most_side: number;
  most_bytes: number;
}

export interface Shot {
  /** PNG, or JPEG where a PNG is too large; base64. */
  image: string;
  /** The document's address, after redirects. */
  url: string;
  /** HTTP status of the document; absent when it brought none. */
  status?: number;
  title: string;
  /** False: the image shows the page as far as it had come. */
  loaded: boolean;
  /** Height of the whole page, when the image has less of it. */
  cut?: number;
  /** Errors and warnings of the page's console, and refused requests. */
  console: string[];
}

/** Why there is no image. */
export interface NoShot {
  problem: 'server' | 'browser' | 'page';
  message: string;
  /** The end of the server's output. */
  output?: string;
}

/** The answer's line. */
export type ShotReply = Shot | NoShot;

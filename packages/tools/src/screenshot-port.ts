/** What to serve and what to show. The addresses are the sandbox's own. */
export interface ScreenshotQuery {
  /** A line for bash that serves the page. */
  serve: string;
  /** Relative to the workspace root. */
  cwd: string;
  url: string;
  width: number;
  height: number;
  whole: boolean;
}

interface Screenshot {
  image: Buffer;
  url: string;
  status?: number | undefined;
  title: string;
  loaded: boolean;
  cut?: number | undefined;
  console: readonly string[];
}

/** Pictures of pages that the run serves. */
export type TakeScreenshot = (
  query: ScreenshotQuery,
) => Promise<Screenshot | { problem: 'server' | 'browser' | 'page'; message: string; output?: string | undefined }>;

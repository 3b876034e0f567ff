import { imageBounds } from '@holdpoint/contract';
import type { PageBrowser } from '@holdpoint/documents';
import type { WorkspaceMount } from '@holdpoint/sandbox';
import type { ToolContext } from '@holdpoint/tools';

/** Milliseconds for the server of a page to listen, and for the page to load. A server that builds first needs more than a page. */
const [listen_ms, load_ms, answer_ms] = [60_000, 15_000, 15_000];
const bounds = { listen_ms, load_ms, answer_ms, most_side: imageBounds.side, most_bytes: imageBounds.bytes };

/** Pictures of pages for the tools of a run. */
export const runScreenshots =
  (
    browser: PageBrowser,
    { mount, signal }: { mount: WorkspaceMount; signal: AbortSignal },
  ): ToolContext['screenshot'] =>
  (query) =>
    browser.shoot({ ...query, ...bounds, mount, signal });

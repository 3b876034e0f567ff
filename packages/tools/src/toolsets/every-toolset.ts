import type { GraphPort } from '../graph/port.ts';
import { duckDuckGoHtml } from '../search/duckduckgo-html.ts';
import type { SearchPort } from '../search/port.ts';
import type { Toolset } from '../toolset.ts';
import { claudeCode } from './claude-code/toolset.ts';
import { createCleminiToolset } from './clemini/toolset.ts';
import { cliAgent } from './cli-agent/toolset.ts';
import { createHoldpointToolset } from './holdpoint/toolset.ts';
import { ryan } from './ryan/toolset.ts';
import { createSageToolset } from './sage/toolset.ts';
import { createWorkbenchToolset } from './workbench/toolset.ts';

/** The toolsets of Holdpoint, the default first. */
export const createToolsets = ({
  search,
  graph,
  browser,
}: {
  search: SearchPort;
  /** Whether workers have a browser. @default false */
  browser?: boolean | undefined;
  /** A graph outside of Holdpoint. @default the graph of each run */
  graph?: GraphPort | undefined;
}): Toolset[] => [
  createHoldpointToolset({ search, browser }),
  ryan,
  cliAgent,
  createWorkbenchToolset({ search }),
  createCleminiToolset({ search }),
  createSageToolset({ graph }),
  claudeCode,
];

/** The toolsets use the search engine that needs no account. */
export const everyToolset = createToolsets({ search: duckDuckGoHtml() });

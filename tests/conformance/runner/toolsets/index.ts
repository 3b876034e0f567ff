import type { Adapter } from './adapter.ts';
import { clemini } from './clemini.ts';
import { cliAgent } from './cli-agent.ts';
import { holdpoint } from './holdpoint.ts';
import { ryan } from './ryan.ts';
import { sage } from './sage.ts';
import { workbench } from './workbench.ts';

const adapters: Readonly<Record<string, Adapter>> = {
  'cli-agent': cliAgent,
  ryan,
  workbench,
  clemini,
  sage,
  holdpoint,
};

export const adapterOf = (toolset: string): Adapter | undefined =>
  Object.hasOwn(adapters, toolset) ? adapters[toolset] : undefined;

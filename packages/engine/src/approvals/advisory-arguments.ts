import type { Json } from '@holdpoint/contract';
import { describeTouches, onlyReads } from '@holdpoint/policy';
import type { ToolCatalog } from '../ports/index.ts';

type Catalog = Pick<ToolCatalog, 'advisory' | 'describe'>;

interface AskedCall {
  toolset: string;
  tool: string;
  args: Json;
}

/**
 * The arguments of a call that a remembered rule leaves out, in order. A time limit is among them only where the command judge of the
 * policies finds that every command of the call just reads: `sleep 100; rm x` reaches `rm` or not by its limit, `git status` changes
 * nothing under any.
 */
export function advisoryOf(catalog: Catalog, call: AskedCall): string[] {
  const { words = [], limits = [] } = catalog.advisory(call.toolset, call.tool);
  const isLimitOpen = limits.length > 0 && justReads(catalog, call);
  return [...words, ...(isLimitOpen ? limits : [])].sort();
}

/** A background command outlives its call, so its limit is about other calls, too. */
function justReads(catalog: Catalog, call: AskedCall): boolean {
  const described = catalog.describe({ ...call, network: false });
  return described.ok && !described.touches.background && onlyReads(describeTouches(described.touches));
}

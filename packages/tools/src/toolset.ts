import { ToolsError } from './errors.ts';
import type { Tool } from './tool.ts';

export interface Toolset {
  name: string;
  tools: readonly Tool[];
  /** Whether `$ENV.NAME` in arguments stands for a secret of the run. @default false */
  placeholders?: boolean;
}

/** @throws ToolsError `EINVALIDTOOL` when two tools have one name */
export function defineToolset(toolset: Toolset): Toolset {
  const seen = new Set<string>();
  for (const { name } of toolset.tools) {
    if (seen.has(name)) {
      throw new ToolsError(
        'EINVALIDTOOL',
        `The toolset "${toolset.name}" has two tools named "${name}".`,
        'Rename one of them or leave it out.',
      );
    }
    seen.add(name);
  }
  return toolset;
}

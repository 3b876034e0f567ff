import { expect, type TestContext } from 'vitest';
import { compare } from './compare.ts';
import { MissingTool } from './missing-tool.ts';
import type { FileReport, Tree } from './read-tree.ts';

export interface Readings {
  ours: Tree;
  theirs: Map<string, FileReport>;
}

/** Skips, with the reason in the report, where the tool cannot be had. */
export async function expectAgreement(context: TestContext, read: () => Promise<Readings>): Promise<void> {
  const { ours, theirs } = await read().catch((error: unknown) => {
    if (error instanceof MissingTool) context.skip(error.message);
    throw error;
  });
  const { onlyOurs, onlyTheirs, ...counts } = compare(ours, theirs);
  const { unparsed, broken } = ours;
  process.stdout.write(`${JSON.stringify({ ...counts, broken: [...broken], unparsed })}\n`);
  expect({ onlyOurs, onlyTheirs, unparsed }).toEqual({ onlyOurs: [], onlyTheirs: [], unparsed: [] });
  expect(counts.symbols).toBeGreaterThan(10_000);
  // A grammar can be older than the newest syntax. These files are not compared, so they must stay few.
  expect(broken.size).toBeLessThan(theirs.size / 100);
}

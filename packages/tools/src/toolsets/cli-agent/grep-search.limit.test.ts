import type { SearchResult } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { bareContext } from '../../testing/bare-context.ts';
import { grepSearch } from './grep-search.ts';

const stream = (text: string) => ({ text, bytes: text.length, truncated: false });

// covers S0-65
test('a search out of time returns its findings, with a warning', async () => {
  const end = { status: 'timed_out', after_ms: 30_000 } as const;
  const found = { end, stdout: stream('./a.txt\x001:x\n./b.'), stderr: stream(''), duration_ms: 30_000 };
  const search = async () => ({ ...found, nuls: 0, capabilities: {} }) as SearchResult;
  const args = { pattern: 'x', is_regex: false, max_results: 100 };
  expect(await grepSearch.execute({ ...bareContext(), search }, args)).toMatchObject({
    status: 'succeeded',
    value: {
      output: "Found 1 matches for 'x':\n  a.txt:1: x\nWarning: Search timed out after 30s, returning partial results",
      metadata: { total_matches: 1, files_searched: null, truncated: true },
    },
  });
});

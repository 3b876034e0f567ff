import type { Query, QueryClient } from '@tanstack/react-query';

const pauseMs = 500;

/**
 * Reads active queries of a key again, at most twice a second for each key: a hundred events are one request. A query in flight may get an
 * answer from before the news, so the page reads the query once more afterwards.
 */
export function createRereader(queries: QueryClient): (key: readonly string[]) => void {
  const due = new Set<string>();
  return (queryKey) => {
    const name = queryKey.join(' ');
    if (due.has(name)) return;
    due.add(name);
    setTimeout(() => {
      due.delete(name);
      for (const query of queries.getQueryCache().findAll({ queryKey })) void readAgain(queries, query);
    }, pauseMs);
  };
}

async function readAgain(queries: QueryClient, query: Query): Promise<void> {
  if (query.state.fetchStatus === 'fetching') await query.fetch().catch(() => undefined);
  await queries.invalidateQueries({ predicate: (each) => each === query }, { cancelRefetch: false });
}

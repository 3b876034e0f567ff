import type { Row } from '../query/define-question.ts';
import type { GraphRun } from './graph-host.ts';

/** Everything that a graph says, in one object. */
export async function wholeGraph(run: Pick<GraphRun, 'answer'>): Promise<Record<string, Row[]>> {
  const all = async (query: string, params: Record<string, string> = {}): Promise<Row[]> => {
    const rows: Row[] = [];
    let cursor: string | undefined;
    do {
      const page = await run.answer(query, { ...params, limit: 1000, ...(cursor !== undefined && { cursor }) });
      rows.push(...page.results);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return rows;
  };
  const symbols = await all('symbols');
  const names = [...new Set(symbols.map(({ name }) => String(name)))];
  const files = await all('files');
  const parsed = files.filter(({ symbols: count }) => count !== undefined).map(({ path }) => String(path));
  return {
    ...{
      files,
      symbols,
      imports: await all('imports'),
      unparsed: await all('unparsed'),
      summary: await all('summary'),
    },
    references: (await Promise.all(names.map((name) => all('references', { name })))).flat(),
    importers: (await Promise.all(parsed.map((path) => all('importers', { path })))).flat(),
  };
}

import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, it, vi } from 'vitest';
import { createRereader } from './reread.ts';

it('reads once more what was being read when the news came, and hundred news are two requests', async () => {
  const answers: ((text: string) => void)[] = [];
  const queries = new QueryClient();
  const observer = new QueryObserver(queries, {
    queryKey: ['runs', 'list'],
    queryFn: () => new Promise<string>((resolve) => answers.push(resolve)),
  });
  const leave = observer.subscribe(() => undefined);
  const again = createRereader(queries);
  const read = vi.spyOn(queries.getQueryCache(), 'findAll');
  for (let news = 0; news < 100; news++) again(['runs']);
  await expect.poll(() => read.mock.calls.length).toBe(1);
  expect(answers).toHaveLength(1);
  answers[0]?.('from before the news');
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.('new');
  await expect.poll(() => observer.getCurrentResult().data).toBe('new');
  expect(answers).toHaveLength(2);
  leave();
  queries.clear();
});

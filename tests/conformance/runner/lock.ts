/** Lets users in individually, in the order of asking. */
export function openLock(): <T>(use: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (use) => {
    const turn = last.then(use);
    last = turn.catch(() => undefined);
    return turn;
  };
}

/** Runs every item, at most `width` at once, and returns the results in the order of the items. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  width: number,
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results[at] = await run(items[at] as Item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, work));
  return results;
}

/** Runs tasks of the same key one after the other, tasks of different keys concurrently. */
export type Serial = <T>(key: string, task: () => Promise<T>) => Promise<T>;

export function createSerial(): Serial {
  const tails = new Map<string, Promise<unknown>>();
  return (key, task) => {
    const before = tails.get(key) ?? Promise.resolve();
    const result = before.then(task, task);
    const tail = result
      .catch(() => {})
      .then(() => {
        if (tails.get(key) === tail) tails.delete(key);
      });
    tails.set(key, tail);
    return result;
  };
}

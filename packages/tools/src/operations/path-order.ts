/** Sorts as ripgrep and git do: by the bytes of each name, a folder where its name stands. Items with the same path keep their order. */
export function inPathOrder<Item>(items: readonly Item[], pathOf: (item: Item) => string): Item[] {
  // A separator sorts before every other byte.
  const keyed = items.map((item) => ({ item, key: Buffer.from(pathOf(item).replaceAll('/', '\0')) }));
  return keyed.sort((one, other) => Buffer.compare(one.key, other.key)).map(({ item }) => item);
}

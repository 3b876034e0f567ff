/** A step in the order of the plan. */
export interface ListedStep {
  id: string;
  /** The number of the step in fork and undo, from 1, unless the step is undone. */
  number: number;
  /** The step belongs to the last planning of the turn. */
  isLatest: boolean;
}

/** The steps of a field `turn:N` in order: steps at the same place in the turn are in the order of their planning. */
export function parseTurn(row: string): ListedStep[] {
  const places = new Map<string, { place: number; number: number; isLatest: boolean }>();
  const times = row.split(';').slice(1);
  for (const [time, planned] of times.entries()) {
    const [ids = '', before = '0'] = planned.split('@');
    const isLatest = time === times.length - 1;
    for (const [place, id] of ids.split(' ').entries()) {
      places.set(id, { place, number: Number(before) + place + 1, isLatest });
    }
  }
  return [...places]
    .sort(([one, a], [other, b]) => a.place - b.place || (one < other ? -1 : 1))
    .map(([id, { number, isLatest }]) => ({ id, number, isLatest }));
}

/**
 * `maybe`: the shell decides at run time whether the rule matches. An allow rule needs `yes`; a hold or deny rule applies unless the answer
 * is `no`.
 */
export type Truth = 'yes' | 'maybe' | 'no';

export const and = (a: Truth, b: Truth): Truth => (a === 'no' || b === 'no' ? 'no' : a === 'yes' ? b : a);
export const or = (a: Truth, b: Truth): Truth => (a === 'yes' || b === 'yes' ? 'yes' : a === 'no' ? b : a);

/** Stops at the first `yes`. */
export function any<Item>(items: readonly Item[], test: (item: Item) => Truth): Truth {
  let found: Truth = 'no';
  for (const item of items) {
    found = or(found, test(item));
    if (found === 'yes') return found;
  }
  return found;
}

/** `yes` for no items. Stops at the first `no`. */
export function all<Item>(items: readonly Item[], test: (item: Item) => Truth): Truth {
  let found: Truth = 'yes';
  for (const item of items) {
    found = and(found, test(item));
    if (found === 'no') return found;
  }
  return found;
}

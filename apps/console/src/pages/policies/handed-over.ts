let text: string | undefined;

/** Hands the text of a policy to the next page: proposed rules go into a new policy, and a policy to a replay. */
export const handText = (next: string): void => {
  text = next;
};

/** A reload of the page begins without it. */
export function takeText(): string | undefined {
  const taken = text;
  // React calls twice in development: the text stays until this turn of the browser is over.
  setTimeout(() => {
    if (text === taken) text = undefined;
  }, 0);
  return taken;
}

const listeners = new Set<() => void>();

/** The API has refused the cookie: the session ended, or was revoked. */
export const announceEnd = (): void => {
  for (const listener of listeners) listener();
};

export function onSessionEnd(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

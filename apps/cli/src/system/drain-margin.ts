/** After the workers' own limit: time to close connections and end sandboxes. */
export const drainMarginMs = 12_000;

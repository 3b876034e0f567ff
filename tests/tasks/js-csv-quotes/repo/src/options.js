const defaults = { delimiter: ',', header: true, trim: false };

export function withDefaults(options = {}) {
  const merged = { ...defaults, ...options };
  if (merged.delimiter.length !== 1) throw new TypeError('delimiter must be a single character');
  return merged;
}

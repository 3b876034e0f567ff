export * from './begin-entry.ts';
export * from './checks.ts';
export * from './entries.ts';
export * from './evict-entries.ts';
export * from './find-damaged-packs.ts';

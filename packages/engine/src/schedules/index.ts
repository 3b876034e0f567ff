export * from './advance.ts';
export * from './look.ts';
export * from './store.ts';
export * from './times.ts';

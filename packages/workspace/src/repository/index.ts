export type * from './ancestry.ts';
export * from './base-objects.ts';
export * from './checkout-snapshot.ts';
export * from './create-repository.ts';
export * from './history.ts';

export * from './base-objects.ts';
export * from './checkout-snapshot.ts';
export * from './create-repository.ts';
export type * from './history.ts';
export * from './history.ts';

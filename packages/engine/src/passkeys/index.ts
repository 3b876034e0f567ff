export * from './challenge-of.ts';
export * from './check-assertion.ts';
export * from './check-registration.ts';

export * from './begin-approved.ts';
export * from './begin-approved.ts';
export * from './begin-attempt.ts';
export * from './let-go.ts';
export * from './recover-attempt.ts';
export * from './release-next.ts';

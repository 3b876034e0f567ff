/** The vocabulary of transitions and changes: the fields of the state, the parsed state, and conditions. */

export * from './fields/field.ts';
export * from './fields/run.ts';
export * from './fields/step.ts';
export * from './fields/task.ts';
export type * from './state.ts';
export * from './transition.ts';

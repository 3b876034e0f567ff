/** The names, in the log and in the tree, of the last writer admitted to the tree. */
export const heads = {
  attempt: (stepId: string, attempt: number): string => `${stepId}.${attempt}`,
  task: (taskId: string): string => taskId,
  prepare: (number: number): string => `prepare.${number}`,
  validators: (snapshot: string): string => `validators.${snapshot}`,
};

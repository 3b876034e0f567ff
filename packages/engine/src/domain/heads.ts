/** How the log and the tree name the writer that was let at the tree last. */
export const heads = {
  attempt: (stepId: string, attempt: number): string => `${stepId}.${attempt}`,
  task: (taskId: string): string => taskId,
  validators: (snapshot: string): string => `validators.${snapshot}`,
};

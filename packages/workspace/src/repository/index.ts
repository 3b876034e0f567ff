export type { Ancestry } from './ancestry.ts';
export { createBaseObjects, removeBaseObjects, repositoryMounts } from './base-objects.ts';
export { checkoutSnapshot } from './checkout-snapshot.ts';
export { baseCommitContent, createRepository } from './create-repository.ts';
export { commitsAsked, historyOf, shareHistory, takeHistory } from './history.ts';

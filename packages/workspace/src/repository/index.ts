export { createBaseObjects, removeBaseObjects, repositoryMounts } from './base-objects.ts';
export { checkoutSnapshot } from './checkout-snapshot.ts';
export { baseCommitContent, createRepository } from './create-repository.ts';
export {
  type FoundRepositories,
  isSameRepositories,
  loadRepositories,
  scanRepositories,
  storeRepositories,
} from './repositories.ts';

export { followPull } from './follow.ts';
export { openPullLooks } from './look.ts';
export { roundsOf } from './state.ts';
export { openPullStore, type PullStore, type StoredPull } from './store.ts';

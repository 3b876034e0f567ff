import type { Repository } from './repository.ts';

/** A found source: its real path, and the commit of a git source. */
export type FoundSource =
  | { type: 'empty' }
  | { type: 'directory'; path: string }
  | { type: 'archive'; path: string }
  /** `content`: the commit object, when it was read already. */
  | { type: 'git'; repository: Repository; commit: string; content?: Buffer };

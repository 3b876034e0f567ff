export { type BwrapSearch, type FoundBwrap, findBwrap } from './bubblewrap/find-bwrap.ts';
export { FileError, SandboxError } from './errors.ts';
export { resolveLimits } from './limits.ts';
export { openSandbox } from './open-sandbox.ts';
export type {
  CapturedStream,
  Command,
  CommandEnd,
  CommandResult,
  Limits,
  Sandbox,
  WorkspaceFiles,
  WorkspaceMount,
} from './port.ts';
export { findToolchains } from './toolchains.ts';

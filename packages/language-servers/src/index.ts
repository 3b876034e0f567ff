export { LanguageServerError } from './errors.ts';
export { type LanguageServers, openLanguageServers } from './open-language-servers.ts';
export type { FileRename, Place, TypeProblem } from './protocol.ts';

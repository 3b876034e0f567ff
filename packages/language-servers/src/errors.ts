import type { ServerProblem } from './protocol.ts';

/** A question without an answer from a language server. */
export class LanguageServerError extends Error {
  override readonly name = 'LanguageServerError';
  readonly code: ServerProblem['code'] | 'ENOSERVER';
  readonly retryable = false;
  readonly next: string;

  constructor(code: LanguageServerError['code'], message: string, next = steps[code]) {
    super(message);
    this.code = code;
    this.next = next;
  }
}

const steps: Record<LanguageServerError['code'], string> = {
  ENOSERVER:
    'Search for the name instead. A server is found when the project has it installed: typescript or pyright in node_modules, or gopls or rust-analyzer on the host.',
  ENOSYMBOL: 'Give a line that has the name, spelled as in the file.',
  ENOPLACE: 'Give a text file of the workspace.',
  ERENAME: 'Choose a name that is declared in the workspace, or make the edits by themselves.',
  EREFUSED: 'Give another name or place, or search for the name instead.',
  ESERVER: 'Search for the name instead, or call once more.',
  ETIMEOUT: 'Call once more: the server reads the project while the run goes its way.',
};

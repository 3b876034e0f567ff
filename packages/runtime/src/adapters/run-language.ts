import { LanguageServerError, type LanguageServers } from '@holdpoint/language-servers';
import type { Sandbox, WorkspaceMount } from '@holdpoint/sandbox';
import { LanguageError, type LanguagePort } from '@holdpoint/tools';

/** The workspace of a call, and the end of its questions. */
interface LanguageBounds {
  mount: WorkspaceMount;
  files: ReturnType<Sandbox['files']>;
  signal: AbortSignal;
}

/** Milliseconds that a result waits for its type errors. A server of a large project is not ready at the first edit; the next edit finds it ready. */
const diagnoseMs = 4000;
/** Milliseconds for a name. The first question waits for the server to read the project. */
const namedMs = 60_000;

/** Larger texts are not checked. */
const maxBytes = 1024 * 1024;

/** The language servers of a run, for the run's tools. */
export function runLanguage(servers: LanguageServers, { mount, files, signal }: LanguageBounds): LanguagePort {
  const tree = { mount, files };
  const asked = <Result>(answer: Promise<Result>): Promise<Result> =>
    answer.catch((error: unknown) => {
      if (!(error instanceof LanguageServerError)) throw error;
      throw new LanguageError(error.code, error.message, error.next, { cause: error });
    });
  return {
    diagnose(changes) {
      const texts = changes
        .filter(({ before, after }) => before.length <= maxBytes && after.length <= maxBytes)
        .map(({ path, before, after }) => ({ path, before: before.toString('utf8'), after: after.toString('utf8') }));
      return servers.diagnose({ ...tree, changes: texts, wait_ms: diagnoseMs });
    },
    definition: (named) => asked(servers.definition({ ...tree, ...named, wait_ms: namedMs, signal })),
    references: (named) => asked(servers.references({ ...tree, ...named, wait_ms: namedMs, signal })),
    rename: (named) => asked(servers.rename({ ...tree, ...named, wait_ms: namedMs, signal })),
  };
}

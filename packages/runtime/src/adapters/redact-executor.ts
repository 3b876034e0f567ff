import type { Connection, SecretScope, ToolOutcome } from '@holdpoint/contract';
import type { Executor } from '@holdpoint/engine/worker';
import { type Redactor, SecretError, type Secrets } from '@holdpoint/secrets';
import { observe } from '../observe.ts';

/** An executor whose results, previews, errors and connections have no value of a secret. Commands redact their own output. */
export function redactExecutor(executor: Executor, secrets: Secrets): Executor {
  /** Asked for after the call as well: the call may have read a value for the first time. */
  const redactorOf = ({ tenant }: SecretScope): Redactor => secrets.redactor(tenant);
  const withoutSecrets = async <Result>(scope: SecretScope, act: () => Promise<Result>): Promise<Result> => {
    try {
      return redactorOf(scope).json(await act());
    } catch (error) {
      throw redactError(redactorOf(scope), error);
    }
  };
  const redactConnections =
    ({ scope, onConnection }: { scope: SecretScope; onConnection(connection: Connection): void }) =>
    (connection: Connection) =>
      onConnection({ ...connection, host: redactorOf(scope).text(connection.host) });
  return observe(executor, {
    asks: (act) => (call, context) => withoutSecrets(context.scope, () => act(call, context)),
    preview: (act) => (call, context) => withoutSecrets(context.scope, () => act(call, context)),
    execute: (act) => async (call, context) => {
      const { scope } = context;
      try {
        const outcome = await act(call, { ...context, onConnection: redactConnections(context) });
        return redactOutcome(redactorOf(scope), outcome);
      } catch (error) {
        if (!(error instanceof SecretError)) throw redactError(redactorOf(scope), error);
        const { code, message, next } = error;
        return { status: 'failed', error: { code, message: redactorOf(scope).text(message), next } };
      }
    },
    validate: (act) => (validator, context) => withoutSecrets(context.scope, () => act(validator, context)),
    prepare: (act) => (command, context) =>
      withoutSecrets(context.scope, () => act(command, { ...context, onConnection: redactConnections(context) })),
    runTask: (act) => (spec, context) =>
      withoutSecrets(context.scope, () => act(spec, { ...context, onConnection: redactConnections(context) })),
  });
}

/** Contents are bytes in a format of their own: a content with a secret is not kept, and the call fails. */
function redactOutcome(redactor: Redactor, outcome: ToolOutcome): ToolOutcome {
  if (outcome.status === 'deferred') return redactWait(redactor, outcome);
  const { contents = [], ...rest } = outcome;
  const names = contents.flatMap((content) => redactor.find(content));
  const redacted = names.length === 0 ? redactor.json(rest) : { ...redactor.json(rest), ...secretInContent(names) };
  return {
    ...redacted,
    // The snapshot reads the files at these paths, and refuses a path with a secret.
    ...('touched' in outcome && { touched: outcome.touched }),
    ...(contents.length > 0 && names.length === 0 && { contents }),
  };
}

/** A state goes back byte for byte, and would bring the value of a secret into the log. */
function redactWait(redactor: Redactor, outcome: Extract<ToolOutcome, { status: 'deferred' }>): ToolOutcome {
  if ('until' in outcome) {
    if (!('outside' in outcome.on) || redactor.text(outcome.on.outside) === outcome.on.outside)
      return redactor.json(outcome);
    return secretInState(
      'The server names its work for the call in a text with the value of a secret, which is not kept.',
    );
  }
  const {
    on: { question, state },
    touched,
  } = outcome;
  if (state === undefined || redactor.text(state) === state) {
    return { status: 'deferred', on: { question: redactor.json(question), state }, touched };
  }
  return secretInState(
    'The server asks a question, and its request state has the value of a secret, so it is not kept.',
    touched,
  );
}

const secretInState = (message: string, touched?: readonly string[]): ToolOutcome => ({
  status: 'failed',
  touched,
  error: {
    code: 'ESECRETINSTATE',
    message,
    next: 'Continue without the call: the server repeats what it should not.',
  },
});

const secretInContent = (names: readonly string[]) => ({
  status: 'failed' as const,
  value: undefined,
  error: {
    code: 'ESECRETINFILE',
    message: `The file has the value of the secret ${names.join(', ')} in its bytes, so it is not shown.`,
    next: 'Make a copy without its metadata with a command, or read another file.',
  },
});

/** The result of an act, or its error without the value of a secret. */
export async function redactErrors<Result>(redactor: Redactor, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    throw redactError(redactor, error);
  }
}

/** Redacts an error in place: the class and the fields of the error decide the next action. The queue stores its message and its stack. */
function redactError(redactor: Redactor, error: unknown): unknown {
  for (let at = error; at instanceof Error; at = at.cause) {
    at.message = redactor.text(at.message);
    if (at.stack !== undefined) at.stack = redactor.text(at.stack);
  }
  return error;
}

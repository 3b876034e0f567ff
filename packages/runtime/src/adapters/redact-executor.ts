import type { Connection, SecretScope } from '@holdpoint/contract';
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
        const redacted = redactorOf(scope).json(outcome);
        // The snapshot reads the files at these paths, and refuses a path with a secret.
        return 'touched' in outcome ? { ...redacted, touched: outcome.touched } : redacted;
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

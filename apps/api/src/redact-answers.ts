import { Readable, Transform } from 'node:stream';
import type { RedactionStream, Redactor } from '@holdpoint/secrets';
import type { App } from './deps.ts';

/** Downloads of files and archives are unredacted content of the workspace. Every other answer is text, possibly with a secret. */
const redactedTypes = /^(application\/(problem\+)?json|text\/event-stream|text\/x-patch)/;

/** No answer has the value of a secret, even from data stored before the secret was set. */
export function redactAnswers(app: App): void {
  app.addHook('onSend', async ({ deps, routeOptions }, reply, payload) => {
    // Without a key, an answer repeats only the client's own text. A redaction here would confirm a guess.
    if (deps === undefined) return payload;
    if (routeOptions.config?.showsNewSecret === true && reply.statusCode < 300) return payload;
    const redactor = deps.secrets.redactor(deps.holder.caller.tenant);
    const type = String(reply.getHeader('content-type') ?? '');
    if (redactor.isEmpty || !redactedTypes.test(type)) return payload;
    if (typeof payload === 'string') return redactText(redactor, payload, type);
    if (Buffer.isBuffer(payload)) return redactText(redactor, payload.toString(), type);
    if (payload instanceof Readable) return payload.pipe(redacting(redactor.stream(), payload));
    return payload;
  });
}

/** A number in JSON would not stay JSON. */
function redactText(redactor: Redactor, text: string, type: string): string {
  const redacted = redactor.text(text);
  return redacted !== text && /json/.test(type) ? JSON.stringify(redactor.json(JSON.parse(text))) : redacted;
}

function redacting(stream: RedactionStream, source: Readable): Transform {
  const transform = new Transform({
    transform(chunk: Buffer | string, _encoding, done) {
      done(null, stream.push(Buffer.from(chunk)));
    },
    flush(done) {
      done(null, stream.end());
    },
  });
  source.once('error', (error) => transform.destroy(error));
  transform.once('close', () => source.destroy());
  return transform;
}

import { StringDecoder } from 'node:string_decoder';
import type { ModelDelta } from '@holdpoint/models';
import type { Redactor } from '@holdpoint/secrets';
import type { Live, LiveText } from './live-hub.ts';

interface About {
  runId: string;
  turn: number;
  model: string;
}

/**
 * Shows a model's answer while the model writes, without the values of secrets. Disposed of after the answer or a failure.
 */
export function liveAnswer(live: Live, redactor: Redactor, { runId, turn, model }: About) {
  const texts = new Map<string, LiveText>();
  const open = (key: string, about: Omit<Parameters<Live['open']>[1], 'turn' | 'model'>): LiveText => {
    const known = texts.get(key);
    if (known !== undefined) return known;
    const opened = withoutSecrets(live.open(runId, { ...about, turn, model }), redactor);
    texts.set(key, opened);
    return opened;
  };
  open('asking', { kind: 'model.asking' });
  return {
    onDelta(delta: ModelDelta): void {
      if (delta.type !== 'call') {
        open(delta.type, { kind: `model.${delta.type}` }).write(delta.text);
        return;
      }
      const { index, tool, args } = delta;
      open(`call ${index}`, { kind: 'model.call', index, ...(tool !== undefined && { tool }) }).write(args);
    },
    [Symbol.dispose](): void {
      for (const text of texts.values()) text.end();
    },
  };
}

/** The value of a secret may come in pieces, so a possible beginning of a value is held back. */
function withoutSecrets(text: LiveText, redactor: Redactor): LiveText {
  const filter = redactor.stream();
  const decoder = new StringDecoder('utf8');
  /** The first half of a character. */
  let half = '';
  const write = (bytes: Buffer): void => {
    const words = decoder.write(bytes);
    if (words !== '') text.write(words);
  };
  return {
    write(more) {
      const all = half + more;
      half = /[\uD800-\uDBFF]$/.test(all) ? all.slice(-1) : '';
      write(filter.push(Buffer.from(half === '' ? all : all.slice(0, -1))));
    },
    end() {
      write(filter.end());
      text.end();
    },
  };
}

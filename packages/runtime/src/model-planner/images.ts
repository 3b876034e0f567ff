import * as models from '@holdpoint/models';

export interface ImageSource {
  sight: models.Sight;
  /** The bytes of a kept image. Rejects when they are lost. */
  read: (sha256: string) => Promise<Buffer>;
}

interface Asking extends ImageSource {
  messages: readonly models.ModelMessage[];
  model: string;
}

/** By model and digest: images that the provider read once, and images in a refused request that it never read. One set per process. */
const [accepted, refused] = [new Set<string>(), new Set<string>()];
const mostKnown = 10_000;

/**
 * Asks with the bytes of kept images. A provider refuses a request for one broken image, and would refuse the conversation for ever: then the
 * images that it never read become words, and the model is asked once more.
 */
export async function askWithImages(
  asking: Asking,
  ask: (messages: readonly models.ModelMessage[]) => Promise<models.ModelAnswer>,
): Promise<models.ModelAnswer> {
  const shown = await loadImages(asking);
  const keys = shown.flatMap(keptIn).map(({ kept }) => keyOf(asking.model, kept.sha256));
  try {
    const answer = await ask(shown);
    remember(accepted, keys);
    return answer;
  } catch (error) {
    const suspects = keys.filter((key) => !accepted.has(key));
    if (suspects.length === 0 || !isAboutImages(error)) throw error;
    remember(refused, suspects);
    return await ask(await loadImages(asking));
  }
}

const keyOf = (model: string, sha256: string): string => `${model} ${sha256}`;

function remember(set: Set<string>, keys: readonly string[]): void {
  for (const key of keys) set.add(key);
  if (set.size > mostKnown) set.clear();
}

const isAboutImages = (error: unknown): boolean =>
  error instanceof models.ModelError &&
  error.code === 'EMODELREQUEST' &&
  /image|picture|media|pdf|document|file/i.test(error.message);

type Kept = models.ModelImage & { kept: NonNullable<models.ModelImage['kept']> };

const isKept = (image: models.ModelImage): image is Kept => image.kept !== undefined;

const keptIn = (message: models.ModelMessage): Kept[] =>
  message.role === 'tool' ? message.results.flatMap(({ images = [] }) => images.filter(isKept)) : [];

/** The messages with the bytes of their images, the latest first, as far as one request carries them. The same bytes each time. */
async function loadImages({ messages, model, sight, read }: Asking): Promise<readonly models.ModelMessage[]> {
  const images = messages
    .flatMap(keptIn)
    .filter((image) => sees(sight, image))
    .reverse();
  if (images.length === 0) return messages;
  const loaded = new Map<Kept, models.ModelImage | string>();
  let left = models.mostRequestBytes;
  for (const image of images) {
    const { sha256, bytes } = image.kept;
    if (refused.has(keyOf(model, sha256))) loaded.set(image, image.text ?? unreadable);
    else if (bytes <= left) {
      left -= bytes;
      loaded.set(image, await loadOne(image, read));
    }
  }
  return messages.map((message) => withLoaded(message, loaded));
}

const sees = ({ images, pdf }: models.Sight, { pages }: Pick<models.ModelImage, 'pages'>): boolean =>
  pages === undefined ? images : pdf;

async function loadOne(image: Kept, read: Asking['read']): Promise<models.ModelImage | string> {
  const content = await read(image.kept.sha256).catch(() => undefined);
  return content === undefined ? (image.text ?? lost) : { ...image, data: content.toString('base64') };
}

const unreadable =
  '[The image is not shown: the provider of the model could not read it. Make it again in another format with a command.]';
const lost = '[The image is not shown: its bytes are lost. Read the file again.]';

function withLoaded(
  message: models.ModelMessage,
  loaded: ReadonlyMap<models.ModelImage, models.ModelImage | string>,
): models.ModelMessage {
  if (keptIn(message).length === 0 || message.role !== 'tool') return message;
  const results = message.results.map(({ images, ...result }) => {
    const shown = images?.map((image) => loaded.get(image) ?? image) ?? [];
    const words = shown.filter((one) => typeof one === 'string');
    const left = shown.filter((one) => typeof one !== 'string');
    return { ...result, text: [result.text, ...words].join('\n'), ...(left.length > 0 && { images: left }) };
  });
  return { ...message, results };
}

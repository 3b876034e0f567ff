import { Readable } from 'node:stream';
import { imageIn, type KeptImage, readImageFacts } from '@holdpoint/contract';
import { idParamsSchema } from '@holdpoint/contract/wire';
import type { App } from '../../deps.ts';
import { ApiProblem } from '../../errors/to-problem.ts';
import { binarySchema } from '../../schema/binary.ts';

/** A browser that opens the image as a page gives it no origin, and runs and loads nothing. */
const imagePolicy = "default-src 'none'; sandbox; frame-ancestors 'none'";

/** GET /v1/steps/{id}/image: the image that a step read, as the model sees it. */
export function readImageRoute(app: App): void {
  app.get(
    '/v1/steps/:id/image',
    {
      config: { access: 'runs:read' },
      schema: {
        tags: ['steps'],
        operationId: 'getStepImage',
        summary: 'Read the image of a step’s result',
        description:
          'The bytes of the image that the result names in `image`, unchanged. 404 `image_not_found`: the result names none.',
        params: idParamsSchema,
        response: {
          200: { description: 'The bytes', content: { 'image/*': { schema: binarySchema } } },
        },
      },
    },
    async ({ params, deps: { engine } }, reply) => {
      const { run, step } = await engine.runs.step(params.id);
      const image = imageIn(await engine.runs.result(run, step));
      if (image === undefined) throw new ApiProblem('image_not_found', `${params.id} has no image as its result.`);
      const content = await engine.content(image.sha256);
      if (!isThatImage(content, image)) throw new ApiProblem('image_not_found', 'The content is no image.');
      return reply
        .headers({
          'content-type': image.media_type,
          'content-length': content.length,
          'content-security-policy': imagePolicy,
          'content-disposition': `inline; filename="image.${image.media_type.slice('image/'.length)}"`,
        })
        .send(Readable.from([content]));
    },
  );
}

/** A tool of an operator may name any digest: nothing but an image is given out. */
function isThatImage(content: Buffer, { media_type, bytes }: KeptImage): boolean {
  return content.length === bytes && readImageFacts(content)?.media_type === media_type;
}

import { event, instructedSchema } from '../event.ts';

export const contextInstructed = event('context.instructed', {
  data: instructedSchema.shape,
  line({ data: { files, agents = [] } }) {
    const named = [
      ...files.map(({ path }) => path),
      ...agents.map(({ file, error }) => (error === undefined ? file : `${file} (no kind of sub-agent: ${error})`)),
    ];
    return named.length === 0 ? 'the instructions of the model' : `with ${named.join(', ')}`;
  },
});

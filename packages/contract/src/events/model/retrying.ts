import { event, modelRetryingSchema, problemText } from '../event.ts';

export const modelRetrying = event('model.retrying', {
  data: modelRetryingSchema.shape,
  line({ data: { model, next, failures, until, reason } }) {
    const what = failures === 0 ? 'is not asked now' : `could not be asked (${failures} in a row)`;
    const why = `${model} ${what}: ${problemText(reason)}`;
    return next === model ? `${why}; asked again at ${until}` : `${why}; ${next} is asked next`;
  },
});

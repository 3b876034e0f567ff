import { CodeGraphError } from '../errors.ts';

export const badParams = (message: string, next = 'Correct the parameters of the query.'): CodeGraphError =>
  new CodeGraphError('EQUERY', message, next);

import { match } from './match.js';
import { segmentsOf } from './segments.js';

export class Router {
  #routes = [];

  add(pattern, handler) {
    this.#routes.push({ pattern, segments: segmentsOf(pattern), handler });
    return this;
  }

  find(path) {
    const segments = segmentsOf(path);
    for (const { pattern, segments: route, handler } of this.#routes) {
      const params = match(route, segments);
      if (params !== null) return { pattern, handler, params };
    }
    return undefined;
  }
}

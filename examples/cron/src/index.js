export { FIELDS, values } from './fields.js';
export { due, matches, onDay, parse } from './line.js';
export { next, upcoming } from './next.js';

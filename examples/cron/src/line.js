// A whole crontab line: five fields and a command.
import { FIELDS, values } from './fields.js';

const SHORT = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
};

/** `{ minute, hour, day, month, weekday, command }`; `null` for a comment or an empty line. */
export function parse(text) {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed.startsWith('#')) {
    return null;
  }
  const word = trimmed.split(/\s+/, 1)[0];
  const long = trimmed.startsWith('@') ? SHORT[word.toLowerCase()] : undefined;
  if (trimmed.startsWith('@') && long === undefined) {
    throw new SyntaxError(`${word} is not known`);
  }
  const parts = (long === undefined ? trimmed : long + trimmed.slice(word.length)).split(/\s+/);
  if (parts.length < FIELDS.length) {
    throw new SyntaxError(`${parts.length} fields, not ${FIELDS.length}`);
  }
  const line = { command: parts.slice(FIELDS.length).join(' ') };
  FIELDS.forEach((field, at) => {
    line[field.name] = values(parts[at], field);
  });
  // Where both are restricted, either is enough.
  line.either = parts[2] !== '*' && parts[4] !== '*';
  return line;
}

/** Every line of a table that is due at a minute, in order. */
export function due(table, date) {
  return table
    .split('\n')
    .map((text) => parse(text))
    .filter((line) => line !== null && matches(line, date));
}

/** Whether a line is due at a minute; dates are in UTC. */
export function matches(line, date) {
  if (!line.minute.includes(date.getUTCMinutes()) || !line.hour.includes(date.getUTCHours())) {
    return false;
  }
  return onDay(line, date);
}

/** Whether a line is due at any minute of a date's day. */
export function onDay(line, date) {
  if (!line.month.includes(date.getUTCMonth() + 1)) {
    return false;
  }
  const day = line.day.includes(date.getUTCDate());
  const weekday = line.weekday.includes(date.getUTCDay());
  return line.either ? day || weekday : day && weekday;
}

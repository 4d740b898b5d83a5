// One field of a crontab line: which of its values are due.

export const FIELDS = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12, names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] },
  { name: 'weekday', least: 0, most: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];

function number(text, field) {
  const named = field.names ? field.names.indexOf(text.toLowerCase()) : -1;
  if (named >= 0) {
    return named + field.least;
  }
  if (!/^\d+$/.test(text)) {
    throw new SyntaxError(`${field.name}: ${JSON.stringify(text)} is no number`);
  }
  let value = Number(text);
  if (field.name === 'weekday' && value === 7) {
    value = 0;
  }
  if (value < field.least || value > field.most) {
    throw new RangeError(`${field.name}: ${value} is not between ${field.least} and ${field.most}`);
  }
  return value;
}

function span(text, field) {
  if (text === '*') {
    return [field.least, field.most];
  }
  const [from, to, ...rest] = text.split('-');
  if (rest.length > 0) {
    throw new SyntaxError(`${field.name}: ${JSON.stringify(text)} is no range`);
  }
  const first = number(from, field);
  const last = to === undefined ? first : number(to, field);
  if (last < first) {
    throw new RangeError(`${field.name}: ${text} ends before it begins`);
  }
  return [first, last];
}

/** The values of a field's text, sorted, each once. */
export function values(text, field) {
  const due = new Set();
  for (const part of text.split(',')) {
    const [range, step, ...rest] = part.split('/');
    const every = step === undefined ? 1 : Number(step);
    if (rest.length > 0 || !Number.isInteger(every) || every < 1) {
      throw new SyntaxError(`${field.name}: ${JSON.stringify(part)} has no step of 1 or more`);
    }
    const [first, end] = span(range, field);
    const last = step !== undefined && !range.includes('-') && range !== '*' ? field.most : end;
    for (let value = first; value <= last; value += every) {
      due.add(value);
    }
  }
  return [...due].sort((one, other) => one - other);
}

// When a line is due the next time.
import { onDay } from './line.js';

const DAY = 24 * 60 * 60 * 1000;
/** A line for 29 February is due at most eight years from now. */
const FAR = 8 * 366;

/** The first minute after `from` at which a line is due; `null` where there is none. */
export function next(line, from) {
  const start = new Date(from.getTime());
  start.setUTCSeconds(0, 0);
  start.setUTCMinutes(start.getUTCMinutes() + 1);
  for (let days = 0; days <= FAR; days++) {
    const day = new Date(start.getTime() + days * DAY);
    if (days > 0) {
      day.setUTCHours(0, 0, 0, 0);
    }
    if (!onDay(line, day)) {
      continue;
    }
    const time = firstTime(line, day.getUTCHours(), day.getUTCMinutes());
    if (time !== null) {
      day.setUTCHours(time.hour, time.minute);
      return day;
    }
  }
  return null;
}

function firstTime(line, hour, minute) {
  for (const due of line.hour) {
    if (due < hour) {
      continue;
    }
    const least = due === hour ? minute : 0;
    const found = line.minute.find((value) => value >= least);
    if (found !== undefined) {
      return { hour: due, minute: found };
    }
  }
  return null;
}

/** The next `count` minutes at which a line is due. */
export function upcoming(line, from, count) {
  const found = [];
  let at = from;
  while (found.length < count) {
    at = next(line, at);
    if (at === null) {
      break;
    }
    found.push(at);
  }
  return found;
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { next, parse, upcoming } from '../src/index.js';

const after = (line, text) => next(parse(line), new Date(`${text}Z`))?.toISOString().slice(0, 16) ?? null;

describe('next', () => {
  it('is later than now', () => {
    assert.equal(after('0 * * * * x', '2024-05-01T05:00'), '2024-05-01T06:00');
    assert.equal(after('* * * * * x', '2024-05-01T05:00:30'), '2024-05-01T05:01');
  });

  it('goes on to the next hour and day', () => {
    assert.equal(after('10 5 * * * x', '2024-05-01T05:30'), '2024-05-02T05:10');
    assert.equal(after('10,40 5,9 * * * x', '2024-05-01T05:45'), '2024-05-01T09:10');
  });

  it('goes on to the next month and year', () => {
    assert.equal(after('0 0 1 * * x', '2024-12-15T00:00'), '2025-01-01T00:00');
    assert.equal(after('59 23 31 12 * x', '2024-12-31T23:59'), '2025-12-31T23:59');
  });

  it('finds the next leap day', () => {
    assert.equal(after('0 0 29 2 * x', '2024-03-01T00:00'), '2028-02-29T00:00');
  });

  it('tells that there is none', () => {
    assert.equal(after('0 0 31 2 * x', '2024-03-01T00:00'), null);
  });
});

describe('upcoming', () => {
  it('lists as many as it is asked for', () => {
    const found = upcoming(parse('0 12 * * mon x'), new Date('2024-05-01T00:00Z'), 3);
    assert.deepEqual(found.map((date) => date.getUTCDate()), [6, 13, 20]);
  });

  it('lists fewer where there are no more', () => {
    assert.deepEqual(upcoming(parse('0 0 30 2 * x'), new Date('2024-05-01T00:00Z'), 3), []);
  });
});

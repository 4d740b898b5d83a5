import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FIELDS, values } from '../src/index.js';

const [minute, hour, day, month, weekday] = FIELDS;

describe('values', () => {
  it('lists a number, a range and a list', () => {
    assert.deepEqual(values('5', minute), [5]);
    assert.deepEqual(values('1-4', hour), [1, 2, 3, 4]);
    assert.deepEqual(values('3,1,2,1', day), [1, 2, 3]);
  });

  it('steps through a range', () => {
    assert.deepEqual(values('*/20', minute), [0, 20, 40]);
    assert.deepEqual(values('1-7/3', day), [1, 4, 7]);
    assert.deepEqual(values('50/4', minute), [50, 54, 58]);
  });

  it('has every value of a field for a star', () => {
    assert.equal(values('*', minute).length, 60);
    assert.equal(values('*', hour).length, 24);
    assert.equal(values('*', day)[0], 1);
    assert.equal(values('*', month).at(-1), 12);
  });

  it('knows names of months and days', () => {
    assert.deepEqual(values('jan,Dec', month), [1, 12]);
    assert.deepEqual(values('mon-fri', weekday), [1, 2, 3, 4, 5]);
  });

  it('takes 7 for Sunday', () => {
    assert.deepEqual(values('7', weekday), [0]);
  });

  it('refuses what is out of bounds', () => {
    assert.throws(() => values('60', minute), RangeError);
    assert.throws(() => values('24', hour), RangeError);
    assert.throws(() => values('0', day), /day: 0 is not between 1 and 31/);
    assert.throws(() => values('5-2', month), /ends before it begins/);
  });

  it('refuses what is no field', () => {
    assert.throws(() => values('x', minute), SyntaxError);
    assert.throws(() => values('1-2-3', minute), SyntaxError);
    assert.throws(() => values('*/0', minute), SyntaxError);
    assert.throws(() => values('1/2/3', minute), SyntaxError);
  });
});

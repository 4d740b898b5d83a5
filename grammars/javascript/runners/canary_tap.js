// @ts-nocheck
{
  const builtin = (name) => (typeof require === 'function' ? require(name) : process.getBuiltinModule(name));
  const load = builtin('module').createRequire(process.cwd() + '/package.json');
  let tap;
  try {
    tap = load('tap');
  } catch {
    tap = load('tape');
  }

  tap.test('holds @a@', (t) => {
    t.equal([@1@, @2@, @3@].reverse().join(), '@3@,@2@,@1@');
    t.end();
  });
  tap.test('fails @b@', (t) => {
    t.equal(@4@, @5@);
    t.end();
  });
  tap.test('fails @c@', (t) => {
    t.equal(JSON.stringify({ @c@: @6@ }), JSON.stringify({ @c@: @7@ }));
    t.end();
  });
  tap.test('fails @d@', (t) => {
    t.throws(() => Number('@8@'));
    t.end();
  });
  tap.test('fails @e@', (t) => {
    t.ok(@8@ > @9@ && @8@ < @9@);
    t.end();
  });
  tap.test('fails @g@', (t) => {
    t.ok(typeof @9@ !== 'number', '@a@');
    t.end();
  });
}

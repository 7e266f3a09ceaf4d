// SPDX-License-Identifier: Apache-2.0
// What study_report.cpp wrote, and how it reads: columns, lines (a row of a point's results each), points.
const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};
const lines = data.lines.point.length;

/// Numbers where all that stands in a column is one.
const columns = data.columns.map((column, index) => {
  const given = column.values.filter(v => v !== null && v !== '');
  const numeric = given.length > 0 && given.every(v => typeof v === 'number' || isFinite(v));
  const values = numeric ? column.values.map(v => v === null || v === '' ? null : Number(v)) : column.values;
  const distinct = [...new Set(values.filter(v => v !== null && v !== ''))];
  if (numeric) distinct.sort((a, b) => a - b);
  return {...column, index, numeric, values, distinct};
});
const inputs = columns.filter(c => c.kind !== 'metric');
const metrics = columns.filter(c => c.kind === 'metric');
const varying = inputs.filter(c => c.distinct.length > 1);

const text_of = value => value === null || value === undefined ? '' :
  typeof value === 'number' ? (Number.isInteger(value) ? String(value) : String(+value.toPrecision(6))) : String(value);
/// "bus.clock 33 MHz"
const named = (column, value) => {
  const parts = /^(.*) \((.*)\)$/.exec(column.heading);
  return parts ? `${parts[1]} ${text_of(value)} ${parts[2]}` : `${column.heading} ${text_of(value)}`;
};
/// Whether a logarithmic axis shows them better.
const spans = values => {
  const given = values.filter(v => v !== null);
  const low = given.reduce((a, b) => Math.min(a, b), Infinity), high = given.reduce((a, b) => Math.max(a, b), -Infinity);
  return low > 0 && high / low > 16;
};
/// What varies besides some columns: not what follows from them, as axes that advance together do.
const besides = (...chosen) => varying.filter(c => {
  if (chosen.includes(c)) return false;
  const seen = new Map();
  for (let i = 0; i < lines; ++i) {
    const of = chosen.map(x => x.values[i]), value = c.values[i];
    if (value === null || of.includes(null)) continue;
    const key = JSON.stringify(of);
    if (!seen.has(key)) seen.set(key, value);
    else if (seen.get(key) !== value) return true;
  }
  return false;
});
/// Points strewn over their axes, as samples and searches are, make no curves: hardly two share a value.
const strewn = (() => {
  const axes = varying.filter(c => c.kind === 'axis' && c.name !== 'seed');
  const places = new Set();
  for (let i = 0; i < lines; ++i) places.add(JSON.stringify(axes.map(c => c.values[i])));
  return axes.reduce((all, c) => all * c.distinct.length, 1) > 8 * places.size;
})();

// SPDX-License-Identifier: Apache-2.0
// Charts from the keyboard: arrows go from mark to mark, and to the other curves; Enter opens the point. What the mark is, the
// tooltip shows and a screen reader says.
function marks_of(chart, set) {
  return chart.isDatasetVisible(set) ? chart.getDatasetMeta(set).data.map((mark, index) => ({set, index, at: mark.getCenterPoint()}))
    .filter(m => !m.at || isFinite(m.at.x) && isFinite(m.at.y)) : [];
}
/// The mark that a key leads to; null: none.
function next_mark(chart, from, key) {
  const sets = chart.data.datasets.map((_, set) => marks_of(chart, set)), first = sets.find(marks => marks.length);
  if (!first) return null;
  const here = from && sets[from.set] || [], n = here.findIndex(m => m.index === from.index);
  if (n < 0) return first[0];
  switch (key) {
    case 'ArrowRight': return here[n + 1] || here[n];
    case 'ArrowLeft': return here[n - 1] || here[n];
    case 'Home': return here[0];
    case 'End': return here.at(-1);
  }
  const along = chart.options.indexAxis === 'y' ? 'y' : 'x', step = key === 'ArrowDown' ? 1 : -1;
  for (let set = from.set + step; sets[set]; set += step)
    if (sets[set].length) return sets[set].reduce((a, b) => Math.abs(b.at[along] - here[n].at[along]) < Math.abs(a.at[along] - here[n].at[along]) ? b : a);
  return here[n];
}
for (const canvas of document.querySelectorAll('canvas')) {
  let mark = null, of = null;
  canvas.addEventListener('keydown', event => {
    const chart = Chart.getChart(canvas);
    if (!chart) return;
    if (of !== chart) { of = chart; mark = null; }
    const hit = mark && [{datasetIndex: mark.set, index: mark.index}];
    if (event.key === 'Enter' && hit) return chart.options.onClick.call(chart, event, hit);
    if (!['ArrowRight', 'ArrowLeft', 'ArrowUp', 'ArrowDown', 'Home', 'End'].includes(event.key)) return;
    event.preventDefault();
    mark = next_mark(chart, mark, event.key);
    if (!mark) return;
    const shown = [{datasetIndex: mark.set, index: mark.index}];
    chart.setActiveElements(shown);
    chart.tooltip.setActiveElements(shown, mark.at);
    chart.update('none');
    const {title, body, footer} = chart.tooltip;
    $('said').textContent = [...title, ...body.flatMap(b => b.lines), ...footer].join(', ');
  });
  canvas.addEventListener('blur', () => {
    const chart = Chart.getChart(canvas);
    if (!chart || of !== chart || !mark) return;
    chart.setActiveElements([]);
    chart.tooltip.setActiveElements([], {x: 0, y: 0});
    chart.update('none');
  });
}

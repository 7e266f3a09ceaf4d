// SPDX-License-Identifier: Apache-2.0
// How far each parameter moves a metric: bars from the design's own value, the longest on top.
const tornado = (() => {
  const root = $('tornado');
  const most_bars = 25, given = data.sensitivity;
  if (!given || !given.effects.length) return null;
  const title = e => e.heading + Object.entries(e.row).map(([name, value]) => ', ' + named(inputs.find(c => c.name === name) || {heading: name}, value)).join('');
  const choice = {of: given.effects[0], kind: given.effects[0].by_share.length ? 'by_share' : 'others', all: false};

  const controls = update => [
    select('Metric', given.effects.map(e => [title(e), e]), choice.of, e => { choice.of = e; update(); }),
    select('Changes', [[`numbers, ${given.change_percent} % lower and higher`, 'by_share'], ['the nearest other values', 'others']], choice.kind, k => { choice.kind = k; update(); }),
    ...(choice.of[choice.kind].length > most_bars ? [flag(`all ${choice.of[choice.kind].length} parameters`, choice.all, v => { choice.all = v; update(); })] : [])];

  /// Two bars each: to the values below the design's, and to those above; texts are neither.
  function side_of(effect, change) {
    const is = Number(effect.value), value = Number(change.value);
    return effect.value === '' || isNaN(is) || isNaN(value) ? 'other' : value < is ? 'lower' : 'higher';
  }
  function lists() {
    const by_reason = new Map([['Without effect', choice.of.without_effect]]);
    for (const [name, why] of Object.entries(given.not_changed)) {
      const key = `Not changed (${why})`;
      by_reason.set(key, [...(by_reason.get(key) || []), name]);
    }
    if (given.failures.length) by_reason.set('Changes that gave no result', given.failures.map(f => `${f.parameter} = ${f.value}: ${f.status} (point ${f.point})`));
    return [...by_reason].map(([why, names]) => element('details', {open: names.length <= 12}, element('summary', {textContent: `${why}: ${names.length}`}), element('p', {textContent: names.join(', ')})));
  }
  function draw() {
    const all = choice.of[choice.kind], shown = choice.all ? all : all.slice(0, most_bars), base = choice.of.value;
    root.querySelector('.plot').style.height = `${Math.max(10, 5 + 1.7 * shown.length)}rem`;
    const labels = shown.map(e => `${e.parameter}  ${e.value} → ${e.changes.map(c => c.value).join(' / ')} ${e.unit}`);
    const sides = [['lower', 'a lower value of the parameter', colours[0]], ['higher', 'a higher value', colours[1]], ['other', 'another choice', colours[2]]];
    const datasets = sides.map(([side, label, colour]) => ({label, backgroundColor: colour, barThickness: 9, grouped: false,
      data: shown.flatMap((e, y) => e.changes.filter(c => side_of(e, c) === side && c.metric !== base)
        .map(c => ({x: [base, c.metric], y, effect: e, change: c})))})).filter(set => set.data.length);
    root.querySelector('.note').textContent = `${title(choice.of)} is ${text_of(base)} as the design is. ` +
      (all.length ? `The largest effect: ${all[0].parameter}, ${all[0].effect_percent.toFixed(1)} %.` : 'No parameter has an effect.');
    root.querySelector('.lists').replaceChildren(...lists());
    const upright = scale(choice.of.heading, false);
    const middle = {id: 'middle', afterDatasetsDraw: chart => {
      const {ctx, chartArea, scales} = chart, x = scales.x.getPixelForValue(base);
      ctx.fillStyle = style('--text');
      ctx.fillRect(x - .5, chartArea.top, 1, chartArea.height);
    }};
    replace_chart(root, `Tornado of ${title(choice.of)}: ` + shown.slice(0, 8).map(e => `${e.parameter} ${e.effect_percent.toFixed(1)} %`).join('; ') + '. The table below has all numbers.', {
      type: 'bar', data: {datasets}, plugins: [middle], options: {
        indexAxis: 'y',
        scales: {x: {...upright, beginAtZero: false, grace: '4%'}, y: {type: 'linear', reverse: true, min: -0.6, max: shown.length - 0.4, grid: {display: false},
          afterBuildTicks: axis => { axis.ticks = shown.map((_, value) => ({value})); },
          ticks: {color: style('--text'), autoSkip: false, font: {size: 12}, callback: v => labels[v] ?? ''}}},
        plugins: {legend: {display: true, position: 'bottom', labels: {color: style('--text'), boxWidth: 14, boxHeight: 9}}, tooltip: {callbacks: {
          title: items => items.length ? `${items[0].raw.effect.parameter} = ${items[0].raw.change.value} ${items[0].raw.effect.unit} instead of ${items[0].raw.effect.value}` : '',
          label: item => `${choice.of.heading}: ${text_of(item.raw.change.metric)} instead of ${text_of(base)} (${((item.raw.change.metric / base - 1) * 100).toFixed(2)} %)`,
          footer: items => items[0]?.raw.effect.elasticity != null ? `${items[0].raw.effect.elasticity.toFixed(3)} % for each % of the parameter` : '',
        }}},
        onClick: (_, hit) => { if (hit.length) show_point(first_line_of.get(datasets[hit[0].datasetIndex].data[hit[0].index].change.points[0])); },
      }});
  }
  return {root, controls, draw};
})();

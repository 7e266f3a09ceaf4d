// SPDX-License-Identifier: Apache-2.0
// What the charts have in common. Okabe and Ito's colours, which people with any kind of sight tell apart (yellow left out);
// three more for those who need ten.
const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#7a7a86', '#8d6e63', '#9a86d1', '#a3b018'];
const dashes = [[], [7, 4], [2, 3], [10, 3, 2, 3]];
const marks = ['circle', 'rect', 'triangle', 'rectRot', 'crossRot', 'star'];

/// A scale of a chart; `named_values`: texts instead of numbers, by index.
function scale(title, log, named_values) {
  return {
    type: log ? 'logarithmic' : 'linear',
    title: {display: true, text: title, color: style('--text'), font: {size: 14}},
    grid: {color: style('--line')},
    ticks: {color: style('--soft'), ...(named_values ? {callback: v => named_values[v] ?? '', stepSize: 1} : {})},
  };
}
/// Puts a chart in the place of the one before; `label`: what a screen reader says.
function replace_chart(root, label, config) {
  const canvas = root.querySelector('canvas');
  Chart.getChart(canvas)?.destroy();
  canvas.setAttribute('aria-label', label);
  Chart.defaults.color = style('--soft');
  config.options = {animation: false, maintainAspectRatio: false, ...config.options};
  config.options.plugins = {legend: {display: false}, ...config.options.plugins};
  return new Chart(canvas, config);
}
/// A button for each data set that shows and hides it; `hidden`: names, kept from one drawing to the next.
function show_legend(root, chart, hidden, mark_of) {
  root.querySelector('.legend').replaceChildren(...chart.data.datasets.map((set, i) => {
    const button = element('button', {type: 'button'}, mark_of(set), set.label);
    const show = () => button.setAttribute('aria-pressed', String(!hidden.has(set.label)));
    show();
    button.addEventListener('click', () => {
      if (!hidden.delete(set.label)) hidden.add(set.label);
      show();
      chart.setDatasetVisibility(i, !hidden.has(set.label));
      chart.update();
    });
    return button;
  }));
}

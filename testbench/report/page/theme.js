// SPDX-License-Identifier: Apache-2.0
// Light, dark, or as the system has it; light on paper.
const themes = ['system', 'light', 'dark'];
let theme = 0;
const views = [];  // what is drawn again when colours change
const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const set_theme = name => {
  if (name === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  for (const draw of views) draw();
};
$('theme').addEventListener('click', () => {
  theme = (theme + 1) % themes.length;
  $('theme').textContent = 'Theme: ' + (theme ? themes[theme] : 'as the system');
  set_theme(themes[theme]);
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => set_theme(themes[theme]));
addEventListener('beforeprint', () => set_theme('light'));
addEventListener('afterprint', () => set_theme(themes[theme]));
